"""Lines with fewer points that look the same at the zoom at which they fit a screen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimetric.kernels.machine_code import njit

SCREEN = 1500.0
"""the tolerance is the extent of the line divided by this: less than a pixel of most screens"""


def simplify(line: NDArray[np.float64], *, tolerance: float | None = None) -> NDArray[np.float64]:
    """Drop points that are closer than the tolerance to the line of the others (Ramer, Douglas and Peucker).

    Args:
        line: `(n, 2)` longitude and latitude.
        tolerance: in degrees of latitude; by default a 1500th of the extent of the line.

    Returns:
        The points that are kept, with the first and the last.

    Examples:
        >>> simplify(np.array([[0.0, 0.0], [1.0, 0.00001], [2.0, 0.0], [2.0, 1.0]])).tolist()
        [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0]]
    """
    if len(line) < 3:
        return line
    flat = line * [np.cos(np.radians(line[:, 1].mean())), 1.0]
    if tolerance is None:
        tolerance = float(np.ptp(flat, axis=0).max()) / SCREEN
    return line[_kept(np.ascontiguousarray(flat), tolerance)]


@njit
def _kept(points, tolerance):
    """Mark the points to keep."""
    kept = np.zeros(len(points), np.bool_)
    kept[0] = kept[-1] = True
    firsts, lasts = np.empty(len(points), np.int64), np.empty(len(points), np.int64)
    firsts[0], lasts[0] = 0, len(points) - 1
    size = 1
    while size > 0:
        size -= 1
        first, last = firsts[size], lasts[size]
        x, y = points[first, 0], points[first, 1]
        dx, dy = points[last, 0] - x, points[last, 1] - y
        square = dx * dx + dy * dy
        farthest, middle = -1.0, -1
        for i in range(first + 1, last):
            px, py = points[i, 0] - x, points[i, 1] - y
            t = min(1.0, max(0.0, (px * dx + py * dy) / square)) if square > 0 else 0.0
            away = np.hypot(px - t * dx, py - t * dy)
            if away > farthest:
                farthest, middle = away, i
        if farthest > tolerance:
            kept[middle] = True
            firsts[size], lasts[size] = first, middle
            firsts[size + 1], lasts[size + 1] = middle, last
            size += 2
    return kept
