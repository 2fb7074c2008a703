"""How far computed distances may be from real ones, so that no neighbor is lost to rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimetric.distances.all_pairs import all_pairs
from trimetric.search.definition import Definition, PointDistance

# What fast paths promise: 1e-5 of the definition, in float32.
RELATIVE = {torch.float32: 4e-5, torch.float64: 1e-12}
FEWEST_UNITS = {torch.float32: 64.0, torch.float64: 1024.0}
SAFETY = 8  # times the largest error that was measured
MEASURED = 48  # points, against each other
# Of the pivot distances: they are in float64, whose rounding is seven digits below that.
IN_FLOAT64 = 1e-9


@dataclass(frozen=True)
class Rounding:
    """Bounds of the rounding errors of an index.

    Attributes:
        relative: of a distance that a fast path computed.
        absolute: of such a distance, as a part of the largest distance.
        of_bounds: of the distances to and from pivots, as a part of the largest distance.
    """

    relative: float
    absolute: float
    of_bounds: float

    @classmethod
    def measure(cls, distance: PointDistance, definition: Definition, points: Tensor, *, seed: int) -> Rounding:
        """Compare the fast path with the definition on some points, and allow for eight times as much.

        Args:
            distance: whose fast path is compared.
            definition: the distances that answers report.
            points: to choose some of.
            seed: of the choice.
        """
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
        return cls(RELATIVE[points.dtype], absolute, of_bounds)

    def widened(self, values: Tensor, scale: float) -> Tensor:
        """The largest that a computed distance may be if the real one is at most `values`, or the other way round."""
        return values + self.relative * values.abs() + self.absolute * scale

    def excess(self, fast: Tensor, exact: Tensor, scale: float) -> float:
        """The largest error of computed distances, as a part of what is allowed; above 1 the allowance is too small."""
        if not len(fast):
            return 0.0
        allowed = self.relative * exact.abs() + self.absolute * scale
        error = (fast - exact).abs()
        return float(torch.where(error > 0, error / allowed, torch.zeros_like(error)).max())

    def times(self, factor: float) -> Rounding:
        """Allow for more."""
        return replace(self, relative=self.relative * factor, absolute=self.absolute * factor)
