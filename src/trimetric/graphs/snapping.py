"""Snapping places to the nearest node of a map, within a limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric.graphs.geography import EARTH_RADIUS

MAX_SNAP = 500.0
"""Meters: a few city blocks."""


@dataclass(frozen=True, eq=False)
class Snapped:
    """The nearest nodes of places.

    Attributes:
        nodes: `(places,)` row of the nearest node of each place.
        metres: `(places,)` distance to it along the ground, in meters.

    Examples:
        >>> Snapped(nodes=np.array([1]), metres=np.array([23.5])).metres.max()
        np.float64(23.5)
    """

    nodes: NDArray[np.int64]
    metres: NDArray[np.float64]


class OffTheMapError(ValueError):
    """A place that is too far from every node of a map.

    Attributes:
        place: the row of the first such place.
        problem: what was expected of it, and what was found.

    Examples:
        >>> OffTheMapError(0, "expected a place in Porto, got one in Lisbon").place
        0
    """

    def __init__(self, place: int, problem: str) -> None:
        super().__init__(f"places: row {place}: {problem}")
        self.place, self.problem = place, problem


def snap(nodes: ArrayLike, places: ArrayLike, *, max_metres: float = MAX_SNAP) -> Snapped:
    """Find the nearest node of a map for each place, by great-circle distance.

    Args:
        nodes: `(nodes, 2)` longitude and latitude of the nodes in degrees, such as `graph.coordinates` or the `places`
            of a model.
        places: `(places, 2)` longitude and latitude of the places to look up.
        max_metres: the largest distance between a place and its node, in meters; `inf` for no limit.

    Returns:
        The nearest node of each place and its distance in meters.

    Raises:
        OffTheMapError: if a place is farther than `max_metres` from every node, or is not in degrees.  The message
            says so if longitude and latitude seem to be swapped.

    Examples:
        >>> porto = [[-8.61, 41.15], [-8.60, 41.15]]
        >>> snap(porto, [[-8.6001, 41.1502]]).nodes
        array([1])
        >>> snap(porto, [[41.15, -8.61]])
        Traceback (most recent call last):
            ...
        trimetric.graphs.snapping.OffTheMapError: places: row 0: expected a longitude and latitude within \
500 m of the map, got 41.15, -8.61, 7,507 km from the nearest node; swapped, they are 0 m from it
    """
    if not max_metres >= 0:
        raise ValueError(f"max_metres: expected a number >= 0, got {max_metres}")
    known, wanted = pairs_of_numbers("nodes", nodes), pairs_of_numbers("places", places)
    if not len(known):
        raise ValueError("nodes: expected at least one, got none")
    if not valid_degrees(known).all():
        raise ValueError(f"nodes: expected degrees, got {known[~valid_degrees(known)][0].tolist()}")

    from scipy.spatial import KDTree

    # On the sphere, straight lines order nodes like great circles do, also across the date line and at the poles.
    tree = KDTree(on_the_sphere(known))

    def nearest(points: NDArray[np.float64]) -> Snapped:
        straight, rows = tree.query(on_the_sphere(points))
        arc = 2 * EARTH_RADIUS * np.arcsin(np.clip(np.asarray(straight) / 2, 0, 1))
        return Snapped(np.asarray(rows, np.int64), arc)

    sound = valid_degrees(wanted)
    found = nearest(np.where(sound[:, None], wanted, 0.0))
    bad = ~sound | ~(found.metres <= max_metres)
    if bad.any():
        raise off_the_map(wanted, int(bad.argmax()), lambda points: nearest(points).metres, max_metres, noun="node")
    return found


def off_the_map(
    places: NDArray[np.float64],
    row: int,
    meters: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    limit: float,
    *,
    noun: str,
) -> OffTheMapError:
    """Make the error about a place that is no place of the map; it says so where longitude and latitude are swapped.

    Args:
        places: `(places, 2)` all places that were asked for.
        row: the one that is wrong.
        meters: measures how far places are from the map.
        limit: how far they may be.
        noun: what of the map is the nearest, such as "node".
    """
    place, swapped = places[row : row + 1], places[row : row + 1, ::-1]
    lon, lat = place[0].tolist()
    away = ", which are no degrees"
    if valid_degrees(place).all():
        away = f", {_distance(meters(place)[0])} from the nearest {noun}"
    hint = ""
    if valid_degrees(swapped).all() and meters(swapped)[0] <= limit:
        hint = f"; swapped, they are {_distance(meters(swapped)[0])} from it"
    within = f"within {_distance(limit)} of the map" if np.isfinite(limit) else "in degrees"
    return OffTheMapError(row, f"expected a longitude and latitude {within}, got {lon:g}, {lat:g}{away}{hint}")


def pairs_of_numbers(name: str, given: ArrayLike) -> NDArray[np.float64]:
    """Check that an argument has rows of longitude and latitude.

    Args:
        name: the argument.
        given: what came.
    """
    array = np.asarray(given, np.float64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name}: expected rows of longitude and latitude, shape (n, 2), got shape {array.shape}")
    return array


def valid_degrees(places: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether rows are longitudes from -180 to 180 and latitudes from -90 to 90.

    Args:
        places: `(places, 2)` numbers.
    """
    return (np.abs(places[:, 0]) <= 180) & (np.abs(places[:, 1]) <= 90)


def on_the_sphere(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn degrees into points of the unit sphere.

    Args:
        places: `(places, 2)` longitude and latitude.
    """
    lon, lat = np.radians(places).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def _distance(metres: float) -> str:
    return f"{metres:,.0f} m" if metres < 10_000 else f"{metres / 1000:,.0f} km"
