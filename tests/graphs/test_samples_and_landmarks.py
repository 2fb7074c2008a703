"""Samples of pairs and their spread, landmarks with their bounds, and features made of them."""

from __future__ import annotations

import numpy as np
import pytest
from random_graphs import random_graph
from scipy.sparse.csgraph import dijkstra

import trimetric as tm
from trimetric.graphs import Graph, ShortestPaths, choose_landmarks, landmark_bounds, sample_pairs

pytest.importorskip("numba")


# Pairs


def test_random_pairs() -> None:
    for count in (30, 90):
        ends = tm.graphs.random_pairs(10, count, seed=0)
        assert len(set(map(tuple, ends.tolist()))) == count
        assert (ends[:, 0] != ends[:, 1]).all()
    many = tm.graphs.random_pairs(1000, 40_000, seed=0)
    assert abs(many.mean() - 499.5) < 5
    assert abs(many[:1000].mean() - 499.5) < 30  # not sorted
    with pytest.raises(ValueError, match="expected at most the 90 pairs of 10 nodes, got 91"):
        tm.graphs.random_pairs(10, 91, seed=0)


def test_sample_and_its_parts() -> None:
    graph = random_graph(0)
    sample = sample_pairs(graph, 200, test=50, validation=30, paths=ShortestPaths(graph, progress="silent"))
    assert sample.distances.mean() == pytest.approx(50)
    np.testing.assert_allclose(sample.lengths, dijkstra(graph.to_scipy())[sample.ends[:, 0], sample.ends[:, 1]])
    assert sample.training_rows() == slice(80, 200)
    assert sample.training_rows(20) == slice(80, 100)
    assert (sample.test_rows, sample.validation_rows) == (slice(0, 50), slice(50, 80))
    with pytest.raises(ValueError, match="expected 1 to 120 pairs for training, got 121"):
        sample.training_rows(121)


@pytest.mark.parametrize(
    ("make", "sigma", "largest"),
    [
        (tm.graphs.torus3d, 13.2, 86.7),
        (tm.graphs.torus3d_directed, 13.4, 85.5),  # the paper's largest is 97.8
        (tm.graphs.torus3d_pruned, 13.1, 86.5),
    ],
)
def test_distances_spread_as_in_the_paper(make: type, sigma: float, largest: float) -> None:
    graph = make(seed=0)
    sources = np.random.default_rng(0).integers(graph.num_nodes, size=4)
    trees = ShortestPaths(graph, progress="silent", jobs=1).from_nodes(sources)
    distances = trees / trees.mean() * 50
    assert distances.std() == pytest.approx(sigma, rel=0.04)
    assert distances.max() == pytest.approx(largest, rel=0.08)  # one odd source of 3dr adds some


@pytest.mark.parametrize(
    ("make", "sigma", "largest"),
    [(tm.graphs.taxi, 13.4, 111.2), pytest.param(tm.graphs.push, 14.3, 113.1, marks=pytest.mark.slow)],
)
def test_distances_of_pairs_spread_as_in_the_paper(make: type, sigma: float, largest: float) -> None:
    graph = make(seed=0)
    sample = sample_pairs(graph, 300, test=100, validation=0, paths=ShortestPaths(graph, jobs=1, progress="silent"))
    assert sample.sigma == pytest.approx(sigma, rel=0.09)  # two standard errors of 300 pairs
    assert 80 < sample.largest < 1.05 * largest


# Landmarks


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("choice", ["farthest", "random"])
def test_landmarks_and_their_bounds(directed: bool, choice: str) -> None:
    graph = random_graph(4, directed=directed)
    matrix = dijkstra(graph.to_scipy())
    landmarks = choose_landmarks(graph, 6, choice=choice, seed=1)  # type: ignore[arg-type]
    assert len(set(landmarks.nodes.tolist())) == 6
    assert landmarks.directed == directed
    np.testing.assert_allclose(landmarks.from_landmarks, matrix[landmarks.nodes].T)
    np.testing.assert_allclose(landmarks.to_landmarks, matrix[:, landmarks.nodes])
    ends = tm.graphs.random_pairs(graph.num_nodes, 500, seed=0)
    truth = matrix[ends[:, 0], ends[:, 1]]
    lower, upper = landmark_bounds(landmarks, ends)
    assert (lower <= truth + 1e-12).all()
    assert (upper >= truth - 1e-12).all()
    assert lower.max() > 0
    # The bound of the library is the same.
    import torch

    table = torch.tensor(landmarks.table())
    bound = tm.LandmarkBound(table.shape[1], directed=directed)
    np.testing.assert_allclose(bound(table[ends[:, 0]], table[ends[:, 1]]).numpy(), lower, atol=1e-12)
    fitted = tm.graphs.AffineBounds.fit(landmarks, ends, truth)
    both = tm.graphs.Accuracy.of(fitted.predict(landmarks, ends), truth)
    assert both.mse < min(tm.graphs.Accuracy.of(one, truth).mse for one in (lower, upper))
    assert tm.graphs.Accuracy.of(lower, truth).over_estimated == 0
    first = landmarks.first(2)
    assert first.directed == directed
    assert first.numbers_per_node == (4 if directed else 2)


def test_farthest_landmarks_are_far_apart() -> None:
    graph = tm.graphs.torus3d(seed=0, side=8)
    matrix = dijkstra(graph.to_scipy())
    far, near = (choose_landmarks(graph, 8, choice=choice).nodes for choice in ("farthest", "random"))
    assert (
        matrix[np.ix_(far, far)][~np.eye(8, dtype=bool)].min()
        > matrix[np.ix_(near, near)][~np.eye(8, dtype=bool)].min()
    )
    with pytest.raises(ValueError, match="count: expected at most the 512 nodes"):
        choose_landmarks(graph, 513)


@pytest.mark.parametrize(("directed", "width"), [(False, 128), (True, 160)])
def test_features_of_the_paper(directed: bool, width: int) -> None:
    graph = random_graph(5, n=400, directed=directed)
    landmarks = choose_landmarks(graph, 32)
    noisy = tm.graphs.landmark_features(landmarks, seed=3)
    clean = tm.graphs.landmark_features(landmarks, noise=0, distractors=0)
    assert noisy.shape == (400, width)
    assert noisy.dtype == np.float32
    np.testing.assert_allclose(clean.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(clean.std(axis=0), 1, atol=1e-4)
    noise = noisy[:, : clean.shape[1]] - clean
    assert noise.std() == pytest.approx(0.2, rel=0.05)
    assert noisy[:, clean.shape[1] :].std() == pytest.approx(1, rel=0.05)
    np.testing.assert_array_equal(noisy, tm.graphs.landmark_features(landmarks, seed=3))
    together = tm.graphs.landmark_features(landmarks, noise=0, distractors=0, normalize="all")
    assert together.mean() == pytest.approx(0, abs=1e-5)
    assert abs(together.mean(axis=0)).max() > 0.05


@pytest.mark.parametrize("node", [-1, 8, 10**9])
def test_bounds_of_nodes_that_are_not_there_are_refused(node: int) -> None:
    graph = Graph.from_arcs(8, np.arange(8), (np.arange(8) + 1) % 8, np.ones(8), directed=True)
    with pytest.raises(ValueError, match=f"ends: expected nodes from 0 to 7, got {node}"):
        landmark_bounds(choose_landmarks(graph, 2), np.array([[0, node]]))
