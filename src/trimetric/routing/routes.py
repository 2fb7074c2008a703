"""The best route between two places, with its geometry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric.graphs.snapping import MAX_SNAP
from trimetric.routing.costs import Annotation
from trimetric.routing.ends import entries, exits, shorten_on_streets
from trimetric.routing.matrices import as_positions
from trimetric.routing.positions import Positions
from trimetric.routing.road_map import RoadMap, Weight


@dataclass(frozen=True, eq=False, kw_only=True)
class Route:
    """A best route.

    Attributes:
        source: where it starts, one position.
        target: where it ends, one position.
        nodes: the nodes of the map that it passes, in order.
        coordinates: `(points, 2)` longitude and latitude along it, from source to target.
        costs: "duration" in seconds and "distance" in meters, as far as the map has them.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> from trimetric.routing import positions_at_nodes
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0], directed=True)
        >>> roads = RoadMap.of_graph(graph, weight="time")
        >>> places = positions_at_nodes(roads, [1, 0])
        >>> route(roads, places[:1], places[1:]).nodes.tolist()
        [1, 2, 0]
    """

    source: Positions
    target: Positions
    nodes: NDArray[np.int64]
    coordinates: NDArray[np.float64]
    costs: dict[Annotation, float]


def route(
    roads: RoadMap,
    source: Positions | ArrayLike,
    target: Positions | ArrayLike,
    *,
    weight: Weight | None = None,
    limit: float = MAX_SNAP,
) -> Route | None:
    """Find the best route between two places.

    Its costs are those of `travel_matrix`.  Turn restrictions are ignored.

    Args:
        roads: the map.
        source: one position, or its longitude and latitude as `(2,)` or `(1, 2)`.
        target: likewise.
        weight: "time" for the fastest route, "length" for the shortest; by default "time" if the map has travel times.
        limit: how far a place may be from its street, in meters.

    Returns:
        The route; None if there is none.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> corners = [[-8.0, 41.0], [-8.0, 41.01], [-7.99, 41.01]]
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0], directed=True, coordinates=corners)
        >>> found = route(RoadMap.of_graph(graph), [-8.0, 41.01], [-8.0, 41.005])
        >>> found.nodes.tolist(), found.costs
        ([1, 2, 0], {'duration': 160.0})
    """
    start, end = _one(roads, "source", source, limit), _one(roads, "target", target, limit)
    keys, hierarchy = roads.hierarchy(weight or roads.weights[0], tuple(roads.costs))
    leaving, arriving = exits(roads, keys, start), entries(roads, keys, end)
    found = hierarchy.route(leaving, arriving)
    key = np.array([[hierarchy.infinity if found is None else found[0]]])
    around = key[0, 0]
    shorten_on_streets(roads, keys, start, end, key)
    if key[0, 0] >= hierarchy.infinity:
        return None
    nodes = np.empty(0, np.int64)
    if found is not None and key[0, 0] == around:
        nodes = np.concatenate([[found[1]], roads.graph.indices[found[2]]]).astype(np.int64)
    costs: dict[Annotation, float] = {name: float(cost[0, 0]) for name, cost in keys.split(key).items()}
    return Route(source=start, target=end, nodes=nodes, coordinates=_line(roads, start, nodes, end), costs=costs)


def _one(roads: RoadMap, name: str, place: Positions | ArrayLike, limit: float) -> Positions:
    given = place if isinstance(place, Positions) else np.atleast_2d(np.asarray(place, np.float64))
    found = as_positions(roads, name, given, limit)
    if len(found) != 1:
        raise ValueError(f"{name}: expected one place, got {len(found)}")
    return found


def _line(roads: RoadMap, start: Positions, nodes: NDArray[np.int64], end: Positions) -> NDArray[np.float64]:
    """The points along a route, without repeating one at once."""
    places = roads.graph.coordinates
    inner = np.full((len(nodes), 2), np.nan) if places is None else places[nodes]
    points = np.concatenate([start.coordinates, inner, end.coordinates])
    kept = np.ones(len(points), dtype=bool)
    kept[1:-1] = (points[1:-1] != points[:-2]).any(1)
    if len(points) > 2:
        kept[-2] &= bool((points[-1] != points[-2]).any())
    return points[kept]
