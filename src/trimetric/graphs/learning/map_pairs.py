"""Trips that a map model is validated and tested on, and those that its users ask for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric.graphs.graph import Graph, Nodes, node_numbers
from trimetric.graphs.learning.map_choices import LIKE_QUERIES
from trimetric.graphs.learning.trips import Trips, draw_nearby_trips, draw_trips
from trimetric.graphs.paths.pair_sampling import PairSample
from trimetric.graphs.paths.shortest_paths import ShortestPaths

SHORT = 0.1  # of the mean distance: what is a short trip
SHORT_PAIRS = 5_000
QUERIES = 20_000  # whose distances are computed


def asked_trips(graph: Graph, paths: ShortestPaths, queries: ArrayLike | None, seed: int) -> Trips | None:
    """Some of the user's queries with exact distances."""
    if queries is None:
        return None
    pairs = node_numbers("queries", queries, graph)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"queries: expected (queries, 2) nodes, from and to, got shape {pairs.shape}")
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if len(pairs) > QUERIES:
        pairs = pairs[np.random.default_rng(seed).choice(len(pairs), QUERIES, replace=False)]
    lengths = paths.pairs(pairs[:, 0], pairs[:, 1])
    kept = (lengths > 0) & np.isfinite(lengths)
    if not kept.any():
        raise ValueError("queries: expected a query between two different places, got none")
    return _of_pairs(pairs[kept], lengths[kept])


def held_out_trips(
    graph: Graph, drawn: PairSample, *, directed: bool, seed: int, asked: Trips | None
) -> dict[str, Trips]:
    """Trips that nothing is trained on: every second one for validation, the others for the report."""
    random = trips_of(drawn, drawn.validation_rows)
    limit = SHORT * float(drawn.lengths.mean())
    near = draw_nearby_trips(graph, 4 * SHORT_PAIRS, most=max(2, graph.num_nodes // 4), seed=seed + 10)
    short = near[near.lengths < limit][slice(0, SHORT_PAIRS)]
    sets = {"random": random}
    if len(short) >= 2:
        sets["short"] = short
    if asked is not None:
        trees = min(graph.num_nodes, 400)
        like = draw_trips(
            graph, 2 * SHORT_PAIRS, trees=trees, like=asked.lengths, symmetric=not directed, seed=seed + 11
        )
        sets = {LIKE_QUERIES: like, **sets}
    return {name: trips for name, trips in sets.items() if len(trips)}


def trips_of(sample: PairSample, rows: slice) -> Trips:
    """Make trips of some rows of a sample."""
    return _of_pairs(sample.ends[rows], sample.lengths[rows])


def _of_pairs(ends: Nodes, lengths: NDArray[np.float64]) -> Trips:
    kept = lengths > 0
    starts, stops = ends[kept].astype(np.int32).T
    return Trips(np.ascontiguousarray(starts), np.ascontiguousarray(stops), lengths[kept].astype(np.float32))


def ends_of(trips: Trips) -> Nodes:
    """List the nodes of trips, `(trips, 2)`."""
    return np.stack([trips.starts, trips.ends], axis=1).astype(np.int64)
