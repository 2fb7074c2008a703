"""Distances of `taxi` and `3dd` from their structure, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.experiments.graphs.data import STRUCTURED
from trimetric import graphs
from trimetric.graphs.paths.pair_sampling import random_pairs


@pytest.mark.parametrize(
    ("name", "graph", "answered"),
    [
        ("taxi", graphs.taxi(seed=1, side=2), 0.8),
        ("taxi", graphs.taxi(seed=1, side=6), 0.9),
        ("3dd", graphs.torus3d_directed(seed=1, side=3), 0.6),
        ("3dd", graphs.torus3d_directed(seed=1, side=9), 0.6),
    ],
)
def test_distances_are_those_of_scipy(name: str, graph: graphs.Graph, answered: float) -> None:
    ends = random_pairs(graph.num_nodes, min(4000, graph.num_pairs), seed=0, unordered=graph.symmetric)
    exact = graphs.ShortestPaths(graph, engine="scipy", progress="silent").pairs(*ends.T)
    found = STRUCTURED[name](graph, *ends.T)
    known = ~np.isnan(found)
    assert answered < known.mean() < 1  # where the structure does not tell, it says so
    assert np.allclose(found[known], exact[known], rtol=1e-12, atol=0)


def test_a_way_around_the_torus_is_never_overlooked() -> None:
    """One layer is nearly free, and so are the ways up to it: between other layers, paths lead around through it."""
    side = 6
    torus = graphs.torus3d_directed(seed=0, side=side)
    upward = (torus.indices - torus.tails) % side**3 % side**2 == 0
    free = upward | (torus.tails // side**2 == 3)
    weights = np.where(free, 0.001, 1.0)
    graph = graphs.Graph.from_arcs(side**3, torus.tails, torus.indices, weights, directed=True)
    ends = random_pairs(graph.num_nodes, 4000, seed=0)
    exact = graphs.ShortestPaths(graph, engine="scipy", progress="silent").pairs(*ends.T)
    found = STRUCTURED["3dd"](graph, *ends.T)
    known = ~np.isnan(found)
    assert known.any()
    assert np.allclose(found[known], exact[known], rtol=1e-12, atol=0)
    line = np.array([0]), np.array([side - 1])  # along one axis of the bottom layer
    assert graphs.ShortestPaths(graph, engine="scipy", progress="silent").pairs(*line)[0] < 0.02  # around
    assert np.isnan(STRUCTURED["3dd"](graph, *line)[0])
