"""A free network that is a quasimetric, because its values lie within a factor of two."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric.distances.base import Distance
from trimetric.distances.norm_induced import as_distance
from trimetric.distances.projected_clamp import projected_clamp
from trimetric.kernels.equal_rows import row_keys, zero_at_equal_rows
from trimetric.kernels.pairs import PairKernel, Projection
from trimetric.norms import Norm
from trimetric.norms.constraints import nonnegative


class BandMetric(Distance):
    r"""$c\,(1 + \mathrm{clamp}(a f(x, y) + b))$ for $x \ne y$, and 0 for $x = y$, with *any* function $f$.

    Here $c \ge 0$, and the clamp is to $[0, 1]$.  One step costs at most $2c$ and two cost at least $2c$, so no detour
    through a third point is shorter.  Every quasimetric whose largest distance is at most twice its smallest has this
    form, so an unconstrained network such as `MLPDistance` can be used as $f$.  There are no small distances
    except 0, so by itself it suits pairs that are all far apart; in a `WideMetric` it adds what other heads cannot
    represent.

    **At $x = y$** the distance jumps, like that of a `TollMetric`: $x \ne y$ means that the points differ in some
    coordinate, by however little.

    **Gradients** are those of projected gradient descent: outside the band they vanish only where a descent step would
    lead farther out.

    An untrained network is nearly constant.  In a `Calibrated` head, `fit` sets $a$ and $b$ from data before training
    (`calibrate`), so that the band is centered on the mean of the targets; $a$ and $b$ are buffers.

    Args:
        distance: $f$, any distance or norm; it need not promise anything.

    Examples:
        >>> from trimetric import MLPDistance
        >>> distance = BandMetric(MLPDistance(4, widths=(8,)))
        >>> values = distance(torch.randn(100, 4), torch.randn(100, 4))
        >>> bool(values.max() <= 2 * values.min())
        True
    """

    gain: Tensor
    offset: Tensor

    def __init__(self, distance: Norm | Distance) -> None:
        inner = as_distance("distance", distance)
        super().__init__(inner.dim, num_components=1, pool="mean", inner=inner)
        self.raw_floor = nn.Parameter(torch.zeros(()))
        self.register_buffer("gain", torch.ones(()))
        self.register_buffer("offset", torch.full((), 0.5))
        self.axioms = inner.axioms.but(
            nonnegative=True, reflexive=True, definite=False, triangle=True, homogeneous=False, monotone=False
        )

    @property
    def floor(self) -> Tensor:
        """The smallest distance c.  Weight decay pulls it towards 1, not towards 0."""
        return nonnegative(1 + self.raw_floor)

    @torch.no_grad()
    def calibrate(self, predictions: Float[Tensor, " n"], targets: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Match the mean and spread of the targets' places in the band; pairs of equal points, at 0, are left out.

        Args:
            predictions: what this distance predicts now.
            targets: what it should predict.

        Returns:
            What it predicts afterwards.
        """
        apart = predictions > 0
        now, wanted = predictions[apart] / self.floor - 1, 1.5 * targets[apart] / targets[apart].mean() - 1
        factor = wanted.std() / now.std()
        if not torch.isfinite(factor):
            return predictions
        shift = wanted.mean() - factor * now.mean()
        self.gain.mul_(factor)
        self.offset.mul_(factor).add_(shift)
        return predictions.masked_scatter(apart, self.floor * (1 + (factor * now + shift).clamp(0, 1)))

    def _band(self, components: Tensor) -> Tensor:
        places = self.gain * self.inner.pool(components) + self.offset
        inside = projected_clamp(places, places.new_zeros(()), places.new_ones(()))
        return self.floor * (1 + inside).unsqueeze(-1)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch 1"]:
        differ = (x != y).any(dim=-1, keepdim=True)
        return torch.where(differ, self._band(self.inner.components(x, y)), 0)

    def pair_kernel(self) -> PairKernel:
        inner = self.inner.pair_kernel()

        def project(x: Float[Tensor, "n dim"], center: Float[Tensor, " dim"]) -> Projection:
            return inner.project(x, center), (x.detach(), row_keys(x))

        def pairs(px: Projection, py: Projection) -> Tensor:
            (rows, x), (columns, y) = px, py
            return zero_at_equal_rows(self._band(inner.pairs(rows, columns)), x, y)

        return PairKernel(project, pairs, inner.floats + 3)
