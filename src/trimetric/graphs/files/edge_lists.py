"""Graphs from tables of edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trimetric.files.columns import read_table
from trimetric.files.errors import InputError
from trimetric.files.pairs import NO_EDGE, check_distances
from trimetric.graphs.graph import Graph


def read_edge_list(
    file: Path | str,
    *,
    source: str = "from",
    target: str = "to",
    weight: str = "weight",
    two_way: bool = False,
    largest: bool = False,
    hint: str = "",
) -> Graph:
    """A graph from a CSV, TSV, Parquet or NPZ file with columns of two ids and a weight >= 0.

    The ids are the names of the nodes.  Of several edges between two nodes the lightest counts.

    Args:
        file: its suffix tells its kind.
        source: the column of the ids where edges start.
        target: the column of the ids where they end.
        weight: the column of the weights.
        two_way: whether each edge may be walked in both directions (the graph is undirected).
        largest: whether to take the largest strongly connected component of several, which are an error otherwise.
        hint: what to say after an error about a missing column.
    """
    file = Path(file)
    table = read_table(file, ids=[source, target], numbers=[weight], hint=hint)
    check_distances(table, weight, unreachable=False, remedy=NO_EDGE)
    names = np.array(list(table.names), dtype=object)
    graph = Graph.from_arcs(
        len(names), table.codes[source], table.codes[target], table.numbers[weight], directed=not two_way, names=names
    )
    try:
        return graph.connected(largest=largest)
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
