"""A weighted graph as arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support import checks
from trimetric._support.renamed import OldAttribute
from trimetric.graphs.checked_arcs import (
    Nodes,
    check_arcs,
    check_coordinates,
    check_names,
    list_of_nodes,
    numbers_below,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """A weighted graph: nodes 0 to n - 1 and arcs of weight >= 0, stored as compressed sparse rows.

    The lengths of shortest paths are a quasimetric if every node reaches every other node: a path from x to z through
    y is one of the paths from x to z.  An undirected graph contains both arcs of each edge.  `Graph.from_arcs` makes a
    graph from lists of arcs.

    Attributes:
        indptr: `(n + 1,)`; the arcs of node i are at `indptr[i]:indptr[i + 1]`.
        indices: `(arcs,)` heads of the arcs, ascending in each row.
        weights: `(arcs,)` weights of the arcs.
        directed: whether an arc may have no reverse arc, or a reverse arc with another weight.
        coordinates: `(n, 2)` places of the nodes, (longitude, latitude) in degrees for maps; None if unknown.
        names: an id for each node; None if the ids are 0 to n - 1.
        left_out: the number of nodes that `connected` has removed because they are not in the largest component.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> print(graph)
        4 nodes, 4 arcs
        >>> print(graph.symmetrize())
        4 nodes, 4 edges
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64]
    directed: bool
    coordinates: NDArray[np.float64] | None = None
    names: Sequence[Any] | NDArray[Any] | None = None
    left_out: int = 0

    @classmethod
    def from_arcs(
        cls,
        num_nodes: int,
        tails: ArrayLike,
        heads: ArrayLike,
        weights: ArrayLike,
        *,
        directed: bool,
        coordinates: ArrayLike | None = None,
        names: Sequence[Any] | NDArray[Any] | None = None,
    ) -> Graph:
        """Make a graph from a list of arcs or, if it is undirected, from a list that has each edge once.

        If there are several arcs from one node to another, the lightest is kept.  Arcs from a node to itself are
        dropped.

        Args:
            num_nodes: number of nodes.
            tails: the node where each arc starts.
            heads: the node where each arc ends.
            weights: the weight of each arc, finite and >= 0.
            directed: whether arcs go one way; otherwise each of them is an edge that goes both ways.
            coordinates: `(num_nodes, 2)` places of the nodes, (longitude, latitude) in degrees for maps.
            names: an id for each node.
        """
        checks.positive_int("num_nodes", num_nodes)
        checks.boolean("directed", directed)
        tails, heads, weights = check_arcs(num_nodes, tails, heads, weights)
        places = None if coordinates is None else check_coordinates(coordinates, num_nodes)
        if names is not None:
            check_names(names, num_nodes)
        if not directed:
            tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
            weights = np.concatenate([weights, weights])
        indptr, indices, weights = _rows(num_nodes, tails, heads, weights)
        return cls(indptr=indptr, indices=indices, weights=weights, directed=directed, coordinates=places, names=names)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.indptr) - 1

    @property
    def num_arcs(self) -> int:
        """The number of arcs; an undirected graph has two for each edge."""
        return len(self.indices)

    @property
    def num_edges(self) -> int:
        """The number of arcs of a directed graph, or of edges of an undirected one."""
        return self.num_arcs if self.directed else self.num_arcs // 2

    @cached_property
    def tails(self) -> NDArray[np.int32]:
        """The node where each arc starts; computed once, cached, and read-only."""
        tails = np.repeat(np.arange(self.num_nodes, dtype=np.int32), np.diff(self.indptr))
        tails.flags.writeable = False
        return tails

    @cached_property
    def reverse(self) -> Graph:
        """The graph with every arc reversed; the graph itself where it is undirected."""
        if not self.directed:
            return self
        indptr, indices, weights = _rows(self.num_nodes, self.indices, self.tails, self.weights)
        return replace(self, indptr=indptr, indices=indices, weights=weights)

    @cached_property
    def symmetric(self) -> bool:
        """Whether each arc has a reverse of the same weight, so that d(x, y) = d(y, x)."""
        if not self.directed:
            return True
        back = self.reverse
        return all(
            np.array_equal(mine, other)
            for mine, other in (
                (self.indptr, back.indptr),
                (self.indices, back.indices),
                (self.weights, back.weights),
            )
        )

    @property
    def num_pairs(self) -> int:
        """The number of pairs of different nodes: unordered where distances are symmetric, ordered otherwise."""
        ordered = self.num_nodes * (self.num_nodes - 1)
        return ordered // 2 if self.symmetric else ordered

    @cached_property
    def digest(self) -> str:
        """A hash of nodes, arcs and weights, which are what distances depend on."""
        digest = hashlib.sha256(f"graph {self.num_nodes} {self.directed}".encode())
        for array in (self.indptr, self.indices, self.weights):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def to_scipy(self) -> csr_array:
        """Return the sparse matrix of weights, row to column; arcs of weight 0 are stored explicitly."""
        from scipy.sparse import csr_array

        return csr_array((self.weights, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Find the strongly connected components: their number, and the component of each node."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        # Ones, because SciPy takes a weight of 0 for a missing arc here.
        pattern = csr_array((np.ones(self.num_arcs), self.indices, self.indptr), shape=(self.num_nodes,) * 2)
        count, labels = connected_components(pattern, directed=self.directed, connection="strong")
        return int(count), labels

    def connected(self, *, largest: bool = False) -> Graph:
        """Return the graph itself if every node reaches every other node.

        Args:
            largest: whether to keep the largest strongly connected component if there are several; otherwise an error
                is raised.
        """
        count, labels = self.components()
        if count == 1:
            return self
        kept = labels == np.bincount(labels).argmax()
        if not largest:
            raise ValueError(
                f"graph: expected every node to reach every other one, got {count:,} components, the largest with "
                f"{int(kept.sum()):,} of {self.num_nodes:,} nodes; the option `largest` takes only that one"
            )
        return replace(self.subgraph(np.flatnonzero(kept)), left_out=int((~kept).sum()))

    def subgraph(self, nodes: ArrayLike) -> Graph:
        """Keep some nodes, in the given order, and the arcs between them.

        Args:
            nodes: `(k,)` different numbers of the nodes to keep.
        """
        kept = list_of_nodes("nodes", nodes, self.num_nodes)
        different, counts = np.unique(kept, return_counts=True)
        if len(different) < len(kept):
            raise ValueError(f"nodes: expected different nodes, got {different[counts > 1][0]} more than once")
        number = np.full(self.num_nodes, -1)
        number[kept] = np.arange(len(kept))
        tails, heads = number[self.tails], number[self.indices]
        inside = (tails >= 0) & (heads >= 0)
        indptr, indices, weights = _rows(len(kept), tails[inside], heads[inside], self.weights[inside])
        return Graph(
            indptr=indptr,
            indices=indices,
            weights=weights,
            directed=self.directed,
            coordinates=None if self.coordinates is None else self.coordinates[kept],
            names=_chosen(self.names, kept),
        )

    symmetrised = OldAttribute("symmetrize")
    part = OldAttribute("subgraph")

    def symmetrize(self) -> Graph:
        """Make every arc go both ways; of an arc and its reverse, the lighter one is kept."""
        if not self.directed:
            return self
        return Graph.from_arcs(
            self.num_nodes,
            self.tails,
            self.indices,
            self.weights,
            directed=False,
            coordinates=self.coordinates,
            names=self.names,
        )

    def ids(self) -> list[str]:
        """List the name of each node as text."""
        names = range(self.num_nodes) if self.names is None else self.names
        return [str(name) for name in (names.tolist() if isinstance(names, np.ndarray) else names)]

    def __str__(self) -> str:
        kind = "arcs" if self.directed else "edges"
        return f"{self.num_nodes:,} nodes, {self.num_edges:,} {kind}"


def _chosen(names: Sequence[Any] | NDArray[Any] | None, kept: Nodes) -> Sequence[Any] | NDArray[Any] | None:
    if names is None or isinstance(names, np.ndarray):
        return None if names is None else names[kept]
    return [names[i] for i in kept.tolist()]


def node_numbers(name: str, given: ArrayLike, graph: Graph) -> Nodes:
    """Check numbers of nodes and return them as an array.

    Args:
        name: the argument that they came as, for the error message.
        given: the numbers.
        graph: the graph that must have such nodes.
    """
    return numbers_below(name, given, graph.num_nodes)


def _rows(
    num_nodes: int, tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Sort arcs into compressed rows without loops; of parallel arcs the lightest is kept."""
    key = tails.astype(np.int64) * num_nodes + heads
    order = np.lexsort((weights, key))
    key = key[order]
    first = np.ones(len(key), dtype=bool)
    first[1:] = key[1:] != key[:-1]
    kept = order[first & (tails[order] != heads[order])]
    indptr = np.zeros(num_nodes + 1, np.int64)
    np.cumsum(np.bincount(tails[kept], minlength=num_nodes), out=indptr[1:])
    return indptr, heads[kept].astype(np.int32), weights[kept]
