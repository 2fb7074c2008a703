"""A contraction hierarchy: distances of pairs and matrices of distances, exact in whole units."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric._support.optional import optional
from trimetric.graphs.graph import Graph, Nodes

Distances = NDArray[np.float64]


class Hierarchy:
    """A customizable contraction hierarchy of RoutingKit, which can be sent to other threads and processes.

    The objects of the library can do neither: its queries belong to the thread that made them, and nothing can be
    pickled.  So each thread makes its own queries, and each process contracts the graph again in the order that was
    found once, which takes a small part of the time to find it.

    Args:
        key: a hash of the graph, by which a process recognizes a hierarchy that it already has.
        order: `(n,)` the nodes in the order of their contraction.
        tails: `(arcs,)` the node where each arc starts.
        heads: `(arcs,)` the node where each arc ends.
        weights: `(arcs,)` the weight of each arc, as a number of units.
        per_one: how many units are 1.

    Examples:
        >>> line = Hierarchy("a line", *map(np.array, ([0, 2, 1], [0, 1], [1, 2], [5, 25])), per_one=10)
        >>> line.matrix(np.array([0, 1]), np.array([0, 1, 2]))
        array([[0. , 0.5, 3. ],
               [inf, 0. , 2.5]])
    """

    def __init__(
        self,
        key: str,
        order: NDArray[np.integer],
        tails: NDArray[np.integer],
        heads: NDArray[np.integer],
        weights: NDArray[np.integer],
        *,
        per_one: int,
    ) -> None:
        self.key, self.order, self.tails, self.heads = key, order, tails, heads
        self.weights, self.per_one = weights, per_one
        self._of_thread = threading.local()

    @classmethod
    def of_graph(cls, graph: Graph, weights: NDArray[np.int64], *, per_one: int) -> Hierarchy:
        """Find an order of contraction: by coordinates, or by degree where there are none.

        Args:
            graph: a graph with small cuts; others exhaust the memory.
            weights: its weights, as numbers of units.
            per_one: how many units are 1.
        """
        library = _library()
        tails, heads = graph.tails, graph.indices
        arcs = graph.num_nodes, tails.tolist(), heads.tolist()
        if graph.coordinates is None:
            order = library.compute_order_degree(*arcs)
        else:
            longitude, latitude = graph.coordinates.astype(np.float32).T
            order = library.compute_order_inertial(*arcs, latitude.tolist(), longitude.tolist())
        return cls(graph.digest, np.array(order, np.int32), tails, heads, weights, per_one=per_one)

    def __reduce__(self) -> tuple[Callable[..., Hierarchy], tuple[Any, ...]]:
        return _receive, (self.key, self.order, self.tails, self.heads, self.weights, self.per_one)

    @cached_property
    def metric(self) -> Any:
        """The contracted graph with its weights, as an object of the library."""
        library = _library()
        contracted = library.CCH(self.order.tolist(), self.tails.tolist(), self.heads.tolist(), False)
        return library.CCHMetric(contracted, self.weights.tolist())

    @cached_property
    def _rank(self) -> NDArray[np.int64]:
        rank = np.empty(len(self.order), np.int64)
        rank[self.order] = np.arange(len(self.order))
        return rank

    def pairs(self, sources: Nodes, targets: Nodes) -> Distances:
        """Compute the distance of each pair.

        Args:
            sources: `(pairs,)` nodes where paths start.
            targets: `(pairs,)` nodes where they end.

        Returns:
            `(pairs,)` distances; infinite where there is no path.
        """
        query = getattr(self._of_thread, "query", None)
        if query is None:
            query = self._of_thread.query = _library().CCHQuery(self.metric)
        ends = zip(sources.tolist(), targets.tolist(), strict=True)
        return self._lengths([query.run(source, target).distance for source, target in ends])

    def matrix(self, sources: Nodes, targets: Nodes) -> Distances:
        """Compute the distances from each source to each target.

        The longer of the two lists is prepared, and the hierarchy swept once for each node of the shorter one: a sweep
        to many nodes is cheaper than as many more sweeps.

        Args:
            sources: `(s,)` nodes where paths start; they may repeat.
            targets: `(t,)` nodes where they end; they may repeat.

        Returns:
            `(s, t)` distances; infinite where there is no path.
        """
        if not len(sources) or not len(targets):
            return np.empty((len(sources), len(targets)))
        if len(sources) > len(targets):
            pinned = self._by_rank(sources)
            sweeps = _library().CCHManyToOne(self.metric, sources[pinned].tolist())
            return self._swept(sweeps.distances_to, targets, pinned).T
        pinned = self._by_rank(targets)
        sweeps = _library().CCHOneToMany(self.metric, targets[pinned].tolist())
        return self._swept(sweeps.distances_from, sources, pinned)

    def _swept(self, sweep: Callable[[int], list[int | None]], nodes: Nodes, pinned: Nodes) -> Distances:
        """Sweep for each of the nodes; `pinned` is the order of the results."""
        found = np.empty((len(nodes), len(pinned)))
        for i in self._by_rank(nodes).tolist():
            found[i, pinned] = self._lengths(sweep(int(nodes[i])))
        return found

    def _by_rank(self, nodes: Nodes) -> Nodes:
        """Sort nodes by their place in the hierarchy: neighboring sweeps read the same memory, a fifth faster."""
        return np.argsort(self._rank[nodes], kind="stable")

    def _lengths(self, units: list[int | None]) -> Distances:
        found = np.array(units, np.float64)  # None becomes NaN
        found[np.isnan(found)] = np.inf
        # One division rounds once; a product with a unit such as .001 would round twice.
        return found / self.per_one


_received: dict[str, Hierarchy] = {}
"""the last hierarchy that another process has sent, which comes with every call and is contracted once"""


def _receive(key: str, *parts: Any) -> Hierarchy:
    found = _received.get(key)
    if found is None:
        *arrays, per_one = parts
        found = Hierarchy(key, *arrays, per_one=per_one)
        _received.clear()
        _received[key] = found
    return found


def _library() -> Any:
    return optional("routingkit_cch", needed_for="the engine 'hierarchy'")
