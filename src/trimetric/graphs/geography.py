"""Distances on the ground between places given in degrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EARTH_RADIUS = 6_371_008.8  # meters, of the sphere with the mean radius of the ellipsoid


def ground_meters(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the lengths of great circles between places, row by row.

    Args:
        start: `(n, 2)` longitude and latitude in degrees.
        end: as many places.

    Returns:
        `(n,)` meters.

    Examples:
        >>> ground_meters(np.array([[0.0, 0.0]]), np.array([[0.0, 90.0]])).round(-3)  # a quarter of a meridian
        array([10008000.])
    """
    (lon1, lat1), (lon2, lat2) = np.radians(start).T, np.radians(end).T
    h = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS * np.arcsin(np.sqrt(h))
