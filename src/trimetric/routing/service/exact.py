"""Exact travel times on the roads of a map."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.graph import Graph
from trimetric.graphs.paths.dijkstra_kernels import dijkstra_tree
from trimetric.routing.costs import Annotation, CostKeys
from trimetric.routing.edge_snapping import snap_to_edges
from trimetric.routing.ends import entries, exits
from trimetric.routing.matrices import TravelJob
from trimetric.routing.positions import Positions, positions_at_nodes
from trimetric.routing.road_map import MEASURES, RoadMap, Weight
from trimetric.routing.routes import route
from trimetric.routing.service.engine import Floats, Leg, Waypoints, check_annotations
from trimetric.routing.service.learned import no_segment
from trimetric.routing.service.legs import detailed_leg, plain_leg
from trimetric.routing.service.limits import Deadline
from trimetric.routing.service.nearest_streets import NearestStreets
from trimetric.routing.service.refusals import RefusedError

CELLS = 200_000
"""pairs between two looks at the clock"""


class ExactEngine:
    """A road map as an engine.

    Args:
        roads: the map.
        weight: what routes minimize.

    Examples:
        >>> corners = [[-8.0, 41.0], [-8.0, 41.01], [-7.99, 41.01]]
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0], directed=True, coordinates=corners)
        >>> engine = ExactEngine(RoadMap.of_graph(graph), "time")
        >>> engine.field(engine.at_nodes(np.array([1])), reverse=False)
        array([130.,   0.,  50.])
        >>> engine.field(engine.at_nodes(np.array([1])), reverse=True)
        array([ 60.,   0., 140.])
    """

    name = "exact"

    def __init__(self, roads: RoadMap, weight: Weight) -> None:
        self.roads = roads
        self.weight: Weight = weight
        first = MEASURES[weight]
        self.annotations: tuple[str, ...] = (first, *(name for name in roads.costs if name != first))
        self.places = roads.graph.coordinates
        self.has_routes = self.places is not None
        graph = roads.graph
        self._ahead = Graph(indptr=graph.indptr, indices=graph.indices, weights=roads.costs[first], directed=True)
        self._tails = graph.tails
        self._key = CostKeys((first,), 0, whole=False)  # costs of parts of streets as they are
        self._streets: NearestStreets | None = None

    def prepare(self) -> None:
        """Build the hierarchies and the index of streets, and compile what is compiled on first use."""
        _ = self._ahead.reverse
        known: tuple[Annotation, ...] = tuple(cast("Annotation", name) for name in self.annotations)
        self.roads.hierarchy(self.weight, known[:1])
        here = self.at_nodes(np.array([0, self.roads.graph.num_nodes - 1]))
        if self.places is not None:
            self._streets = NearestStreets(self.roads)
            here = self.snap(self.places[[0, -1]], np.full(2, np.inf))
            self.route(here, 0, 1, parts=True)
        for count in range(1, len(known) + 1):
            self.matrix(here, here, self.annotations[:count], Deadline(3600.0))
        self.field(here, reverse=False)

    def find(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of nodes by their ids; -1 where there is no such node."""
        if not hasattr(self, "_numbers"):
            self._numbers = {name: number for number, name in enumerate(self.roads.graph.ids())}
        return np.array([self._numbers.get(name, -1) for name in ids], np.int64)

    def node_id(self, node: int) -> Any:
        """Return the id of a node, a number where it is one."""
        names = self.roads.graph.names
        name = node if names is None else names[node]
        return int(name) if str(name).isdecimal() else str(name)

    def take(self, places: Waypoints, rows: NDArray[np.int64]) -> Any:
        """Return `snapped` of some of the places."""
        return places.snapped[rows]

    def at_nodes(self, nodes: NDArray[np.int64]) -> Waypoints:
        """Return places at nodes."""
        return self._waypoints(positions_at_nodes(self.roads, nodes))

    def snap(self, places: Floats, limits: Floats) -> Waypoints:
        """Move places to the nearest streets."""
        self._check_places()
        found = snap_to_edges(self.roads, places, limit=np.inf)
        bad = ~(found.meters <= limits)
        if bad.any():
            row = int(bad.argmax())
            raise no_segment(row, float(found.meters[row]), float(limits[row]))
        return self._waypoints(found)

    def nearest(self, place: Floats, number: int, limit: float) -> Waypoints:
        """Find the nearest streets of a place."""
        self._check_places()
        self._streets = self._streets or NearestStreets(self.roads)
        nodes, locations, meters = self._streets.nearest(place, number)
        near = meters <= limit
        if not near.any():
            raise no_segment(0, float(meters[0]), limit)
        return Waypoints(locations[near], meters[near], nodes[near], None)

    def _check_places(self) -> None:
        if self.places is None:
            raise RefusedError(
                "NotImplemented", "coordinates: expected a map with places, got one whose nodes have none"
            )

    def _waypoints(self, found: Positions) -> Waypoints:
        inside = found.arcs >= 0
        arcs = np.where(inside, found.arcs, 0)
        low = np.where(inside, self._tails[arcs], found.nodes)
        high = np.where(inside, self.roads.graph.indices[arcs], found.nodes)
        return Waypoints(found.coordinates, found.meters, np.stack([low, high], axis=1), found)

    def matrix(
        self, sources: Waypoints, targets: Waypoints, annotations: Collection[str], deadline: Deadline
    ) -> dict[str, Floats]:
        """Compute costs of the same best routes, exactly."""
        check_annotations(self, annotations)
        wanted: tuple[Annotation, ...] = tuple(
            cast("Annotation", name) for name in self.annotations if name in annotations
        )
        job = TravelJob.prepare(self.roads, targets.snapped, weight=self.weight, annotations=wanted)
        rows, columns = len(sources.locations), len(targets.locations)
        found: dict[str, Floats] = {name: np.empty((rows, columns)) for name in wanted}
        step = max(16, CELLS // max(1, columns))  # a sweep serves 16 sources
        for first in range(0, rows, step):
            deadline.check()
            block = job.rows(sources.snapped[first : first + step])
            for name, values in block.items():
                found[name][first : first + step] = values
        return found

    def route(self, places: Waypoints, start: int, end: int, *, parts: bool) -> Leg | None:
        """Find the best route from one of the places to another."""
        ends: list[Positions] = [places.snapped[i : i + 1] for i in (start, end)]
        found = route(self.roads, *ends, weight=self.weight)
        if found is None:
            return None
        return detailed_leg(self.roads, found) if parts else plain_leg(found)

    def field(self, place: Waypoints, *, reverse: bool) -> Floats:
        """Compute the least costs from a place to every node, or from every node to it, by one search."""
        here: Positions = place.snapped[:1]
        ends = (entries if reverse else exits)(self.roads, self._key, here)
        start = np.full(self.roads.graph.num_nodes, np.inf)
        known = ends.nodes[0] >= 0
        np.minimum.at(start, ends.nodes[0][known], ends.keys[0][known])
        graph = self._ahead.reverse if reverse else self._ahead
        return dijkstra_tree(graph.indptr, graph.indices, graph.weights, start)
