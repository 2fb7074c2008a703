"""Search: exact with every heuristic that is certified, and a certificate that can fail."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import dijkstra

import trimetric as tm
from trimetric.graphs import (
    Graph,
    PotentialHeuristic,
    ShortestPaths,
    choose_landmarks,
    count_expansions,
    learn_heuristic,
    mixture_heuristic,
    random_pairs,
    sample_pairs,
    select_potentials,
    shortest_path,
)

pytest.importorskip("numba")


def street_grid(seed: int, *, side: int = 16, directed: bool = True) -> Graph:
    """A grid with some one-way streets."""
    random = np.random.default_rng(seed)
    cell = np.arange(side**2).reshape(side, side)
    onward = np.concatenate(
        [np.stack([a.ravel(), b.ravel()], 1) for a, b in ((cell[:, :-1], cell[:, 1:]), (cell[:-1], cell[1:]))]
    )
    back = onward[random.random(len(onward)) < 0.7, ::-1]
    ends = np.concatenate([onward, back]) if directed else onward
    weights = random.integers(1, 100, len(ends)) / 10
    return Graph.from_arcs(side**2, *ends.T, weights, directed=directed).connected(largest=True)


def heuristics(graph: Graph) -> dict[str, PotentialHeuristic | None]:
    landmarks = choose_landmarks(graph, 12, jobs=1)
    sample = sample_pairs(graph, 3000, test=500, validation=500, paths=ShortestPaths(graph, jobs=1, progress="silent"))
    bound = tm.LandmarkBound(landmarks.numbers_per_node, components=5, directed=graph.directed)
    with torch.no_grad():
        bound.raw_weight.normal_()  # type: ignore[union-attr]
    random = np.random.default_rng(0).normal(scale=30, size=(graph.num_nodes, 6))
    return {
        "none": None,
        "landmarks": PotentialHeuristic.of_landmarks(landmarks.first(3)),
        "selected": PotentialHeuristic(select_potentials(landmarks, sample, 6), graph.directed),
        "learned": learn_heuristic(graph, landmarks, sample, count=6, steps=40),
        "mixture": mixture_heuristic(bound, landmarks),
        "random, closed": PotentialHeuristic.closed(random, graph),
    }


@pytest.mark.parametrize("directed", [True, False])
def test_every_certified_heuristic_finds_shortest_paths(directed: bool) -> None:
    graph = street_grid(0, directed=directed)
    truth = dijkstra(graph.to_scipy())
    pairs = random_pairs(graph.num_nodes, 60, seed=3)
    for name, heuristic in heuristics(graph).items():
        if heuristic is not None:
            certificate = heuristic.certify(graph)
            assert certificate.holds, name
            assert certificate.arcs == graph.num_arcs
            sources, targets = (part.ravel() for part in np.meshgrid(*[np.arange(graph.num_nodes)] * 2, indexing="ij"))
            assert (heuristic(sources, targets) <= truth[sources, targets] + 1e-8).all(), name
        for source, target in pairs.tolist():
            path = shortest_path(graph, source, target, heuristic)
            assert path.length == pytest.approx(truth[source, target], rel=1e-12), name
            assert (path.nodes[0], path.nodes[-1]) == (source, target)
            steps = graph.to_scipy()[path.nodes[:-1], path.nodes[1:]]
            assert np.sum(steps) == pytest.approx(path.length)


def test_better_bounds_expand_fewer_nodes() -> None:
    graph = street_grid(1, side=24)
    landmarks = choose_landmarks(graph, 16, jobs=1)
    sample = sample_pairs(graph, 8000, test=500, validation=500, paths=ShortestPaths(graph, progress="silent"))
    pairs = random_pairs(graph.num_nodes, 150, seed=4)
    plain = count_expansions(graph, pairs).mean()
    alt = PotentialHeuristic.of_landmarks(landmarks.first(3))
    learned = learn_heuristic(graph, landmarks, sample, count=6, steps=150)
    assert alt.bytes_per_node == learned.bytes_per_node == 48
    assert count_expansions(graph, pairs, learned).mean() < count_expansions(graph, pairs, alt).mean() < 0.5 * plain


def test_a_steep_potential_is_found_and_closed() -> None:
    graph = street_grid(2)
    good = PotentialHeuristic.of_landmarks(choose_landmarks(graph, 4, jobs=1))
    np.testing.assert_allclose(
        PotentialHeuristic.closed(good.potentials, graph).potentials, good.potentials, atol=1e-10
    )
    bad = good.potentials.copy()
    bad[7, 2] += 1000
    found = PotentialHeuristic(bad, True).certify(graph)
    assert not found.holds
    assert found.steep >= 1
    assert found.excess > 900
    mended = PotentialHeuristic.closed(bad, graph)
    assert mended.certify(graph).holds
    assert (mended.potentials <= bad + 1e-12).all()
    # Single precision rounds more than a certificate allows.
    rough = PotentialHeuristic((good.potentials + 1e6).astype(np.float32).astype(np.float64), True)
    assert not rough.certify(graph).holds


def test_refusals() -> None:
    graph = street_grid(3)
    with pytest.raises(ValueError, match="potentials: expected a row for each of the"):
        PotentialHeuristic.closed(np.zeros((3, 2)), graph)
    with pytest.raises(ValueError, match="potentials: expected finite numbers"):
        PotentialHeuristic.closed(np.full((graph.num_nodes, 1), np.inf), graph)
    with pytest.raises(ValueError, match="graph: expected the 3 nodes of this heuristic"):
        PotentialHeuristic(np.zeros((3, 2)), True).certify(graph)
    with pytest.raises(ValueError, match="target: expected nodes from 0 to"):
        shortest_path(graph, 0, 10**6)
    apart = Graph.from_arcs(3, [0, 1], [1, 0], [1.0, 1.0], directed=True)
    assert shortest_path(apart, 0, 2).length == np.inf
    assert shortest_path(apart, 1, 1).nodes.tolist() == [1]
