"""Shortest paths, node by node, by A* with an admissible heuristic."""

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
        nodes: the nodes from the source to the target, both included; none where there is no path.
        length: the length of the path; infinite where there is none.
        expanded: number of nodes that the search expanded.

    Examples:
        >>> path = Path(nodes=np.array([0, 1, 2]), length=3.0, expanded=2)
        >>> len(path.nodes)
        3
    """

    nodes: Nodes
    length: float
    expanded: int


def shortest_path(graph: Graph, source: int, target: int, heuristic: PotentialHeuristic | None = None) -> Path:
    """Find a shortest path by A*, or by Dijkstra's algorithm without a heuristic.

    Args:
        graph: the graph.
        source: the node where the path starts.
        target: the node where it ends.
        heuristic: must be admissible (`heuristic.certify(graph).holds`) for the path to be a shortest one.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> path = shortest_path(graph, 1, 0)
        >>> path.nodes.tolist(), path.length
        ([1, 2, 3, 0], 9.0)
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
    """Count the nodes that `shortest_path` expands for each pair.

    Args:
        graph: the graph.
        pairs: `(pairs, 2)` nodes, from and to.
        heuristic: an admissible heuristic; without one, Dijkstra's algorithm is used.

    Returns:
        `(pairs,)` numbers of nodes.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> count_expansions(graph, [[0, 1], [0, 3]])
        array([1, 3])
    """
    found = [shortest_path(graph, int(x), int(y), heuristic).expanded for x, y in np.asarray(pairs)]
    return np.array(found, np.int64)
