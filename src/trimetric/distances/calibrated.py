"""An output scale that is set once, from data, before training."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.distances.norm_induced import as_distance
from trimetric.distances.transformed import TransformedDistance
from trimetric.kernels.fused import FusedPairs
from trimetric.norms import Norm
from trimetric.norms.constraints import nonnegative


class Calibrated(TransformedDistance):
    r"""$s\,d(x, y)$ with a fixed $s \ge 0$; $s\,d(x, y) + t$ where $d$ does not promise the triangle inequality anyway.

    An untrained head predicts about 1, while targets may average 50, so an optimizer would spend its first epochs on
    growing the weights.  `calibrate` sets $s$ (and $t$) once, from predictions and targets; they are buffers, saved
    with the weights but not trained.  A non-negative multiple of a quasimetric is a quasimetric.

    Args:
        distance: any distance or norm.

    Examples:
        >>> from trimetric import Euclidean
        >>> distance = Calibrated(Euclidean(2))
        >>> distance.calibrate(predictions=torch.tensor([1.0, 3.0]), targets=torch.tensor([30.0, 50.0]))
        tensor([20., 60.])
        >>> distance.scale
        tensor(20.)
    """

    raw_scale: Tensor
    shift: Tensor

    def __init__(self, distance: Norm | Distance) -> None:
        inner = as_distance("distance", distance)
        super().__init__(inner.dim, num_components=inner.num_components, pool=None, inner=inner)
        self.axioms = inner.axioms.but(definite=False)
        self.register_buffer("raw_scale", torch.ones(()))
        self.shifts = not (inner.axioms.triangle or inner.axioms.reflexive or inner.axioms.nonnegative)
        if self.shifts:
            self.register_buffer("shift", torch.zeros(()))

    @property
    def scale(self) -> Tensor:
        """The factor s."""
        return nonnegative(self.raw_scale)

    @torch.no_grad()
    def calibrate(self, predictions: Float[Tensor, " n"], targets: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Match the mean of the targets (and, with a shift, their spread), after calibrating the inner distance.

        Args:
            predictions: what this distance predicts now.
            targets: what it should predict.

        Returns:
            What it predicts afterwards.
        """
        checks.finite("predictions", predictions)
        checks.finite("targets", targets)
        inside = (predictions - self.shift if self.shifts else predictions) / self.scale
        predictions = self.transform(self.inner.calibrate(inside, targets))
        if self.shifts:
            spread = predictions.std()
            factor = targets.std() / spread if spread > 0 else torch.ones_like(spread)
            offset = targets.mean() - factor * predictions.mean()
            self.shift.mul_(factor).add_(offset)
        else:
            mean = predictions.mean()
            factor, offset = targets.mean() / mean if mean > 0 else torch.ones_like(mean), 0.0
        self.raw_scale.mul_(factor)
        return factor * predictions + offset

    @property
    def has_fused_rows(self) -> bool:
        return self.inner.has_fused_rows

    def transform(self, components: Float[Tensor, "*batch k"]) -> Float[Tensor, "*batch k"]:
        scaled = self.scale * components
        return scaled + self.shift if self.shifts else scaled

    def fuse(self, fused: FusedPairs) -> FusedPairs | None:
        return None if self.shifts else fused.scaled(self.scale)
