"""Deep Norms: convex networks that are positively homogeneous."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.kernels.pairs import LinearSplit, PairKernel, Projection
from trimetric.kernels.projections import add_product
from trimetric.kernels.rows import fused
from trimetric.kernels.rows.deep import deep_units
from trimetric.kernels.rows.linear import linear
from trimetric.kernels.scratch import Scratch
from trimetric.norms.activations import LEAKY_SLOPE, ActivationName, PoolName, activate_, make_activation, odd_part
from trimetric.norms.base import Norm
from trimetric.norms.constraints import nonnegative


class DeepNorm(Norm):
    r"""The pooled units of $h_i = g_i(W_i h_{i-1} + U_i x)$ with $W_i \ge 0$, $h_0 = 0$ and no biases (equation 1).

    Each $g_i$ is convex, homogeneous and non-decreasing, so each unit is convex and homogeneous in x,
    hence subadditive (Proposition 1).  The last activation is always relu, so each unit is also
    non-negative and may carry a concave function (deviation D1).  The pooling is the last layer:
    $W_k$ is a mean, max or maxmean, and $U_k = 0$.

    Args:
        dim: size of the last axis.
        widths: units of each layer; the last one is the number of components.
        activation: $g_i$ of all layers but the last: "relu", "leaky_relu" or "maxrelu" (which needs even widths).
        pool: how the components are pooled: "mean", "max" or "maxmean".

    Examples:
        >>> norm = DeepNorm(8, widths=(16, 16))
        >>> norm(torch.randn(5, 8)).shape
        torch.Size([5])
    """

    hidden: Any

    def __init__(
        self,
        dim: int,
        *,
        widths: Iterable[int] = (128, 128, 128),
        activation: ActivationName = "maxrelu",
        pool: PoolName = "maxmean",
    ) -> None:
        sizes = checks.positive_ints("widths", widths)
        checks.one_of("activation", activation, ("relu", "leaky_relu", "maxrelu"))
        if activation == "maxrelu" and any(size % 2 for size in sizes):
            raise ValueError(f"widths: expected even widths, as activation='maxrelu' pairs units, got {sizes}")
        super().__init__(dim, num_components=sizes[-1], pool=pool)
        self.widths, self.activation = sizes, activation
        self.skip = nn.Parameter(torch.randn(sum(sizes), self.dim) / math.sqrt(self.dim))
        self.hidden = nn.ModuleList(
            NonNegativeLinear(fan_in, fan_out) for fan_in, fan_out in zip(self.widths, self.widths[1:], strict=False)
        )
        self.activations = nn.ModuleList(make_activation(activation, width) for width in self.widths[:-1])

    @property
    def has_fused_rows(self) -> bool:
        return True

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        units = self._fused_units(x, self.skip)
        return self._from_skips(self._skips(x)) if units is None else units

    def _skips(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch u"]:
        """The products U_i x of all layers."""
        return linear(x, self.skip)

    def _from_skips(self, u: Float[Tensor, "*batch u"]) -> Float[Tensor, "*batch k"]:
        units = self._fused_units(u, None)
        if units is not None:
            return units
        first, *rest = u.split(self.widths, dim=-1)
        return self._from_layer(0, first, rest)

    def _fused_units(self, x: Tensor, skip: Tensor | None) -> Tensor | None:
        """The components of vectors, or of their skips, in one step of autograd; None if it cannot be."""
        if x.ndim != 2 or torch.compiler.is_compiling() or fused.has_hooks(*self.hidden, *self.activations):
            return None
        weights = [hidden.raw_weight for hidden in self.hidden]
        if self.activation == "maxrelu":
            return deep_units(x, skip, self.widths, None, weights, [own.raw_mix for own in self.activations])  # pyright: ignore[reportArgumentType]
        return deep_units(x, skip, self.widths, LEAKY_SLOPE if self.activation == "leaky_relu" else 0.0, weights, [])

    def _from_layer(self, layer: int, unit: Tensor, skips: Sequence[Tensor]) -> Tensor:
        for hidden, activation, skip in zip(self.hidden[layer:], self.activations[layer:], skips, strict=True):
            unit = hidden(activation(unit)) + skip
        return unit.relu()

    def linear_split(self) -> LinearSplit:
        return LinearSplit(self._skips, self._from_skips, sum(self.widths))

    def split_both_ways(self) -> LinearSplit:
        r"""Share the second layer of both directions, the largest product of all where there are two layers.

        The odd part $o$ of the first activation is linear and $g(-u) = g(u) - o(u)$, so $W_1 o(u)$ is one more linear
        feature, computed once per point.
        """
        if len(self.widths) == 1:
            return super().split_both_ways()
        return LinearSplit(self._skips_and_odd, self._from_skips_and_odd, sum(self.widths) + self.widths[1])

    def _skips_and_odd(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch u"]:
        u = self._skips(x)
        odd = self.hidden[0](odd_part(self.activations[0], u[..., : self.widths[0]]))
        return torch.cat([u, odd], dim=-1)

    def _from_skips_and_odd(self, u: Float[Tensor, "*batch u"]) -> Float[Tensor, "*batch k"]:
        first, skip, *rest, odd = u.split([*self.widths, self.widths[1]], dim=-1)
        there = self.hidden[0](self.activations[0](first))
        back = there - odd - skip
        return self._from_layer(1, there + skip, rest) + self._from_layer(1, back, [-each for each in rest])

    def pair_kernel(self) -> PairKernel:
        scratch = Scratch()
        weights = [hidden.weight.mT for hidden in self.hidden]

        def project(x: Float[Tensor, "n dim"]) -> Projection:
            return self._skips(x).split(self.widths, dim=-1)

        def pairs(px: Projection, py: Projection) -> Tensor:
            first, *rest = zip(px, py, strict=True)
            unit = scratch.differences("even", *first)
            for i, (weight, activation, skip) in enumerate(zip(weights, self.activations, rest, strict=True)):
                hidden = activate_(activation, unit).flatten(0, -2)
                unit = scratch.differences("even" if i % 2 else "odd", *skip).flatten(0, 1)
                unit = add_product(unit, hidden, weight)
            return unit.relu_().view(len(px[0]), len(py[0]), -1)

        return PairKernel(project, pairs, 2 * sum(self.widths), loses_digits=True)


class NonNegativeLinear(nn.Module):
    r"""$x \mapsto W x$ with $W \ge 0$; starts near an average of the inputs, whatever their number.

    Args:
        fan_in: size of the input.
        fan_out: size of the output.
    """

    def __init__(self, fan_in: int, fan_out: int) -> None:
        super().__init__()
        # E|N(0, 1)| = sqrt(2 / pi), so that each row of the weight sums to about 1.
        self.raw_weight = nn.Parameter(torch.randn(fan_out, fan_in) * (math.sqrt(math.pi / 2) / fan_in))

    @property
    def weight(self) -> Float[Tensor, "out in"]:
        """The matrix W."""
        return nonnegative(self.raw_weight)

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        return linear(x, self.weight)
