"""Snapping places to the nearest node of a map, within a limit."""

from __future__ import annotations

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
    """Find the nearest node of a map for each place, by great circles.

    Args:
        nodes: `(nodes, 2)` longitude and latitude of the nodes in degrees, such as `graph.coordinates` or the `places`
            of a model.
        places: `(places, 2)` longitude and latitude of the places to look up.
        max_metres: the largest distance between a place and its node, in meters; `inf` for no limit.

    Returns:
        The nearest node of each place and its distance in meters.

    Raises:
        OffTheMapError: where a place is farther than `max_metres` from every node, or is not in degrees.  The message
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
    known, wanted = _pairs_of_numbers("nodes", nodes), _pairs_of_numbers("places", places)
    if not len(known):
        raise ValueError("nodes: expected at least one, got none")
    if not _in_degrees(known).all():
        raise ValueError(f"nodes: expected degrees, got {known[~_in_degrees(known)][0].tolist()}")

    from scipy.spatial import KDTree

    # On the sphere, straight lines order nodes like great circles do, also across the date line and at the poles.
    tree = KDTree(_on_the_sphere(known))

    def nearest(points: NDArray[np.float64]) -> Snapped:
        straight, rows = tree.query(_on_the_sphere(points))
        arc = 2 * EARTH_RADIUS * np.arcsin(np.clip(np.asarray(straight) / 2, 0, 1))
        return Snapped(np.asarray(rows, np.int64), arc)

    sound = _in_degrees(wanted)
    found = nearest(np.where(sound[:, None], wanted, 0.0))
    bad = ~sound | ~(found.metres <= max_metres)
    if not bad.any():
        return found
    row = int(bad.argmax())
    lon, lat = wanted[row].tolist()
    away = f", {_distance(found.metres[row])} from the nearest node" if sound[row] else ", which are no degrees"
    swapped = wanted[row : row + 1, ::-1]
    hint = ""
    if _in_degrees(swapped).all() and nearest(swapped).metres[0] <= max_metres:
        hint = f"; swapped, they are {_distance(nearest(swapped).metres[0])} from it"
    within = f"within {_distance(max_metres)} of the map" if np.isfinite(max_metres) else "in degrees"
    raise OffTheMapError(row, f"expected a longitude and latitude {within}, got {lon:g}, {lat:g}{away}{hint}")


def _pairs_of_numbers(name: str, given: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(given, np.float64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name}: expected rows of longitude and latitude, shape (n, 2), got shape {array.shape}")
    return array


def _in_degrees(places: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (np.abs(places[:, 0]) <= 180) & (np.abs(places[:, 1]) <= 90)


def _on_the_sphere(places: NDArray[np.float64]) -> NDArray[np.float64]:
    lon, lat = np.radians(places).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def _distance(metres: float) -> str:
    return f"{metres:,.0f} m" if metres < 10_000 else f"{metres / 1000:,.0f} km"
