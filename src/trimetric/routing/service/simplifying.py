"""Lines with fewer points that look the same at the zoom at which they fit a screen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    kept = np.zeros(len(line), bool)
    kept[[0, -1]] = True
    open_parts = [(0, len(line) - 1)]
    while open_parts:
        first, last = open_parts.pop()
        if last - first < 2:
            continue
        away = _distances(flat[first + 1 : last], flat[first], flat[last])
        farthest = int(away.argmax())
        if away[farthest] > tolerance:
            middle = first + 1 + farthest
            kept[middle] = True
            open_parts += [(first, middle), (middle, last)]
    return line[kept]


def _distances(points: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far points are from a segment."""
    along = end - start
    length = float(along @ along)
    t = np.clip((points - start) @ along / length, 0.0, 1.0) if length > 0 else np.zeros(len(points))
    return np.hypot(*(points - (start + t[:, None] * along)).T)
