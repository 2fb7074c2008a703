"""Road networks of OpenStreetMap."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric._support.optional import optional
from trimetric.files.arrays import one_line
from trimetric.files.errors import InputError, existing
from trimetric.graphs.graph import Graph

# Kilometres an hour where no limit is given: about what cars reach, lights and crossings included.
SPEEDS: dict[str, float] = {
    "motorway": 110,
    "motorway_link": 60,
    "trunk": 90,
    "trunk_link": 50,
    "primary": 60,
    "primary_link": 40,
    "secondary": 50,
    "secondary_link": 40,
    "tertiary": 45,
    "tertiary_link": 35,
    "unclassified": 40,
    "residential": 30,
    "living_street": 10,
    "service": 15,
    "road": 30,
}
OF_THE_LIMIT = 0.85
SLOWEST, FASTEST = 1, 1000
MILE = 1.609344
EARTH_RADIUS = 6_371_008.8
RESOLUTION = 1000  # weights are whole millimetres or milliseconds, so that engines of whole numbers are exact

ONWARD, BACKWARD, BOTH = 1, -1, 0


def read_osm(
    file: Path | str,
    *,
    weight: Literal["length", "time"] = "length",
    symmetrise: bool = False,
    largest: bool = True,
) -> Graph:
    """The roads that cars may use, from an OpenStreetMap file (.osm.pbf, .osm, .osm.gz, ...).

    Nodes are the points of the ways, with their OpenStreetMap ids as names and (longitude, latitude) as coordinates.
    One-way streets, roundabouts and motorways go one way.  Needs pyosmium (`trimetric[graphs]`).

    Args:
        file: an extract; ways at its border whose nodes are missing are cut there.
        weight: metres along the ground, or seconds at 85 % of the speed limit (by the kind of road where none is
            given).  Both are rounded to thousandths, and are at least one.
        symmetrise: whether every street goes both ways, as in the paper's graph `to`.
        largest: whether to take the largest strongly connected component; without, a graph of several is an error.
    """
    checks.one_of("weight", weight, ("length", "time"))
    tails, heads, speeds, places = _ways(existing(Path(file)))
    if not len(tails):
        raise InputError(f"{file}: expected ways with the tag highway that cars may use, got none")
    names = np.fromiter(places, np.int64, len(places))
    coordinates = np.array(list(places.values()))
    order = names.argsort()
    names, coordinates = names[order], coordinates[order]
    tails, heads = names.searchsorted(tails), names.searchsorted(heads)
    weights = ground_metres(coordinates[tails], coordinates[heads])
    if weight == "time":
        weights /= speeds / 3.6
    weights = np.maximum(np.rint(weights * RESOLUTION), 1) / RESOLUTION
    try:
        graph = Graph.from_arcs(
            len(names), tails, heads, weights, directed=not symmetrise, coordinates=coordinates, names=names
        )
        return graph.connected(largest=largest)
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None


def ground_metres(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lengths of great circles between rows of (longitude, latitude)."""
    (lon1, lat1), (lon2, lat2) = np.radians(start).T, np.radians(end).T
    h = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS * np.arcsin(np.sqrt(h))


def _ways(
    file: Path,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], dict[int, tuple[float, float]]]:
    """Tails, heads and speeds of all arcs by OpenStreetMap's ids, and where their nodes are."""
    osmium = optional("osmium", needed_for="reading OpenStreetMap files")
    arcs: list[tuple[int, int]] = []
    speeds: list[float] = []
    places: dict[int, tuple[float, float]] = {}
    try:
        reader = osmium.FileProcessor(str(file)).with_locations().with_filter(osmium.filter.KeyFilter("highway"))
        for item in reader:
            if not item.is_way() or not for_cars(item.tags):
                continue
            nodes: list[int | None] = []
            for node in item.nodes:
                inside = node.location.valid()
                nodes.append(node.ref if inside else None)
                if inside:
                    places[node.ref] = (node.lon, node.lat)
            way, speed = direction(item.tags), speed_of(item.tags)
            for here, there in itertools.pairwise(nodes):
                if here is None or there is None or here == there:
                    continue
                if way != BACKWARD:
                    arcs.append((here, there))
                    speeds.append(speed)
                if way != ONWARD:
                    arcs.append((there, here))
                    speeds.append(speed)
    # ValueError: tags that are no UTF-8.
    except (RuntimeError, ValueError, OverflowError, MemoryError, osmium.InvalidLocationError) as error:
        raise InputError(f"{file}: cannot be read as OpenStreetMap data ({one_line(error)})") from None
    ends = np.array(arcs, np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1], np.array(speeds), places


# Tags are a dict, or pyosmium's list that has `get` as well.


def for_cars(tags: dict[str, str]) -> bool:
    """Whether the public may drive there."""
    return (
        tags.get("highway") in SPEEDS
        and tags.get("area") != "yes"
        and tags.get("access") not in ("no", "private")
        and tags.get("motor_vehicle") != "no"
    )


def direction(tags: dict[str, str]) -> int:
    """Whether a way may be driven onward alone, backward alone, or both ways."""
    oneway = tags.get("oneway")
    if oneway in ("-1", "reverse"):
        return BACKWARD
    round_about = tags.get("junction") in ("roundabout", "circular")
    motorway = tags.get("highway") in ("motorway", "motorway_link") and oneway != "no"
    return ONWARD if oneway in ("yes", "true", "1") or round_about or motorway else BOTH


def speed_of(tags: dict[str, str]) -> float:
    """Kilometres an hour."""
    limit = tags.get("maxspeed") or ""
    try:
        value = float(limit.split()[0]) * (MILE if "mph" in limit else 1)
    except (ValueError, IndexError):  # such as "none" or "PT:urban"
        value = 0.0
    # Slower than on foot, or faster than any car: a slip of the pen.
    return OF_THE_LIMIT * value if SLOWEST <= value <= FASTEST else SPEEDS[tags.get("highway") or "road"]
