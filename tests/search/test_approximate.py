"""Answers with a recall, and vectors for the indexes of other libraries."""

from __future__ import annotations

import pytest
import torch

import trimetric as tm


def test_enough_leaves_for_a_recall() -> None:
    points, head = torch.randn(600, 4), tm.NormInduced(tm.WideNorm(4, components=3, width=3))
    index = tm.search.Index(head, points, leaf_size=16)
    few, all_of_them = (tm.search.leaves_for_recall(index, share, k=5, sample=30) for share in (0.8, 1.0))
    assert 1 <= few < all_of_them <= len(index.store.leaves)
    queries = torch.randn(100, 4)
    right, found = index.nearest(queries, k=5), index.nearest(queries, k=5, most_leaves=few)
    share = float((found.distances <= right.distances[:, -1:]).float().mean())
    assert 0.6 < share < 1
    assert found.computed < right.computed
    assert found.guarantee.startswith("none")


def test_the_recall_of_a_siamese_is_measured_on_its_points() -> None:
    model = tm.Siamese(tm.MLP(3, 4, widths=(8,)), tm.WideNorm(4, components=2, width=2))
    assert tm.search.leaves_for_recall(tm.search.Index(model, torch.randn(200, 3), leaf_size=16), 0.9, sample=20) >= 1


@pytest.mark.parametrize(
    ("head", "order"),
    [
        (tm.Euclidean(4), 2.0),
        (tm.Mahalanobis(4), 2.0),
        (tm.LandmarkBound(4, directed=False), float("inf")),
        (tm.Calibrated(tm.Mahalanobis(4)), 2.0),
    ],
)
def test_plain_vectors_have_the_same_distances(head: tm.Norm | tm.Distance, order: float) -> None:
    points = torch.randn(20, 4)
    if isinstance(head, tm.Calibrated):
        head.calibrate(torch.ones(3), torch.full((3,), 7.0))
    vectors, metric = tm.search.plain_vectors(head, points)
    assert metric == ("l2" if order == 2 else "max")
    assert torch.allclose(torch.cdist(vectors, vectors, p=order), tm.all_pairs(head, points), atol=1e-4)


@pytest.mark.parametrize(
    "head",
    [tm.WideNorm(4), tm.IntervalQuasimetric(4), tm.LandmarkBound(4), tm.LandmarkBound(4, directed=False, pool="mean")],
)
def test_other_heads_have_no_plain_vectors(head: tm.Norm | tm.Distance) -> None:
    with pytest.raises(ValueError, match="distance: expected Euclidean, Mahalanobis"):
        tm.search.plain_vectors(head, torch.randn(3, 4))
