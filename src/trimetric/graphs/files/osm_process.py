"""The roads of an OpenStreetMap file, read in a process of its own: `python osm_process.py FILE`.

The file is read by a library in C++, which a damaged one can crash.  Here that ends this process, and `read_osm` says
so in one line.  Nothing of the package is imported, so that the process starts fast.
"""

from __future__ import annotations

import itertools
import sys
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Kilometers per hour where no limit is given: about what cars reach, lights and crossings included.
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

ONWARD, BACKWARD, BOTH = 1, -1, 0
BAD_INPUT = 2


def main(file: str) -> int:
    """Write the arrays of `read_ways` to standard output as an NPZ file, or the error to standard error."""
    osmium: Any = import_module("osmium")

    # ValueError: tags that are no UTF-8.
    try:
        found = read_ways(file)
    except (RuntimeError, ValueError, OverflowError, MemoryError, osmium.InvalidLocationError) as error:
        print(str(error) or type(error).__name__, file=sys.stderr)
        return BAD_INPUT
    np.savez(sys.stdout.buffer, allow_pickle=False, **found)
    return 0


def read_ways(file: str) -> dict[str, NDArray[Any]]:
    """Read the ends of the arcs by OpenStreetMap's ids, their speeds, and the nodes with their places."""
    osmium: Any = import_module("osmium")
    arcs: list[tuple[int, int]] = []
    speeds: list[float] = []
    places: dict[int, tuple[float, float]] = {}
    for item in osmium.FileProcessor(file).with_locations().with_filter(osmium.filter.KeyFilter("highway")):
        if not item.is_way() or not is_for_cars(item.tags):
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
    return {
        "arcs": np.array(arcs, np.int64).reshape(-1, 2),
        "speeds": np.array(speeds, np.float64),
        "nodes": np.fromiter(places, np.int64, len(places)),
        "places": np.array(list(places.values()), np.float64).reshape(-1, 2),
    }


# Tags are a dict, or pyosmium's list, which has `get` as well.


def is_for_cars(tags: dict[str, str]) -> bool:
    """Whether the public may drive there."""
    return (
        tags.get("highway") in SPEEDS
        and tags.get("area") != "yes"
        and tags.get("access") not in ("no", "private")
        and tags.get("motor_vehicle") != "no"
    )


def direction(tags: dict[str, str]) -> int:
    """Whether a way may be driven only forward, only backward, or both ways."""
    oneway = tags.get("oneway")
    if oneway in ("-1", "reverse"):
        return BACKWARD
    round_about = tags.get("junction") in ("roundabout", "circular")
    motorway = tags.get("highway") in ("motorway", "motorway_link") and oneway != "no"
    return ONWARD if oneway in ("yes", "true", "1") or round_about or motorway else BOTH


def speed_of(tags: dict[str, str]) -> float:
    """The speed of cars on a way, in kilometers per hour."""
    limit = tags.get("maxspeed") or ""
    try:
        value = float(limit.split()[0]) * (MILE if "mph" in limit else 1)
    except (ValueError, IndexError):  # such as "none" or "PT:urban"
        value = 0.0
    # Slower than on foot or faster than any car: a typing error.
    return OF_THE_LIMIT * value if SLOWEST <= value <= FASTEST else SPEEDS[tags.get("highway") or "road"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
