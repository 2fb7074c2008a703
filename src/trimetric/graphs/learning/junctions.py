"""The junctions of a network: the graph without the nodes that only pass a road on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimetric.graphs.graph import Graph, Nodes
from trimetric.kernels.machine_code import njit


@dataclass(frozen=True, eq=False)
class Junctions:
    """A smaller graph with the same distances between the nodes that it keeps.

    Attributes:
        graph: the graph of the nodes that are kept, numbered anew.
        nodes: their numbers in the full graph.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 1], [1, 2, 3, 3], [1.0, 2.0, 3.0, 9.0], directed=False)
        >>> contract_chains(graph).nodes  # node 2 lies on the way from 1 to 3
        array([0, 1])
    """

    graph: Graph
    nodes: Nodes


def contract_chains(graph: Graph) -> Junctions:
    """Leave out the nodes that have two neighbors and only pass a road on, one way or both ways.

    A path between two other nodes that enters such a node leaves it on the other side, so an arc as long as the chain
    replaces it, and no distance changes.  On maps these nodes are the bends of roads: three of four.

    Args:
        graph: any graph.

    Returns:
        The graph of the other nodes; `graph` itself where that would leave fewer than two nodes.
    """
    back = graph.reverse
    follows = _next_on_chain(graph.indptr, graph.indices, back.indptr, back.indices)
    nodes = np.flatnonzero(follows[:, 0] < 0)
    if len(nodes) < 2 or len(nodes) == graph.num_nodes:
        return Junctions(graph, np.arange(graph.num_nodes))
    ends, weights = _follow(graph.indptr, graph.indices, graph.weights, follows, nodes)
    number = np.full(graph.num_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    tails = np.repeat(np.arange(len(nodes)), np.diff(graph.indptr)[nodes])
    smaller = Graph.from_arcs(len(nodes), tails, number[ends], weights, directed=True)
    if not graph.directed:
        # Both directions of a chain were followed; sums of another order may differ in the last digit.
        smaller = smaller.symmetrize()
    return Junctions(smaller, nodes)


@njit
def _next_on_chain(indptr, indices, back_indptr, back_indices):
    """Find the two neighbors of each node that only passes a road on; -1 for the other nodes."""
    n = len(indptr) - 1
    follows = np.full((n, 2), -1, np.int64)
    for node in range(n):
        ahead = indices[indptr[node] : indptr[node + 1]]
        behind = back_indices[back_indptr[node] : back_indptr[node + 1]]
        if len(ahead) == 2 and len(behind) == 2 and ahead[0] == behind[0] and ahead[1] == behind[1]:
            follows[node] = ahead[0], ahead[1]
        elif len(ahead) == 1 and len(behind) == 1 and ahead[0] != behind[0]:
            follows[node] = behind[0], ahead[0]
    return follows


@njit
def _follow(indptr, indices, weights, follows, nodes):
    """Follow each arc of some nodes along its chain; return where it ends and how long it is."""
    count = 0
    for node in nodes:
        count += indptr[node + 1] - indptr[node]
    ends, lengths = np.empty(count, np.int64), np.empty(count)
    i = 0
    for node in nodes:
        for arc in range(indptr[node], indptr[node + 1]):
            previous, here, length = node, indices[arc], weights[arc]
            while follows[here, 0] >= 0:
                onward = follows[here, 1] if follows[here, 0] == previous else follows[here, 0]
                for step in range(indptr[here], indptr[here + 1]):
                    if indices[step] == onward:
                        length += weights[step]
                        break
                previous, here = here, onward
            ends[i], lengths[i] = here, length
            i += 1
    return ends, lengths
