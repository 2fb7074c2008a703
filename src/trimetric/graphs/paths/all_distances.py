"""The distances of all pairs of a small graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric._support.renamed import old_names
from trimetric.files.edges import read_edges as _read_edges
from trimetric.files.errors import InputError
from trimetric.files.matrix_pairs import pairs_of_matrix
from trimetric.files.pairs import PairTable
from trimetric.graphs.graph import Graph

MOST_NODES = 3000  # of a graph in a file: nine million pairs

__getattr__ = old_names(__name__, {"read_edges": "read_all_distances", "MAX_OBJECTS": "MOST_NODES"})


def all_distances(graph: Graph) -> NDArray[np.float64]:
    """Compute the lengths of the shortest paths between all nodes, by SciPy.

    Args:
        graph: a small one; it need not be connected.

    Returns:
        `(n, n)` distances from row to column; infinite where there is no path.

    Examples:
        >>> all_distances(Graph.from_arcs(3, [0, 1], [1, 2], [1.0, 2.0], directed=True))
        array([[ 0.,  1.,  3.],
               [inf,  0.,  2.],
               [inf, inf,  0.]])
    """
    from scipy.sparse.csgraph import dijkstra

    return dijkstra(graph.to_scipy())


def read_all_distances(
    file: Path,
    *,
    source: str = "from",
    target: str = "to",
    weight: str = "weight",
    symmetrize: bool = False,
    unreachable: bool = False,
    hint: str = "",
) -> PairTable:
    """Read the edges of a graph and compute the lengths of the shortest paths of all ordered pairs of its nodes.

    Of several edges from one node to another, the lightest is used.

    Args:
        file: a CSV, TSV, Parquet or NPZ file with two columns of ids and a column of weights >= 0.
        source: the column of the ids where edges start.
        target: the column of the ids where edges end.
        weight: the column of the weights.
        symmetrize: whether each edge can be traversed in both directions.
        unreachable: whether there may be pairs that no path joins; their distance is infinite.
        hint: text to add to an error about a missing column.

    Raises:
        InputError: if the file cannot be read, the graph has too many nodes, or a pair is unexpectedly
            unreachable.
    """
    edges = _read_edges(file, source=source, target=target, weight=weight, hint=hint)
    nodes = len(edges.names)
    if nodes > MOST_NODES:
        raise InputError(
            f"{file}: expected at most {MOST_NODES:,} nodes, for the distances of all pairs, got {nodes:,}; "
            "trimetric fit --graph samples pairs of larger graphs"
        )
    tails, heads = edges.ends.T
    graph = Graph.from_arcs(nodes, tails, heads, edges.weights, directed=not symmetrize)
    matrix = all_distances(graph)
    pairs = pairs_of_matrix(edges.names, matrix, str(file))
    missing = np.isinf(matrix[pairs.ends[:, 0], pairs.ends[:, 1]])
    if not unreachable and missing.any():
        raise InputError(
            f"{pairs.where(int(missing.argmax()))}: expected a path, got none, as for {int(missing.sum()):,} of "
            f"{len(pairs):,} pairs; unreachable pairs need the discounted loss, or to be dropped"
        )
    return pairs
