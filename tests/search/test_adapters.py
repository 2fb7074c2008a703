"""Neighbors for scikit-learn and pytorch-metric-learning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from search.brute_force import every_distance, nearest

import trimetric as tm


def test_scikit_learn_reads_the_graph_of_neighbors() -> None:
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    from trimetric.integrations.sklearn import NeighborsTransformer

    points = np.random.default_rng(0).normal(size=(120, 3)).astype(np.float32)
    side = points[:, 0] > 0
    head = tm.NormInduced(tm.WideNorm(3, components=3, width=3))
    for direction in ("from", "to"):
        graph = NeighborsTransformer(head, n_neighbors=4, direction=direction)
        found = clone(graph).fit(points).transform(points[:30])
        every = every_distance(head, torch.from_numpy(points[:30]), torch.from_numpy(points), direction=direction)
        ids, distances = nearest(every, 5)
        assert np.array_equal(found.indices.reshape(30, 5), ids.numpy())
        assert np.allclose(found.data.reshape(30, 5), distances.numpy())
        model = make_pipeline(graph, KNeighborsClassifier(n_neighbors=4, metric="precomputed")).fit(points, side)
        votes = side[ids.numpy()[:, :4]].mean(axis=1)
        sure = votes != 0.5
        assert np.array_equal(model.predict(points[:30])[sure], (votes > 0.5)[sure])
    with pytest.raises(ValueError, match="X: expected objects with features"):
        NeighborsTransformer(head).fit(points[0])


def test_metric_learning_finds_neighbors_by_the_head(tmp_path: Path) -> None:
    pytest.importorskip("pytorch_metric_learning")
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
    from pytorch_metric_learning.utils.inference import InferenceModel

    from trimetric.integrations.pytorch_metric_learning import TriangleDistance, TriangleKnn

    head = tm.NormInduced(tm.WideNorm(3, components=3, width=3))
    knn = TriangleKnn(TriangleDistance(head))
    points, labels = torch.randn(80, 3), torch.arange(80) % 4
    every = every_distance(head, points, points)
    distances, rows = knn(points, 5, points, ref_includes_query=True)
    ids, least = nearest(every.fill_diagonal_(torch.inf), 5)
    assert torch.equal(rows, ids)
    assert torch.equal(distances, least)
    scores = AccuracyCalculator(include=("precision_at_1",), k=5, knn_func=knn).get_accuracy(points, labels)
    right = (labels[ids[:, 0]] == labels).float().mean()
    assert scores["precision_at_1"] == pytest.approx(float(right))
    model = InferenceModel(torch.nn.Identity(), knn_func=knn)
    model.train_knn(points)
    found = model.get_nearest_neighbors(points[:3], k=2)
    assert found[1][:, 0].tolist() == [0, 1, 2]
    knn.save(str(tmp_path / "knn.index"))
    knn.reset()
    with pytest.raises(ValueError, match="reference: expected embeddings"):
        knn(points, 2)
    knn.load(str(tmp_path / "knn.index"))
    knn.add(points[:1] + 9)
    assert knn(points[:1] + 9, 1)[1].tolist() == [[80]]
