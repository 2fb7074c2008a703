"""How far computed distances may be from real ones, so that no neighbor is lost to rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimetric.distances import Distance
from trimetric.distances.all_pairs import all_pairs
from trimetric.search.definition import Definition, PointDistance
from trimetric.search.enclosures import Unproven
from trimetric.search.error_bounds import distance_error

# What fast paths promise: 1e-5 of the definition, in float32.
RELATIVE = {torch.float32: 4e-5, torch.float64: 1e-12}
FEWEST_UNITS = {torch.float32: 64.0, torch.float64: 1024.0}
SAFETY = 8  # times the largest error that was measured
MEASURED = 48  # points, against each other
# Of the pivot distances: they are in float64, whose rounding is seven digits below that.
IN_FLOAT64 = 1e-9
ROOM = 0.125  # of the width of the points on each side, for queries that are a little outside


@dataclass(frozen=True)
class Allowance:
    """What rounding may do to the distances of one batch of queries.

    Attributes:
        relative: the error of a distance that a fast path computed, as a part of it.
        absolute: the same, added.
        of_bounds: of the difference of two distances to or from pivots.
        proven: whether that is proven, or measured.
        wide: whether fast paths compute in float64, although the points are in float32.
        finest: whether there is nothing finer to compute in.
    """

    relative: float
    absolute: float
    of_bounds: float
    proven: bool
    wide: bool = False
    finest: bool = True

    def widened(self, values: Tensor) -> Tensor:
        """The largest that a computed distance may be if the real one is at most `values`, or the other way round."""
        return values + self.relative * values.abs() + self.absolute

    def excess(self, fast: Tensor, exact: Tensor) -> float:
        """The largest error of computed distances, as a part of what is allowed; above 1 the allowance is too small."""
        if not len(fast):
            return 0.0
        error = (fast - exact).abs()
        allowed = self.relative * exact.abs() + self.absolute
        return float(torch.where(error > 0, error / allowed, torch.zeros_like(error)).max())

    def times(self, factor: float) -> Allowance:
        """Allow for more."""
        return replace(self, relative=self.relative * factor, absolute=self.absolute * factor)


@dataclass(frozen=True)
class Box:
    """Points between two corners, and how far their computed distances are from the real ones at most.

    Attributes:
        low: the least coordinates.
        high: the largest.
        narrow: the error of a distance in the dtype of the points.
        wide: the error of a distance in float64.
    """

    low: Tensor
    high: Tensor
    narrow: float
    wide: float

    @classmethod
    def around(cls, distance: Distance, low: Tensor, high: Tensor, dtype: torch.dtype) -> Box:
        """Prove the errors of a distance, given in float64, between points of a dtype; raises `Unproven`."""
        wide = distance_error(distance, low, high, torch.float64)
        return cls(low, high, wide if dtype == torch.float64 else distance_error(distance, low, high, dtype), wide)

    def holds(self, points: Tensor) -> bool:
        """Whether all points are in the box."""
        return bool((points.amin(0) >= self.low).all()) and bool((points.amax(0) <= self.high).all())


class Rounding:
    """Bounds of the rounding errors of an index: proven where every operation of the distance has a rule, or measured.

    Args:
        distance: whose fast path is used.
        definition: the distances that answers report.
        points: of the index.
        seed: of the choice of points to measure.
    """

    def __init__(self, distance: PointDistance, definition: Definition, points: Tensor, *, seed: int) -> None:
        self.definition, self.dtype = definition, points.dtype
        self.why: str | None = None
        self._box: Box | None = None
        if len(points):
            low, high = points.amin(0), points.amax(0)
            room = ROOM * (high - low)
            self._box = self._prove(low - room, high + room)
        if self._box is None:
            self._relative, self._absolute, self._of_bounds = _measure(distance, definition, points, seed=seed)

    @property
    def proven(self) -> bool:
        """Whether the errors are proven."""
        return self._box is not None

    def allowance(self, queries: Tensor, scale: float, *, wide: bool) -> Allowance:
        """What rounding may do to the distances between queries and points.

        Args:
            queries: a batch of them.
            scale: the largest distance between points or queries and pivots.
            wide: whether fast paths compute in float64; without effect where nothing is proven.
        """
        box = self._box
        if box is not None and not box.holds(queries):
            box = self._prove(torch.minimum(box.low, queries.amin(0)), torch.maximum(box.high, queries.amax(0)))
            if box is None:
                raise ValueError(f"queries: expected points whose distances are finite, got farther ones ({self.why})")
        if box is None:
            return Allowance(self._relative, self._absolute * scale, 4 * self._of_bounds * scale, proven=False)
        # The answer is the definition in float64, rounded to the dtype of the points: so are the two that are compared.
        relative = 4 * torch.finfo(self.dtype).eps
        wide = wide and self.dtype != torch.float64
        fast = box.wide if wide else box.narrow
        # A bound is a difference of two computed distances, and holds for a third one.
        most = wide or self.dtype == torch.float64
        return Allowance(relative, fast + box.wide, 4 * box.wide, proven=True, wide=wide, finest=most)

    def _prove(self, low: Tensor, high: Tensor) -> Box | None:
        distance = self.definition.distance
        if not isinstance(distance, Distance) or not (self.definition.wide or self.dtype == torch.float64):
            self.why = "a function"
            return None
        try:
            return Box.around(distance, low, high, self.dtype)
        except Unproven as reason:
            self.why = str(reason)
            return None


def _measure(
    distance: PointDistance, definition: Definition, points: Tensor, *, seed: int
) -> tuple[float, float, float]:
    """Compare the fast path with the definition on some points, and allow for eight times as much."""
    chosen = torch.randperm(len(points), generator=torch.Generator().manual_seed(seed))[:MEASURED]
    few = points[chosen]
    with torch.no_grad():
        fast = all_pairs(distance, few, few.clone())
    i, j = (ends.flatten() for ends in torch.meshgrid(*[torch.arange(len(few))] * 2, indexing="ij"))
    exact = definition.between_rows(few, i, few, j).view_as(fast)
    unit = torch.finfo(points.dtype).eps
    scale = float(exact.abs().max()) if exact.numel() else 0.0
    worst = float((fast - exact).abs().max()) / (unit * scale) if scale > 0 else 0.0
    absolute = unit * max(FEWEST_UNITS[points.dtype], SAFETY * worst)
    of_bounds = IN_FLOAT64 if definition.wide or points.dtype == torch.float64 else absolute
    return RELATIVE[points.dtype], absolute, of_bounds
