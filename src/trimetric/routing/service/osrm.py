"""The answers of OSRM's services, version 1: `table`, `nearest` and `route`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.geography import ground_meters
from trimetric.routing.service.engine import UNITS, Engine, Floats, Leg, Waypoints, check_annotations
from trimetric.routing.service.limits import Deadline, Limits
from trimetric.routing.service.polyline import encode_polyline
from trimetric.routing.service.queries import Query
from trimetric.routing.service.refusals import RefusedError
from trimetric.routing.service.simplifying import simplify

MOST_NEAREST = 100
"""roads that `nearest` returns at most"""

DATASOURCE = "map"
LARGEST_SCALED = 1e15  # what a scale factor makes of a duration at most, as JSON has no infinity


def table(engine: Engine, query: Query, *, max_snap: float, limits: Limits, deadline: Deadline) -> dict[str, Any]:
    """Answer a request for a matrix.

    Args:
        engine: the map.
        query: the request.
        max_snap: the largest distance to a road where the request gives none, in meters.
        limits: of a request.
        deadline: when to give up.

    Returns:
        The body of the response.
    """
    options = query.options
    every = list(range(len(query.places)))
    rows, columns = (options.get(name) or every for name in ("sources", "destinations"))
    limits.check_cells(len(rows), len(columns))
    wanted = options.get("annotations", frozenset({"duration"}))
    if not wanted:
        raise RefusedError("InvalidOptions", "annotations: expected duration, distance or both, got none")
    check_annotations(engine, wanted)
    speed = options.get("fallback_speed")
    if speed is not None and engine.annotations[0] != "duration":
        raise RefusedError("NotImplemented", "fallback_speed: expected only where routes minimize the duration")
    snapped = engine.snap(query.places, query.radiuses(max_snap))
    sources, targets = part(engine, snapped, rows), part(engine, snapped, columns)
    found = engine.matrix(sources, targets, wanted, deadline)
    answer: dict[str, Any] = {"code": "Ok"}
    missing = ~np.isfinite(next(iter(found.values())))
    if speed is not None:
        places = query.places if options.get("fallback_coordinate", "input") == "input" else snapped.locations
        cells = np.argwhere(missing)
        straight = ground_meters(places[np.array(rows)[cells[:, 0]]], places[np.array(columns)[cells[:, 1]]])
        for name, values in found.items():
            values[missing] = straight / speed if name == "duration" else straight
        answer["fallback_speed_cells"] = cells.tolist()
    elif missing.all():
        raise RefusedError("NoTable", "no route from any source to any destination")
    if "scale_factor" in options:
        if "duration" not in found:
            raise RefusedError("InvalidOptions", "scale_factor: expected only with annotations=duration")
        with np.errstate(over="ignore"):
            found["duration"] = np.minimum(found["duration"] * options["scale_factor"], LARGEST_SCALED)
    answer |= {f"{name}s": values for name, values in found.items()}
    if not options.get("skip_waypoints", False):
        described = waypoints(snapped)
        answer["sources"] = [described[i] for i in rows]
        answer["destinations"] = [described[i] for i in columns]
    return answer


def nearest(engine: Engine, query: Query, *, max_snap: float) -> dict[str, Any]:
    """Answer a request for the nearest roads of a place.

    Args:
        engine: the map.
        query: the request.
        max_snap: the largest distance to a road where the request gives none, in meters.

    Returns:
        The body of the response.
    """
    number = query.options.get("number", 1)
    if number > MOST_NEAREST:
        raise RefusedError("TooBig", f"number: expected up to {MOST_NEAREST}, got {number}")
    if query.options.get("skip_waypoints", False):
        raise RefusedError(
            "NotImplemented", "skip_waypoints: expected false, as waypoints are all that nearest returns"
        )
    found = engine.nearest(query.places[0], number, float(query.radiuses(max_snap)[0]))
    return {"code": "Ok", "waypoints": waypoints(found, nodes=node_ids(engine, found.nodes))}


def route(engine: Engine, query: Query, *, max_snap: float, deadline: Deadline) -> dict[str, Any]:
    """Answer a request for a route through places, in their order.

    Args:
        engine: the map.
        query: the request.
        max_snap: the largest distance to a road where the request gives none, in meters.
        deadline: when to give up.

    Returns:
        The body of the response.
    """
    options = query.options
    if not engine.has_routes:
        raise RefusedError("NotImplemented", "route: expected a map of roads, got a model without roads")
    wanted = options.get("annotations", frozenset())
    check_annotations(engine, wanted & UNITS.keys() if "speed" not in wanted else UNITS)
    snapped = engine.snap(query.places, query.radiuses(max_snap))
    legs = []
    for i in range(len(query.places) - 1):
        deadline.check()
        leg = engine.route(snapped, i, i + 1, parts=bool(wanted))
        if leg is None:
            raise RefusedError("NoRoute", f"no route from coordinate {i} to coordinate {i + 1}")
        legs.append(leg)
    first = engine.annotations[0]
    found: dict[str, Any] = {name: sum(leg.costs[name] for leg in legs) for name in engine.annotations}
    found["weight"] = found[first]
    found["weight_name"] = first
    found["legs"] = [_leg(engine, leg, wanted) for leg in legs]
    if (overview := options.get("overview", "simplified")) != "false":
        line = np.concatenate([legs[0].line, *(leg.line[1:] for leg in legs[1:])])
        line = simplify(line) if overview == "simplified" else line
        found["geometry"] = _geometry(line, options.get("geometries", "polyline"))
    answer = {"code": "Ok", "routes": [found]}
    if not options.get("skip_waypoints", False):
        answer["waypoints"] = waypoints(snapped)
    return answer


def part(engine: Engine, snapped: Waypoints, rows: list[int]) -> Waypoints:
    """Return some of the places, in the given order.

    Args:
        engine: the map on which they are.
        snapped: the places.
        rows: which of them.
    """
    index = np.array(rows, np.int64)
    return Waypoints(snapped.locations[index], snapped.meters[index], snapped.nodes[index], engine.take(snapped, index))


def waypoints(found: Waypoints, nodes: list[list[Any]] | None = None) -> list[dict[str, Any]]:
    """Describe places on the roads as OSRM does; it has names of streets, which are unknown here.

    Args:
        found: the places.
        nodes: ids of the nodes at the ends of each road, where wanted.
    """
    rows = [
        {"name": "", "location": location, "distance": meters}
        for location, meters in zip(found.locations.tolist(), found.meters.tolist(), strict=True)
    ]
    return rows if nodes is None else [{**row, "nodes": pair} for row, pair in zip(rows, nodes, strict=True)]


def node_ids(engine: Engine, nodes: NDArray[np.int64]) -> list[list[Any]]:
    """Return the ids of pairs of nodes, as numbers where they are, which is what OSRM returns.

    Args:
        engine: the map.
        nodes: `(n, 2)` numbers of nodes.
    """
    return [[engine.node_id(node) for node in pair] for pair in nodes.tolist()]


def _leg(engine: Engine, leg: Leg, wanted: frozenset[str]) -> dict[str, Any]:
    first = engine.annotations[0]
    found: dict[str, Any] = {**leg.costs, "weight": leg.costs[first], "summary": "", "steps": []}
    if not wanted:
        return found
    columns: dict[str, Any] = {**leg.parts, "weight": leg.parts[first]}
    columns["nodes"] = [engine.node_id(node) for node in leg.nodes.tolist()] if "nodes" in wanted else []
    columns["datasources"] = np.zeros(len(leg.parts[first]), np.int64)
    if "speed" in wanted:
        moving = leg.parts["duration"] > 0
        columns["speed"] = np.where(moving, leg.parts["distance"] / np.where(moving, leg.parts["duration"], 1.0), 0.0)
    found["annotation"] = {name: column for name, column in columns.items() if name in wanted}
    if "datasources" in wanted:
        found["annotation"]["metadata"] = {"datasource_names": [DATASOURCE]}
    return found


def _geometry(line: Floats, form: str) -> Any:
    if form == "geojson":
        return {"type": "LineString", "coordinates": line.round(6)}
    return encode_polyline(line, decimals=6 if form == "polyline6" else 5)
