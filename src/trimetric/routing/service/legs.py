"""Routes of a road map as lines whose parts have costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimetric.routing.positions import Positions
from trimetric.routing.road_map import RoadMap
from trimetric.routing.routes import Route
from trimetric.routing.service.engine import Floats, Leg


def plain_leg(found: Route) -> Leg:
    """Describe a route by its points and its costs as a whole.

    Args:
        found: the route.
    """
    line = found.coordinates if len(found.coordinates) > 1 else np.repeat(found.coordinates, 2, axis=0)
    return Leg({str(name): cost for name, cost in found.costs.items()}, line, {}, np.empty(0, np.int64))


def detailed_leg(roads: RoadMap, found: Route) -> Leg:
    """Describe a route by its points and the costs between them.

    Args:
        roads: the map, whose nodes have places.
        found: the route.

    Returns:
        The leg; the costs of its parts add up to those of the whole.
    """
    costs: dict[str, float] = {str(name): cost for name, cost in found.costs.items()}
    ends = (found.source, found.target)
    nodes = found.nodes
    if not len(nodes):  # along one street
        line = np.concatenate([place.coordinates for place in ends])
        return Leg(costs, line, {name: np.array([cost]) for name, cost in costs.items()}, nodes)
    places = roads.graph.coordinates
    if places is None:
        raise ValueError("roads: expected a map whose nodes have coordinates, got none")
    arcs = arcs_along(roads, nodes)
    # A place inside a street is a point of its own before the first node, or after the last.
    before, after = (int(place.nodes[0] < 0) for place in ends)
    line = np.concatenate([ends[0].coordinates[:before], places[nodes], ends[1].coordinates[:after]])
    parts: dict[str, Floats] = {}
    for name, total in costs.items():
        inner = roads.costs[name][arcs]  # type: ignore[index]
        first = _first_part(roads, ends[0], int(nodes[0]), name) if before else 0.0
        last = max(0.0, total - first - float(inner.sum()))
        parts[name] = np.concatenate([[first][:before], inner, [last][:after]])
    if len(line) == 1:  # from a node to itself
        return Leg(costs, np.repeat(line, 2, axis=0), {name: np.zeros(1) for name in costs}, nodes)
    return Leg(costs, line, parts, nodes)


def arcs_along(roads: RoadMap, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find the arcs between successive nodes.

    Args:
        roads: the map.
        nodes: of a route.

    Returns:
        `(nodes - 1,)` numbers of arcs.
    """
    graph = roads.graph
    ends = zip(nodes[:-1].tolist(), nodes[1:].tolist(), strict=True)
    rows = [(int(graph.indptr[tail]), int(graph.indptr[tail + 1]), head) for tail, head in ends]
    return np.array([low + int(np.searchsorted(graph.indices[low:high], head)) for low, high, head in rows], np.int64)


def _first_part(roads: RoadMap, place: Positions, node: int, name: str) -> float:
    """Return the cost of the way from a place inside a street to the node through which the route leaves it."""
    arc, fraction = int(place.arcs[0]), float(place.fractions[0])
    costs = roads.costs[name]  # type: ignore[index]
    if int(roads.graph.indices[arc]) == node:
        return (1 - fraction) * float(costs[arc])
    return fraction * float(costs[int(place.reverse_arcs[0])])
