"""Neighbors with a learned distance: every way that is offered is right, every way that would be wrong raises."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the extra `sklearn`")

from sklearn.cluster import DBSCAN
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from trimetric.integrations.sklearn.estimators import DistanceRegressor


def expected_neighbors(model: DistanceRegressor, queries: np.ndarray, points: np.ndarray, k: int = 3) -> np.ndarray:
    return np.argsort(model.pairwise(queries, points), axis=1)[:, :k]


def test_nearest_neighbors_go_from_query_to_object(
    fitted: DistanceRegressor, points: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = np.random.default_rng(3).uniform(size=(15, 2))
    expected = expected_neighbors(fitted, queries, points)
    backwards = np.argsort(fitted.pairwise(points, queries).T, axis=1)[:, :3]
    assert not np.array_equal(expected, backwards)
    for floats in (1 << 24, 7 * len(points)):  # in one block, and in several
        monkeypatch.setattr("trimetric.integrations.sklearn.learned_distance.NEIGHBOR_FLOATS", floats)
        distances, indices = fitted.nearest_neighbors(points, queries, n_neighbors=3)
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_allclose(
            distances, np.take_along_axis(fitted.pairwise(queries, points), indices, 1), rtol=1e-4
        )
        among = fitted.pairwise(points)
        np.fill_diagonal(among, np.inf)
        np.testing.assert_array_equal(
            fitted.nearest_neighbors(points, n_neighbors=3)[1], np.argsort(among, axis=1)[:, :3]
        )
    precomputed = NearestNeighbors(metric="precomputed").fit(fitted.pairwise(points))
    found = precomputed.kneighbors(fitted.pairwise(queries, points), 3, return_distance=False)
    np.testing.assert_array_equal(found, expected)


def test_the_metric_of_an_asymmetric_distance_is_refused(fitted: DistanceRegressor) -> None:
    with pytest.raises(ValueError, match=r"asymmetry: expected 'max', 'mean' or 'directed'.*got 'refuse'.*precomputed"):
        fitted.as_metric()


def test_scikit_learn_would_return_wrong_neighbors(fitted: DistanceRegressor, points: np.ndarray) -> None:
    """Why `as_metric` refuses: the same distance, unguarded, in a tree and among the fitted points."""

    def unguarded(x: np.ndarray, y: np.ndarray) -> float:
        return fitted._distance(x, y)

    among = fitted.pairwise(points)
    np.fill_diagonal(among, np.inf)
    expected = np.argsort(among, axis=1)[:, :3]
    for algorithm in ("ball_tree", "brute"):
        wrong = NearestNeighbors(n_neighbors=3, algorithm=algorithm, metric=unguarded, leaf_size=5).fit(points)
        assert not np.array_equal(wrong.kneighbors(return_distance=False), expected), algorithm


def test_a_directed_metric_is_right_or_raises(fitted: DistanceRegressor, points: np.ndarray) -> None:
    queries = np.random.default_rng(3).uniform(size=(10, 2))
    metric = fitted.as_metric(asymmetry="directed")
    brute = NearestNeighbors(n_neighbors=3, algorithm="brute", metric=metric).fit(points)
    np.testing.assert_array_equal(
        brute.kneighbors(queries, return_distance=False), expected_neighbors(fitted, queries, points)
    )
    assert metric(points[0], points[1]) == pytest.approx(float(fitted.pairwise(points[:1], points[1:2])[0, 0]))
    refused = r"metric: expected algorithm='brute' and queries other than the fitted points"
    with pytest.raises(ValueError, match=refused):
        brute.kneighbors()
    with pytest.raises(ValueError, match=refused):
        NearestNeighbors(algorithm="ball_tree", metric=metric).fit(points).kneighbors(queries)
    with pytest.raises(ValueError, match=refused):
        NearestNeighbors(metric=metric).fit(points).kneighbors(queries)
    with pytest.raises(ValueError, match=refused):
        pairwise_distances(points, metric=metric)
    with pytest.raises(ValueError, match=refused):
        DBSCAN(metric=metric).fit(points)


@pytest.mark.parametrize("asymmetry", ["max", "mean"])
def test_a_symmetrized_metric_is_right_in_a_tree(fitted: DistanceRegressor, points: np.ndarray, asymmetry: Any) -> None:
    there = fitted.pairwise(points)
    both = np.maximum(there, there.T) if asymmetry == "max" else (there + there.T) / 2
    tree = NearestNeighbors(
        n_neighbors=4, algorithm="ball_tree", metric=fitted.as_metric(asymmetry=asymmetry), leaf_size=5
    )
    distances, _ = tree.fit(points).kneighbors(points[:20])
    np.testing.assert_allclose(distances, np.sort(both, axis=1)[:20, :4], rtol=1e-4, atol=1e-3)


def test_a_symmetric_distance_is_a_metric_everywhere(symmetric: DistanceRegressor, points: np.ndarray) -> None:
    labels = (points[:, 0] > 0.5).astype(int)
    tree = KNeighborsClassifier(metric=pickle.loads(pickle.dumps(symmetric.as_metric())), algorithm="ball_tree")
    brute = KNeighborsClassifier(metric="precomputed")
    tree.fit(points, labels)
    brute.fit(symmetric.pairwise(points), labels)
    queries = np.random.default_rng(4).uniform(size=(20, 2))
    np.testing.assert_array_equal(tree.predict(queries), brute.predict(symmetric.pairwise(queries, points)))
