"""Snapping places to the nearest point of a street, within a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric.graphs.geography import EARTH_RADIUS, ground_meters
from trimetric.graphs.snapping import MAX_SNAP, off_the_map, on_the_sphere, pairs_of_numbers, valid_degrees
from trimetric.routing.positions import Positions
from trimetric.routing.road_map import RoadMap

PIECE = 50.0
"""meters: streets are indexed in pieces of about this length"""
SLACK = 1e-3  # meters, for what rounding does to distances between places
PLACES_AT_ONCE = 4096


def snap_to_edges(roads: RoadMap, places: ArrayLike, *, limit: float = MAX_SNAP) -> Positions:
    """Find the nearest point on a street for each place.

    Streets are straight between their nodes, on the plane that touches the earth at the place.

    Args:
        roads: a map with coordinates.
        places: `(places, 2)` longitude and latitude in degrees.
        limit: the largest distance between a place and its street, in meters; `inf` for no limit.

    Returns:
        The positions, in the order of the places.

    Raises:
        OffTheMapError: if a place is farther from every street; it names the row.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> corners = [[-8.0, 41.0], [-8.0, 41.01], [-7.99, 41.01]]
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0], directed=True, coordinates=corners)
        >>> found = snap_to_edges(RoadMap.of_graph(graph), [[-8.0001, 41.0025]])
        >>> graph.tails[found.arcs].tolist(), found.fractions.round(3).tolist(), found.meters.round().tolist()
        ([0], [0.25], [8.0])
    """
    wanted = pairs_of_numbers("places", places)
    if not limit >= 0:
        raise ValueError(f"limit: expected meters >= 0, got {limit!r}")
    index = _index_of(roads)
    sound = valid_degrees(wanted)
    found = index.nearest(np.where(sound[:, None], wanted, index.somewhere))
    bad = ~sound | ~(found.meters <= limit)
    if bad.any():

        def meters(points: NDArray[np.float64]) -> NDArray[np.float64]:
            return index.nearest(points).meters

        raise off_the_map(wanted, int(bad.argmax()), meters, limit, noun="street")
    return found


class _EdgeIndex:
    """Pieces of all streets in a tree of points on the sphere."""

    def __init__(self, roads: RoadMap) -> None:
        from scipy.spatial import KDTree

        graph, reverse = roads.graph, roads.reverse_arcs
        if graph.coordinates is None:
            raise ValueError("roads: expected a map whose nodes have coordinates, got none; use ids of nodes instead")
        if not valid_degrees(pairs_of_numbers("coordinates", graph.coordinates)).all():
            raise ValueError("roads: expected coordinates in degrees, got others; use ids of nodes instead")
        # Of the two arcs of a street that goes both ways, the first one stands for both.
        arcs = np.flatnonzero((reverse < 0) | (np.arange(graph.num_arcs) < reverse))
        if not len(arcs):
            raise ValueError("roads: expected a map with streets, got none")
        self.arcs, self.reverse, self.coordinates = arcs, reverse[arcs], graph.coordinates
        self.tails, self.heads = graph.tails[arcs].astype(np.int64), graph.indices[arcs].astype(np.int64)
        start, end = self.coordinates[self.tails], self.coordinates[self.heads]
        lengths = ground_meters(start, end)
        piece = max(PIECE, lengths.sum() / (8 * len(arcs) + 1000))  # long streets must not exhaust the memory
        count = np.maximum(1, np.ceil(lengths / piece)).astype(np.int64)
        self.edge = np.repeat(np.arange(len(arcs)), count)
        step = np.arange(len(self.edge)) - np.repeat(np.cumsum(count) - count, count)
        middle = start[self.edge] + ((step + 0.5) / count[self.edge])[:, None] * _wrapped(end - start)[self.edge]
        self.half = float((lengths / count).max(initial=0.0)) / 2
        self.tree = KDTree(on_the_sphere(middle))
        self.somewhere = self.coordinates[0]

    def nearest(self, places: NDArray[np.float64]) -> Positions:
        """Find the nearest point of a street for each place, without a limit."""
        parts = [self._nearest(places[i : i + PLACES_AT_ONCE]) for i in range(0, len(places), PLACES_AT_ONCE)]
        if not parts:
            parts = [self._nearest(places)]
        edge, fraction, at, meters = (np.concatenate(part) for part in zip(*parts, strict=True))
        at_tail, at_head = fraction <= 0, fraction >= 1
        inside = ~(at_tail | at_head)
        return Positions(
            nodes=np.where(inside, -1, np.where(at_tail, self.tails[edge], self.heads[edge])),
            arcs=np.where(inside, self.arcs[edge], -1),
            reverse_arcs=np.where(inside, self.reverse[edge], -1),
            fractions=np.where(inside, fraction, 0.0),
            coordinates=at,
            meters=meters,
        )

    def _nearest(self, places: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
        points = on_the_sphere(places)
        straight, _ = self.tree.query(points)
        # The nearest street is no farther than the nearest middle of a piece, and some middle of it is half a piece
        # farther at most.
        reach = _arc(np.asarray(straight)) + self.half + SLACK
        near = self.tree.query_ball_point(points, _chord(reach), return_sorted=True)
        counts = np.array([len(row) for row in near], np.int64)
        row = np.repeat(np.arange(len(places)), counts)
        piece = np.fromiter((i for candidates in near for i in candidates), np.int64, int(counts.sum()))
        edge = self.edge[piece]
        start = self.coordinates[self.tails[edge]]
        scale = np.stack([np.cos(np.radians(places[:, 1])), np.ones(len(places))], axis=1)[row]
        along = _wrapped(self.coordinates[self.heads[edge]] - start) * scale
        to_place = _wrapped(places[row] - start) * scale
        square = (along**2).sum(1)
        fraction = np.clip((along * to_place).sum(1) / np.where(square > 0, square, 1.0), 0.0, 1.0)
        at = _between(start, self.coordinates[self.heads[edge]], fraction)
        meters = ground_meters(places[row], at)
        # The first row of each place in this order is its nearest street, and of equally near ones the first arc.
        order = np.lexsort((edge, meters, row))
        best = order[np.cumsum(counts) - counts]
        return edge[best], fraction[best], at[best], meters[best]


def _index_of(roads: RoadMap) -> _EdgeIndex:
    """The index of a map, made once."""
    found = roads.__dict__.get("_edge_index")
    if found is None:
        found = roads.__dict__["_edge_index"] = _EdgeIndex(roads)
    return found


def _wrapped(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of places, the short way around the earth."""
    wrapped = degrees.copy()
    wrapped[:, 0] -= 360 * np.rint(degrees[:, 0] / 360)
    return wrapped


def _between(
    start: NDArray[np.float64], end: NDArray[np.float64], fraction: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Points on straight streets; exactly the end where the fraction is 1."""
    t = fraction[:, None]
    at = np.where(t >= 1, end, start + t * _wrapped(end - start))
    at[:, 0] = np.where(np.abs(at[:, 0]) > 180, at[:, 0] - np.copysign(360, at[:, 0]), at[:, 0])
    return at


def _arc(straight: NDArray[np.float64]) -> NDArray[np.float64]:
    return 2 * EARTH_RADIUS * np.arcsin(np.clip(straight / 2, 0, 1))


def _chord(meters: NDArray[np.float64]) -> NDArray[np.float64]:
    return 2 * np.sin(np.minimum(meters / EARTH_RADIUS, np.pi) / 2)
