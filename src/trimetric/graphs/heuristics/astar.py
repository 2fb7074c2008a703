"""Shortest paths, node by node, by A* with a heuristic that cannot mislead it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support.optional import optional
from trimetric.graphs.graph import Graph, Nodes, node_numbers
from trimetric.graphs.heuristics.potentials import PotentialHeuristic


@dataclass(frozen=True, eq=False)
class Path:
    """A shortest path.

    Attributes:
        nodes: from the source to the target, both included.
        length: infinite, with no nodes, where there is no path.
        expanded: how many nodes the search looked at.
    """

    nodes: Nodes
    length: float
    expanded: int


def shortest_path(graph: Graph, source: int, target: int, heuristic: PotentialHeuristic | None = None) -> Path:
    """A shortest path by A*; by Dijkstra's algorithm without a heuristic.

    The heuristic must be admissible (`heuristic.certify(graph).holds`); then the path is a shortest one.
    """
    optional("numba", needed_for="searching paths")
    from trimetric.graphs.heuristics.astar_kernels import astar

    start, end = node_numbers("source", [source], graph)[0], node_numbers("target", [target], graph)[0]
    potentials = np.empty((graph.num_nodes, 0)) if heuristic is None else heuristic.potentials
    both_signs = heuristic is not None and not heuristic.directed
    distance, parent = np.full(graph.num_nodes, np.inf), np.full(graph.num_nodes, -1, np.int32)
    level = np.full(graph.num_nodes, np.nan)
    arrays = graph.indptr, graph.indices, graph.weights
    expanded = astar(*arrays, potentials, both_signs, start, end, distance, parent, level)
    if expanded < 0:
        raise ValueError("heuristic: expected bounds that are consistent up to rounding, got far too steep ones")
    if np.isinf(distance[end]):
        return Path(np.empty(0, np.int64), float("inf"), int(expanded))
    nodes = [int(end)]
    while nodes[-1] != start:
        nodes.append(int(parent[nodes[-1]]))
    return Path(np.array(nodes[::-1]), float(distance[end]), int(expanded))


def count_expansions(graph: Graph, pairs: ArrayLike, heuristic: PotentialHeuristic | None = None) -> NDArray[np.int64]:
    """How many nodes a search for each of the pairs `(n, 2)` looks at."""
    found = [shortest_path(graph, int(x), int(y), heuristic).expanded for x, y in np.asarray(pairs)]
    return np.array(found, np.int64)
