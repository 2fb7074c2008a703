"""Shortest-path trees: distances from some nodes to all, and from all to some nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support.optional import installed
from trimetric.graphs.graph import Graph, node_numbers
from trimetric.graphs.paths.parallel import in_parallel

Distances = NDArray[np.float64]


def distances_from(graph: Graph, nodes: ArrayLike, *, jobs: int | None = None) -> Iterator[Distances]:
    """Compute the distances from each of some nodes to all nodes.

    Args:
        graph: the graph.
        nodes: where the paths start.
        jobs: how many nodes at a time, see `in_parallel`.

    Yields:
        For each of the nodes, in order, `(n,)` distances; infinite where there is no path.
    """
    calls = [(graph.indptr, graph.indices, graph.weights, int(node)) for node in node_numbers("nodes", nodes, graph)]
    yield from in_parallel(distances_from_one, calls, jobs=jobs)


def distances_to(graph: Graph, nodes: ArrayLike, *, jobs: int | None = None) -> Iterator[Distances]:
    """Compute the distances from all nodes to each of some nodes.

    Args:
        graph: the graph.
        nodes: where the paths end.
        jobs: how many nodes at a time, see `in_parallel`.

    Yields:
        For each of the nodes, in order, `(n,)` distances; infinite where there is no path.
    """
    yield from distances_from(graph.reverse, nodes, jobs=jobs)


def distances_from_one(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float64], source: int
) -> Distances:
    """Compute the distances from one node to all, by numba or else by SciPy."""
    if installed("numba"):
        from trimetric.graphs.paths.dijkstra_kernels import dijkstra_tree

        start = np.full(len(indptr) - 1, np.inf)
        start[source] = 0.0
        return dijkstra_tree(indptr, indices, weights, start)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    n = len(indptr) - 1
    return dijkstra(csr_array((weights, indices, indptr), shape=(n, n)), indices=source)
