"""What landmarks alone say of a distance: the baselines of every model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.graph import Nodes
from trimetric.graphs.paths.landmarks import Landmarks

Distances = NDArray[np.float64]
PAIRS_AT_ONCE = 1 << 14


def landmark_bounds(landmarks: Landmarks, ends: Nodes) -> tuple[Distances, Distances]:
    r"""The largest lower and the smallest upper bound of the distances of pairs `(n, 2)`.

    By the triangle inequality $\max_l \max(D(x, l) - D(y, l), D(l, y) - D(l, x)) \le D(x, y) \le \min_l D(x, l) +
    D(l, y)$.  The lower bound is a quasimetric itself: a maximum of differences of potentials.
    """
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
    """A + b lower + c upper, fitted by least squares: the best that two numbers a pair can do.  No metric."""

    constant: float
    lower: float
    upper: float

    @classmethod
    def fit(cls, landmarks: Landmarks, ends: Nodes, distances: Distances) -> AffineBounds:
        lower, upper = landmark_bounds(landmarks, ends)
        design = np.stack([np.ones(len(ends)), lower, upper], axis=1)
        return cls(*np.linalg.lstsq(design, distances)[0].tolist())

    def predict(self, landmarks: Landmarks, ends: Nodes) -> Distances:
        lower, upper = landmark_bounds(landmarks, ends)
        return self.constant + self.lower * lower + self.upper * upper
