"""Graphs from and to NetworkX and SciPy."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from trimetric._support.optional import optional
from trimetric.graphs.graph import Graph


def from_networkx(graph: Any, *, weight: str = "weight", largest: bool = False) -> Graph:
    """Convert a NetworkX graph of any class; of parallel edges the lightest is kept.

    If all nodes have the attributes `x` and `y`, as set by OSMnx, these become the coordinates.

    Args:
        graph: the NetworkX graph; an undirected one stays undirected.  Its nodes must differ as text, too, because
            they become the ids.
        weight: the edge attribute that holds the weight, such as OSMnx's "length".
        largest: whether to keep only the largest strongly connected component; without it, a graph of several
            components is an error.

    Examples:
        >>> import networkx
        >>> ring = networkx.Graph([("a", "b", {"weight": 1}), ("b", "c", {"weight": 2}), ("c", "a", {"weight": 4})])
        >>> print(from_networkx(ring))
        3 nodes, 3 edges
    """
    nodes: list[Hashable] = list(graph.nodes)
    texts: dict[str, Hashable] = {}
    for node in nodes:
        if str(node) in texts:
            raise ValueError(f"graph: expected nodes that differ as text, got {texts[str(node)]!r} and {node!r}")
        texts[str(node)] = node
    number = {node: i for i, node in enumerate(nodes)}
    ends, weights = [], []
    for here, there, data in graph.edges(data=True):
        if weight not in data:
            raise ValueError(
                f"weight: expected an attribute {weight!r} of each edge, got none from {here!r} to {there!r}"
            )
        ends.append((number[here], number[there]))
        weights.append(data[weight])
    tails, heads = np.array(ends, np.int64).reshape(-1, 2).T
    places = [(data.get("x"), data.get("y")) for _, data in graph.nodes(data=True)]
    known = all(x is not None and y is not None for x, y in places)
    return Graph.from_arcs(
        len(nodes),
        tails,
        heads,
        weights,
        directed=graph.is_directed(),
        coordinates=np.array(places, np.float64) if known else None,
        names=nodes,
    ).connected(largest=largest)


def to_networkx(graph: Graph) -> Any:
    """Convert to a NetworkX graph whose nodes are the node numbers and whose edges have the attribute `weight`.

    Args:
        graph: the graph to convert.

    Returns:
        A `networkx.DiGraph` if the graph is directed, otherwise a `networkx.Graph`.

    Examples:
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [1.0, 2.0, 4.0], directed=True)
        >>> to_networkx(graph).edges[1, 2]
        {'weight': 2.0}
    """
    networkx = optional("networkx", needed_for="a NetworkX graph")
    made = networkx.DiGraph() if graph.directed else networkx.Graph()
    made.add_nodes_from(range(graph.num_nodes))
    made.add_weighted_edges_from(zip(graph.tails.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True))
    return made


def from_scipy(matrix: Any, *, directed: bool = True, largest: bool = False) -> Graph:
    """Convert a square sparse matrix of weights, row to column.  Explicitly stored zeros are arcs of weight 0.

    Entries at the same place are added, as SciPy does.

    Args:
        matrix: a SciPy sparse matrix or array of any format.
        directed: whether entries are arcs; otherwise each entry is an edge that goes both ways, and (j, i) need not
            repeat (i, j).
        largest: whether to keep only the largest strongly connected component; without it, a graph of several
            components is an error.

    Examples:
        >>> from scipy.sparse import csr_array
        >>> print(from_scipy(csr_array([[0, 1, 0], [0, 0, 2], [4, 0, 0]])))
        3 nodes, 3 arcs
    """
    from scipy.sparse import issparse

    if not issparse(matrix):
        got = type(matrix).__name__
        raise TypeError(
            f"matrix: expected a SciPy sparse matrix or array, such as scipy.sparse.csr_array(matrix), got {got}"
        )
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"matrix: expected a square one, got shape {matrix.shape}")
    entries = matrix.tocoo(copy=True)
    if entries.data.dtype.kind in "iu":
        entries.data = entries.data.astype(np.float64)  # sums of small integers would overflow
    entries.sum_duplicates()
    tails, heads = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    graph = Graph.from_arcs(matrix.shape[0], tails, heads, entries.data, directed=directed)
    return graph.connected(largest=largest)
