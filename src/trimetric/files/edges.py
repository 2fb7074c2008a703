"""Weighted edges, whose shortest paths are the distances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric.files.columns import read_table
from trimetric.files.errors import InputError
from trimetric.files.matrix_pairs import pairs_of_matrix
from trimetric.files.pairs import NO_EDGE, PairTable, check_distances

MAX_OBJECTS = 3000


def read_edges(
    file: Path,
    *,
    source: str = "from",
    target: str = "to",
    weight: str = "weight",
    two_way: bool = False,
    unreachable: bool = False,
    hint: str = "",
) -> PairTable:
    """The lengths of the shortest paths between all ordered pairs of a graph's nodes.

    Of several edges between two nodes the lightest counts.

    Args:
        file: a CSV, TSV, Parquet or NPZ file with columns of two ids and a weight >= 0.
        source: the column of the ids where edges start.
        target: the column of the ids where they end.
        weight: the column of the weights.
        two_way: whether each edge may be walked in both directions.
        unreachable: whether there may be pairs that no path joins; their distance is infinite.
        hint: what to say after an error about a missing column.
    """
    table = read_table(file, ids=[source, target], numbers=[weight], hint=hint)
    check_distances(table, weight, unreachable=False, remedy=NO_EDGE)
    names = list(table.names)
    if len(names) > MAX_OBJECTS:
        raise InputError(
            f"{file}: expected at most {MAX_OBJECTS:,} nodes, for the distances of all pairs, got {len(names):,}; "
            "trimetric fit --graph samples pairs of larger graphs"
        )
    ends = np.stack([table.codes[source], table.codes[target]], axis=1)
    matrix = shortest_paths(len(names), ends, table.numbers[weight], two_way=two_way)
    pairs = pairs_of_matrix(names, matrix, str(file))
    missing = np.isinf(matrix[pairs.ends[:, 0], pairs.ends[:, 1]])
    if not unreachable and missing.any():
        raise InputError(
            f"{pairs.where(int(missing.argmax()))}: expected a path, got none, as for {int(missing.sum()):,} of "
            f"{len(pairs):,} pairs; unreachable pairs need the discounted loss, or to be dropped"
        )
    return pairs


def shortest_paths(
    nodes: int, ends: NDArray[np.int64], weights: NDArray[np.float64], *, two_way: bool = False
) -> NDArray[np.float64]:
    """The matrix of the lengths of shortest paths; infinite where there is none."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    if two_way:
        ends, weights = np.concatenate([ends, ends[:, ::-1]]), np.concatenate([weights, weights])
    # The lightest of parallel edges: lexsort puts it first, and unique keeps the first.
    order = np.lexsort((weights, ends[:, 1], ends[:, 0]))
    ends, weights = ends[order], weights[order]
    _, kept = np.unique(ends[:, 0] * nodes + ends[:, 1], return_index=True)
    graph = csr_array((weights[kept], (ends[kept, 0], ends[kept, 1])), shape=(nodes, nodes))
    return dijkstra(graph, directed=True)
