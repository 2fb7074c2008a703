"""A contraction hierarchy whose keys may be pairs of costs, for matrices and routes between places on edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric._support.optional import optional
from trimetric.graphs.graph import Graph, Nodes

FEATURE = "travel matrices"
LARGEST_KEY = 1 << 61
"""stands for "no path" in whole numbers: three of them add up without overflow"""
SHORTCUTS_PER_NODE = 64
"""Road networks have 4 to 10; with more than this a graph has no small cuts and a hierarchy does not pay."""

Keys = NDArray[Any]  # of int64, or of float64 where costs are no whole multiples of a unit


@dataclass(frozen=True, eq=False)
class Ends:
    """The nodes through which places are left or entered, and the keys of the parts of edges to or from them.

    Attributes:
        nodes: `(places, 2)` nodes; -1 where there is no second one.  Two of a place are the ends of an edge.
        keys: `(places, 2)` keys of the way to them.
    """

    nodes: NDArray[np.int32]
    keys: Keys

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Ends:
        return Ends(self.nodes[rows], self.keys[rows])


@dataclass(frozen=True, eq=False)
class Selection:
    """The part of a hierarchy below which some targets lie, ready for sweeps from any source.

    Attributes:
        entries: the targets.
        arrays: what the sweep reads of the nodes that it visits.
    """

    entries: Ends
    arrays: tuple[NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class TripHierarchy:
    """A customized contraction hierarchy: exact keys of best paths from many places to many.

    Why it is exact: each best path goes up in rank and then down, over arcs of the graph or over shortcuts that stand
    for best paths below them; the sweep takes the least key over all such paths.

    Attributes:
        rank: `(n,)` the rank of each node.
        ptr: `(n + 1,)` the arcs to higher neighbors of the node of rank v are at `ptr[v]:ptr[v + 1]`.
        heads: ranks of these neighbors, ascending.
        tails: ranks of the nodes themselves.
        up: keys of these arcs.
        down: keys of their reverses.
        middles: for up and down, the lower node that a shortcut passes; -1 for an arc of the graph.
        arcs: for up and down, the number of that arc.
    """

    rank: NDArray[np.int32]
    ptr: NDArray[np.int64]
    heads: NDArray[np.int32]
    tails: NDArray[np.int32]
    up: Keys
    down: Keys
    middles: tuple[NDArray[np.int32], NDArray[np.int32]]
    arcs: tuple[NDArray[np.int32], NDArray[np.int32]]

    @classmethod
    def of_graph(cls, graph: Graph, order: NDArray[np.int32], keys: Keys) -> TripHierarchy:
        """Contract a graph.

        Args:
            graph: the arcs; their weights are not used.
            order: `(n,)` nodes in the order of contraction, from `contraction_order`.
            keys: `(arcs,)` a key for each arc, of int64 or float64.

        Raises:
            ValueError: if the graph has no small cuts.
        """
        kernels = _kernels()
        rank = np.empty(graph.num_nodes, np.int32)
        rank[order] = np.arange(graph.num_nodes, dtype=np.int32)
        tails, heads = rank[graph.tails], rank[graph.indices]
        limit = SHORTCUTS_PER_NODE * graph.num_nodes
        ptr, higher = kernels.add_shortcuts(*_both_directions(graph.num_nodes, tails, heads), limit)
        if not len(higher) and graph.num_arcs:
            raise ValueError(
                f"graph: expected a road network, which has small cuts, got one that needs more than "
                f"{SHORTCUTS_PER_NODE} shortcuts per node; `graphs.ShortestPaths` is for such graphs"
            )
        up, down = np.full(len(higher), no_path(keys)), np.full(len(higher), no_path(keys))
        arcs = np.full(len(higher), -1, np.int32), np.full(len(higher), -1, np.int32)
        middles = np.full(len(higher), -1, np.int32), np.full(len(higher), -1, np.int32)
        kernels.place_arcs(ptr, higher, tails, heads, keys, up, down, *arcs)
        kernels.customize(ptr, higher, up, down, *middles)
        lower = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), np.diff(ptr))
        return cls(rank, ptr, higher, lower, up, down, middles, arcs)

    @property
    def infinity(self) -> Any:
        """The key of a pair that no path joins."""
        return no_path(self.up)

    def select(self, targets: Ends) -> Selection:
        """Prepare sweeps to some targets.

        Args:
            targets: how they are entered.
        """
        entries = self._by_rank(targets)
        wanted = np.unique(entries.nodes)
        return Selection(entries, _kernels().select(self.ptr, self.heads, self.down, wanted[wanted >= 0]))

    def matrix(self, sources: Ends, targets: Selection) -> Keys:
        """Compute the keys of the best paths from each source to each target, in one thread and without the lock.

        Args:
            sources: how they are left.
            targets: from `select`.

        Returns:
            `(sources, targets)` keys; `infinity` or more where there is no path.
        """
        out = np.empty((len(sources), len(targets.entries)), self.up.dtype)
        exits = self._by_rank(sources)
        arrays = self.ptr, self.heads, self.up, *targets.arrays
        entries = targets.entries
        _kernels().sweep(*arrays, exits.nodes, exits.keys, entries.nodes, entries.keys, self.infinity, out)
        return out

    def route(self, source: Ends, target: Ends) -> tuple[Any, int, NDArray[np.int64]] | None:
        """Find the best path between two places.

        Args:
            source: how the first is left, one row.
            target: how the second is entered, one row.

        Returns:
            The key, the node through which the source is left, and the arcs of the graph from there to the node through
            which the target is entered; None if there is no path.
        """
        kernels = _kernels()
        start, end = self._by_rank(source), self._by_rank(target)
        ends = start.nodes[0], start.keys[0], end.nodes[0], end.keys[0]
        arrays = self.ptr, self.heads, self.tails
        key, first, arcs, ways = kernels.find_route(*arrays, self.up, self.down, *ends, self.infinity)
        if first < 0:
            return None
        node = int(source.nodes[0][start.nodes[0] == first][0])
        return key, node, kernels.unpack(*arrays, *self.middles, *self.arcs, arcs, ways)

    def _by_rank(self, ends: Ends) -> Ends:
        ranks = np.where(ends.nodes >= 0, self.rank[ends.nodes], np.int32(-1))
        return Ends(np.ascontiguousarray(ranks, np.int32), np.ascontiguousarray(ends.keys, self.up.dtype))


def no_path(keys: Keys) -> Any:
    """The key that stands for "no path" among such keys.

    Args:
        keys: of int64 or float64.
    """
    return np.int64(LARGEST_KEY) if keys.dtype == np.int64 else np.float64(np.inf)


def contraction_order(graph: Graph) -> NDArray[np.int32]:
    """Find an order in which to contract the nodes: by cuts of the map, or by degree where nodes have no coordinates.

    Args:
        graph: a road network.  The order depends on its arcs and coordinates, not on its weights.

    Returns:
        `(n,)` nodes, those to contract first at the front.
    """
    library = optional("routingkit_cch", needed_for=FEATURE)
    arcs: tuple[int, Nodes, Nodes] = (graph.num_nodes, graph.tails.tolist(), graph.indices.tolist())
    if graph.coordinates is None:
        return np.array(library.compute_order_degree(*arcs), np.int32)
    longitude, latitude = graph.coordinates.astype(np.float32).T
    return np.array(library.compute_order_inertial(*arcs, latitude.tolist(), longitude.tolist()), np.int32)


def _both_directions(
    n: int, tails: NDArray[np.int32], heads: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Neighbors of each node, in either direction."""
    start, end = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    order = np.argsort(start, kind="stable")
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(start, minlength=n), out=indptr[1:])
    return indptr, end[order]


def _kernels() -> Any:
    optional("numba", needed_for=FEATURE)
    from trimetric.routing import hierarchy_kernels

    return hierarchy_kernels
