"""Trips to train on: pairs of nodes across all scales, or as far apart as the user's own queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric._support.progress import Shown, WorkProgress
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.learning.trip_kernels import draw_nearby, draw_targets, settle_all
from trimetric.graphs.paths.parallel import in_parallel

INTERVALS = 40
NEAREST = 64  # nodes of the smallest neighborhood; the next ones are four times as large


@dataclass(frozen=True, eq=False)
class Trips:
    """Pairs of different nodes with exact distances above 0, in random order; a pair may occur more than once.

    Attributes:
        starts: `(trips,)` nodes where they start.
        ends: `(trips,)` nodes where they end.
        lengths: `(trips,)` distances in float32.

    Examples:
        >>> trips = Trips(np.array([0, 1]), np.array([1, 2]), np.array([2.0, 3.0], np.float32))
        >>> len(trips)
        2
    """

    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    lengths: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice | NDArray[np.bool_] | NDArray[np.int64]) -> Trips:
        return Trips(self.starts[rows], self.ends[rows], self.lengths[rows])


def join_trips(parts: Sequence[Trips], *, seed: int) -> Trips:
    """Put trips together, in random order.

    Args:
        parts: the trips.
        seed: for the order.

    Examples:
        >>> one = Trips(np.array([0, 1]), np.array([1, 2]), np.array([2.0, 3.0], np.float32))
        >>> len(join_trips([one, one], seed=0))
        4
    """
    starts, ends, lengths = (
        np.concatenate(columns)
        for columns in zip(*((part.starts, part.ends, part.lengths) for part in parts), strict=True)
    )
    order = np.random.default_rng(seed).permutation(len(starts))
    return Trips(starts[order], ends[order], lengths[order])


def draw_nearby_trips(
    graph: Graph, count: int, *, most: int, without: Nodes | None = None, symmetric: bool = False, seed: int = 0
) -> Trips:
    """Draw trips to the nearest 64, 256, 1024, ... nodes of random nodes, as many of each size.

    Searches end at the size of the neighborhood, so that many nodes can be starts.

    Args:
        graph: the graph.
        count: about how many trips.
        most: the size of neighborhoods is below that, except for the first.
        without: `(pairs, 2)` nodes of trips to leave out.
        symmetric: whether to leave out their reverses, too.
        seed: for the nodes.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> trips = draw_nearby_trips(graph, 64, most=4)
        >>> bool((trips.lengths > 0).all())
        True
    """
    sizes = [NEAREST]
    while sizes[-1] * 4 < most:
        sizes.append(sizes[-1] * 4)
    random, parts = np.random.default_rng(seed), []
    for size in sizes:
        draws = min(max(size // 4, 16), 500)
        sources = random.integers(graph.num_nodes, size=max(1, count // len(sizes) // draws)).astype(np.int32)
        chance = random.random((len(sources), draws), np.float32)
        ends, lengths = draw_nearby(
            graph.indptr, graph.indices, graph.weights, sources, min(size, graph.num_nodes), chance
        )
        kept = ends >= 0
        starts = np.repeat(sources, draws).reshape(ends.shape)[kept]
        parts.append(Trips(starts, ends[kept], lengths[kept]))
    return _leave_out(join_trips(parts, seed=seed), without, graph.num_nodes, symmetric)


def draw_trips(
    graph: Graph,
    count: int,
    *,
    trees: int,
    like: NDArray[np.floating] | None = None,
    without: Nodes | None = None,
    symmetric: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    progress: Shown = "silent",
) -> Trips:
    """Draw trips from shortest-path trees of random nodes, the same number from each.

    By default half of the ends are drawn evenly from all nodes, and the other half evenly in the logarithm of their
    rank by distance from the start: as many to the nearest 10 nodes as to the next 90.  With `like`, distances are
    distributed as those.

    Args:
        graph: the graph.
        count: about how many trips.
        trees: number of nodes where trips start, at most all.
        like: distances whose distribution is wanted.
        without: `(pairs, 2)` nodes of trips to leave out, such as those of a test.
        symmetric: whether to leave out their reverses, too.
        seed: for the nodes.
        jobs: how many trees at a time, see `in_parallel`.
        progress: "auto" shows a progress bar, "silent" shows nothing.

    Returns:
        The trips; fewer than `count` where some were left out or no node is as far away as wanted.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> trips = draw_trips(graph, 8, trees=4)
        >>> len(trips), bool((trips.lengths > 0).all())
        (8, True)
        >>> set(draw_trips(graph, 8, trees=4, like=np.array([1.0, 1.5, 2.0])).lengths.tolist()) <= {1.0, 2.0}
        True
    """
    checks.positive_int("count", count)
    random = np.random.default_rng(seed)
    sources = random.choice(graph.num_nodes, min(checks.positive_int("trees", trees), graph.num_nodes), replace=False)
    each = -(-count // len(sources))
    borders = np.empty(0)
    if like is not None:
        borders = np.quantile(np.asarray(like, np.float64), np.linspace(0, 1, INTERVALS + 1))
        borders[0] = 0.0
    arrays = graph.indptr, graph.indices, graph.weights
    calls = [
        (*arrays, int(source), borders, each, child)
        for source, child in zip(sources, random.integers(2**62, size=len(sources)).tolist(), strict=True)
    ]
    ends = np.empty((len(calls), each), np.int32)
    lengths = np.empty((len(calls), each), np.float32)
    with WorkProgress("trees", len(calls), progress) as shown:
        for i, (targets, far) in enumerate(in_parallel(_trips_of_one, calls, jobs=jobs)):
            ends[i], lengths[i] = targets, far
            shown.advance(1)
    kept = (ends >= 0) & np.isfinite(lengths)
    starts = np.repeat(sources.astype(np.int32), each).reshape(ends.shape)[kept]
    found = Trips(starts, ends[kept], lengths[kept])
    return _leave_out(found, without, graph.num_nodes, symmetric, order=random)


def _trips_of_one(indptr, indices, weights, source, borders, count, seed):
    """Importable, so that other processes can run it; NaN lengths mark trips that do not exist."""
    distance, order = settle_all(indptr, indices, weights, source)
    targets = draw_targets(distance, order, borders, np.random.default_rng(seed).random((count, 2)))
    lengths = np.where(targets >= 0, distance[targets], np.nan).astype(np.float32)
    return targets, lengths


def _leave_out(
    trips: Trips, pairs: Nodes | None, num_nodes: int, symmetric: bool, order: np.random.Generator | None = None
) -> Trips:
    if pairs is not None and len(pairs):
        trips = trips[~_among(trips, pairs, num_nodes, symmetric)]
    return trips if order is None else trips[order.permutation(len(trips))]


def _among(trips: Trips, pairs: Nodes, num_nodes: int, symmetric: bool) -> NDArray[np.bool_]:
    listed = np.asarray(pairs, np.int64)
    keys = listed[:, 0] * num_nodes + listed[:, 1]
    if symmetric:
        keys = np.concatenate([keys, listed[:, 1] * num_nodes + listed[:, 0]])
    keys = np.unique(keys)
    asked = trips.starts.astype(np.int64) * num_nodes + trips.ends
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return keys[place] == asked
