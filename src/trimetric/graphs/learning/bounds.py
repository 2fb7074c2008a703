"""Bounds of distances from landmarks alone: the baselines of every model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.checked_arcs import Nodes, numbers_below
from trimetric.graphs.paths.landmarks import Landmarks

Distances = NDArray[np.float64]
PAIRS_AT_ONCE = 1 << 14


def landmark_bounds(landmarks: Landmarks, ends: Nodes) -> tuple[Distances, Distances]:
    r"""Compute the largest lower and the smallest upper bound of the distances of pairs.

    By the triangle inequality $\max_l \max(d(x, l) - d(y, l), d(l, y) - d(l, x)) \le d(x, y) \le \min_l d(x, l) +
    d(l, y)$.  The lower bound is itself a quasimetric: a maximum of differences of potentials.

    Args:
        landmarks: their distances.
        ends: `(pairs, 2)` nodes, from and to.

    Returns:
        `(pairs,)` lower bounds and `(pairs,)` upper bounds.

    Examples:
        >>> from trimetric.graphs import Graph, landmarks_at
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=False)
        >>> landmark_bounds(landmarks_at(graph, [0]), np.array([[1, 2], [1, 3]]))  # of the distances 2 and 5
        (array([2., 3.]), array([4., 5.]))
    """
    ends = numbers_below("ends", ends, len(landmarks.from_landmarks))
    lower, upper = np.empty(len(ends)), np.empty(len(ends))
    for first in range(0, len(ends), PAIRS_AT_ONCE):
        rows = slice(first, first + PAIRS_AT_ONCE)
        x, y = ends[rows].T
        from_x, from_y = landmarks.from_landmarks[x], landmarks.from_landmarks[y]
        to_x, to_y = (landmarks.to_landmarks[x], landmarks.to_landmarks[y]) if landmarks.directed else (from_x, from_y)
        lower[rows] = np.maximum(from_y - from_x, to_x - to_y).max(axis=1)
        upper[rows] = (to_x + from_y).min(axis=1)
    return np.maximum(lower, 0), upper


@dataclass(frozen=True)
class AffineBounds:
    """An affine function of both bounds, fitted by least squares: the best that two numbers per pair can do.

    It is not a metric.

    Attributes:
        constant: the constant term.
        lower: the factor of the lower bound.
        upper: the factor of the upper bound.

    Examples:
        >>> from trimetric.graphs import Graph, landmarks_at
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=False)
        >>> middle = AffineBounds(constant=0.0, lower=0.5, upper=0.5)
        >>> middle.predict(landmarks_at(graph, [0]), np.array([[1, 2], [1, 3]]))
        array([3., 4.])
    """

    constant: float
    lower: float
    upper: float

    @classmethod
    def fit(cls, landmarks: Landmarks, ends: Nodes, distances: Distances) -> AffineBounds:
        """Fit the function to pairs with known distances.

        Args:
            landmarks: their distances.
            ends: `(pairs, 2)` nodes, from and to.
            distances: `(pairs,)` true distances.
        """
        lower, upper = landmark_bounds(landmarks, ends)
        design = np.stack([np.ones(len(ends)), lower, upper], axis=1)
        return cls(*np.linalg.lstsq(design, distances)[0].tolist())

    def predict(self, landmarks: Landmarks, ends: Nodes) -> Distances:
        """Predict the distances of pairs.

        Args:
            landmarks: their distances.
            ends: `(pairs, 2)` nodes, from and to.
        """
        lower, upper = landmark_bounds(landmarks, ends)
        return self.constant + self.lower * lower + self.upper * upper
