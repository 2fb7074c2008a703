"""Graphs from tables of edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trimetric._support.renamed import old_keywords
from trimetric.files.edges import read_edges
from trimetric.files.errors import InputError
from trimetric.graphs.graph import Graph


@old_keywords(two_way="symmetrize")
def read_edge_list(
    file: Path | str,
    *,
    source: str = "from",
    target: str = "to",
    weight: str = "weight",
    symmetrize: bool = False,
    largest: bool = False,
    hint: str = "",
) -> Graph:
    """Read a graph from a CSV, TSV, Parquet or NPZ file with two columns of ids and a column of weights >= 0.

    The ids become the names of the nodes.  Of several edges from one node to another, the lightest is kept.

    Args:
        file: its suffix tells its format.
        source: the column of the ids where edges start.
        target: the column of the ids where edges end.
        weight: the column of the weights.
        symmetrize: whether each edge can be traversed in both directions; the graph is undirected then.
        largest: whether to keep only the largest strongly connected component; without it, a graph of several
            components is an error.
        hint: text to add to an error about a missing column.

    Raises:
        InputError: if the file cannot be read, with the line that is wrong.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "streets.csv"
        ...     _ = file.write_text("here,there,minutes\\na,b,1\\nb,c,2\\n")
        ...     graph = read_edge_list(file, source="here", target="there", weight="minutes", symmetrize=True)
        >>> graph.ids()
        ['a', 'b', 'c']
    """
    file = Path(file)
    edges = read_edges(file, source=source, target=target, weight=weight, hint=hint)
    names = np.array(edges.names, dtype=object)
    tails, heads = edges.ends.T
    graph = Graph.from_arcs(len(names), tails, heads, edges.weights, directed=not symmetrize, names=names)
    try:
        return graph.connected(largest=largest)
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
