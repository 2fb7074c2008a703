"""Graphs of other libraries."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from trimetric._support.optional import optional
from trimetric.graphs.graph import Graph


def from_networkx(graph: Any, *, weight: str = "weight", largest: bool = False) -> Graph:
    """From a NetworkX graph of any kind; of parallel edges the lightest counts.

    Nodes that all have the attributes `x` and `y`, as OSMnx gives them, have coordinates.

    Args:
        graph: undirected graphs stay so.
        weight: the attribute of an edge that is its weight, such as OSMnx's "length".
        largest: whether to take the largest strongly connected component of several, which are an error otherwise.
    """
    nodes: list[Hashable] = list(graph.nodes)
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
    """A NetworkX graph of the node numbers, with the attribute `weight`."""
    networkx = optional("networkx", needed_for="a NetworkX graph")
    made = networkx.DiGraph() if graph.directed else networkx.Graph()
    made.add_nodes_from(range(graph.num_nodes))
    made.add_weighted_edges_from(zip(graph.tails.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True))
    return made


def from_scipy(matrix: Any, *, directed: bool = True, largest: bool = False) -> Graph:
    """From a square sparse matrix (or array) of weights, row to column; entries that are stored count, zeros too.

    Args:
        matrix: any format of SciPy.
        directed: without, each entry is an edge that goes both ways, and (i, j) need not be there as (j, i) too.
        largest: whether to take the largest strongly connected component of several, which are an error otherwise.
    """
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"matrix: expected a square one, got shape {matrix.shape}")
    entries = matrix.tocoo()
    tails, heads = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    graph = Graph.from_arcs(matrix.shape[0], tails, heads, entries.data, directed=directed)
    return graph.connected(largest=largest)
