"""The distances that answers report."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.distances import Distance

PointDistance = Distance | Callable[[Tensor, Tensor], Tensor]
# Pairs that the definition computes at once: what it makes of them stays in cache.
DEFINED_AT_ONCE = 256


class Definition:
    """The distances that answers report: those of the definition in float64, rounded to the dtype of the points.

    How a matrix product rounds a row depends on where in the batch it stands.  Computed in float64 and rounded to
    float32, the distance of a pair is the same whatever it is computed with.  A function that cannot read float64, and
    points in float64, go through the definition as it is.

    Args:
        distance: between points.
        like: a few points, to try the distance with.

    Examples:
        >>> import trimetric as tm
        >>> x, y = torch.zeros(2, 3), torch.ones(2, 3)
        >>> Definition(tm.NormInduced(tm.Euclidean(3)), x).between(x, y)
        tensor([1.7321, 1.7321])
    """

    def __init__(self, distance: PointDistance, like: Tensor) -> None:
        self.dtype = like.dtype
        self.distance = distance
        self.wide = False
        if like.dtype != torch.float64:
            wider = copy.deepcopy(distance).double().eval() if isinstance(distance, Distance) else distance
            self.wide = _reads_float64(wider, distance, like)
            self.distance = wider if self.wide else distance
        self._work_dtype = torch.float64 if self.wide else like.dtype

    @torch.no_grad()
    def between(self, x: Tensor, y: Tensor) -> Tensor:
        """Compute the distance from each point of `x` to the point of `y` in its place.

        Args:
            x: `(n, dim)`.
            y: `(n, dim)`.

        Returns:
            The n distances.
        """
        return self.between_rows(x, torch.arange(len(x)), y, torch.arange(len(y)))

    @torch.no_grad()
    def between_rows(self, x: Tensor, rows: Tensor, y: Tensor, columns: Tensor) -> Tensor:
        """Compute the distances from `x[rows]` to `y[columns]`, a few pairs at a time.

        Args:
            x: a table of points.
            rows: where each pair starts.
            y: a table of points.
            columns: where each pair ends.

        Returns:
            A distance for each pair, in the dtype of the points.
        """
        out = torch.empty(len(rows), dtype=self.dtype)
        for i in range(0, len(rows), DEFINED_AT_ONCE):
            part = slice(i, i + DEFINED_AT_ONCE)
            start, end = x[rows[part]].to(self._work_dtype), y[columns[part]].to(self._work_dtype)
            out[part] = self.distance(start, end).to(self.dtype)
        return out


def _reads_float64(wider: Any, distance: Any, like: Tensor) -> bool:
    few = like[:4]
    try:
        with torch.no_grad():
            wide, narrow = wider(few.double(), few.flip(0).double()), distance(few, few.flip(0))
    except (RuntimeError, TypeError, ValueError):
        return False
    if isinstance(distance, Distance):
        # Its float32 may be far off; that is why float64 is asked.
        return wide.dtype == torch.float64
    return wide.dtype == torch.float64 and torch.allclose(wide.to(narrow.dtype), narrow, rtol=1e-2, atol=1e-3)


def check_finite_distances(name: str, values: Tensor) -> Tensor:
    """Refuse NaN and infinity, with which no bound can be computed."""
    return checks.finite(name, values)
