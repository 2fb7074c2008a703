"""The nearest streets of a place, each with its nearest point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.geography import EARTH_RADIUS, ground_meters
from trimetric.graphs.snapping import on_the_sphere
from trimetric.routing.road_map import RoadMap

PIECE = 50.0
"""meters: streets are indexed in pieces of about this length"""


class NearestStreets:
    """An index that finds several streets of a place; `snap_to_edges` finds the nearest.

    A street that goes both ways counts once.

    Args:
        roads: a map whose nodes have coordinates.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> corners = [[-8.0, 41.0], [-8.0, 41.01], [-7.99, 41.01]]
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0], directed=True, coordinates=corners)
        >>> nodes, _, meters = NearestStreets(RoadMap.of_graph(graph)).nearest(np.array([-8.0001, 41.005]), 2)
        >>> nodes.tolist(), meters.round().tolist()
        ([[0, 1], [0, 2]], [8.0, 342.0])
    """

    def __init__(self, roads: RoadMap) -> None:
        from scipy.spatial import KDTree

        graph = roads.graph
        if graph.coordinates is None:
            raise ValueError("roads: expected a map whose nodes have coordinates, got none")
        tails, heads = graph.tails.astype(np.int64), graph.indices.astype(np.int64)
        once = np.unique(np.minimum(tails, heads) * graph.num_nodes + np.maximum(tails, heads))
        self.ends = np.stack([once // graph.num_nodes, once % graph.num_nodes], axis=1)
        self.places = graph.coordinates
        start, end = self.places[self.ends[:, 0]], self.places[self.ends[:, 1]]
        lengths = ground_meters(start, end)
        piece = max(PIECE, float(lengths.sum()) / (8 * len(lengths) + 1000))  # long streets must not exhaust the memory
        count = np.maximum(1, np.ceil(lengths / piece)).astype(np.int64)
        self.street = np.repeat(np.arange(len(count)), count)
        step = np.arange(len(self.street)) - np.repeat(np.cumsum(count) - count, count)
        middles = (
            start[self.street] + ((step + 0.5) / count[self.street])[:, None] * _short_way(end - start)[self.street]
        )
        self.tree = KDTree(on_the_sphere(middles))
        self.half = float((lengths / count).max(initial=0.0)) / 2

    def nearest(
        self, place: NDArray[np.float64], number: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Find the nearest streets of a place.

        Args:
            place: longitude and latitude in degrees.
            number: how many; fewer are returned where the map has fewer.

        Returns:
            `(k, 2)` nodes at the ends of each street, the lower one first; `(k, 2)` the nearest point of each; `(k,)`
            meters to it, ascending.
        """
        pieces = min(len(self.street), 8 * number + 16)
        point = on_the_sphere(place[None])[0]
        while True:
            straight, found = (np.atleast_1d(part) for part in self.tree.query(point, k=pieces))
            streets = np.unique(self.street[found])
            points = self._nearest_points(place, streets)
            meters = ground_meters(np.broadcast_to(place, points.shape), points)
            order = np.lexsort((streets, meters))[:number]
            # A street that was not found has all its middles farther than the last one, and no point of it is nearer
            # than half a piece less.
            farthest = 2 * EARTH_RADIUS * np.arcsin(min(1.0, float(straight[-1]) / 2)) - self.half
            done = len(order) == number and meters[order[-1]] <= farthest
            if done or pieces == len(self.street):
                return self.ends[streets[order]], points[order], meters[order]
            pieces = min(len(self.street), 4 * pieces)

    def _nearest_points(self, place: NDArray[np.float64], streets: NDArray[np.int64]) -> NDArray[np.float64]:
        start, end = (self.places[self.ends[streets, side]] for side in (0, 1))
        scale = np.array([np.cos(np.radians(place[1])), 1.0])
        along = _short_way(end - start)
        square = ((along * scale) ** 2).sum(axis=1)
        ahead = (_short_way(place - start) * scale * along * scale).sum(axis=1)
        t = np.clip(ahead / np.where(square > 0, square, 1.0), 0.0, 1.0)
        return np.where(t[:, None] >= 1, end, start + t[:, None] * along)


def _short_way(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return differences of places, the short way around the earth."""
    found = degrees.copy()
    found[:, 0] -= 360 * np.rint(degrees[:, 0] / 360)
    return found
