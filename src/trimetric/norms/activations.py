"""Element-wise and pooling functions that map semi-norms to a semi-norm, or quasimetrics to a quasimetric."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric._support import checks
from trimetric.kernels.fused import Pooling
from trimetric.kernels.rows.concave import lowest_lines
from trimetric.kernels.rows.pooling import max_mean
from trimetric.norms.constraints import nonnegative, raw_of_unit_interval, unit_interval

PoolName = Literal["mean", "max", "maxmean"]
ActivationName = Literal["relu", "leaky_relu", "maxrelu"]
LEAKY_SLOPE = 0.1
FEW = 4096  # numbers for which calls take longer than arithmetic


class MaxReLU(nn.Module):
    r"""Pairs $(a, b)$ of units become $[\max(a, b),\ \alpha\,\mathrm{relu}(a) + \beta\,\mathrm{relu}(b)]$.

    With $\alpha, \beta \ge 0$ each output is convex, positively homogeneous and non-decreasing in its inputs.
    The pairs are the two halves of the last axis; $\alpha$ and $\beta$ are learned for each pair.  The maximum
    of two negative numbers is negative, so this may not be the last activation of a norm (deviation D1).
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        checks.positive_int("width", width)
        if width % 2:
            raise ValueError(f"width: expected an even width, as MaxReLU pairs units, got {width}")
        self.raw_mix = nn.Parameter(torch.full((2, width // 2), 0.5))

    @property
    def mix(self) -> Tensor:
        """The weights alpha (first row) and beta (second row)."""
        return nonnegative(self.raw_mix)

    def forward(self, x: Tensor) -> Tensor:
        a, b = x.chunk(2, dim=-1)
        alpha, beta = self.mix
        return torch.cat([torch.maximum(a, b), alpha * a.relu() + beta * b.relu()], dim=-1)

    def in_place(self, x: Tensor) -> Tensor:
        """The same without a gradient, in the memory of `x`."""
        a, b = x.chunk(2, dim=-1)
        alpha, beta = self.mix
        larger = torch.maximum(a, b)
        b.relu_().mul_(beta).addcmul_(a.relu_(), alpha)
        a.copy_(larger)
        return x


def make_activation(name: ActivationName, width: int) -> nn.Module:
    """A convex, positively homogeneous, non-decreasing activation."""
    if name == "relu":
        return nn.ReLU()
    return nn.LeakyReLU(LEAKY_SLOPE) if name == "leaky_relu" else MaxReLU(width)


def activate_(activation: nn.Module, x: Tensor) -> Tensor:
    """The activation, in the memory of `x` where autograd allows it."""
    if isinstance(activation, nn.ReLU):
        return x.relu_()
    if isinstance(activation, nn.LeakyReLU):
        return F.leaky_relu_(x, activation.negative_slope)
    if isinstance(activation, MaxReLU) and not torch.is_grad_enabled():
        return activation.in_place(x)
    return activation(x)


def odd_part(activation: nn.Module, x: Tensor) -> Tensor:
    """g(x) - g(-x), linear in x for each of these: relu(x) - relu(-x) = x, and max(a, b) + min(a, b) = a + b."""
    if isinstance(activation, nn.ReLU):
        return x
    if isinstance(activation, nn.LeakyReLU):
        return (1 + activation.negative_slope) * x
    if isinstance(activation, MaxReLU):
        a, b = x.chunk(2, dim=-1)
        alpha, beta = activation.mix
        return torch.cat([a + b, alpha * a + beta * b], dim=-1)
    raise TypeError(f"activation: expected relu, leaky relu or MaxReLU, got {type(activation).__name__}")


class Mean(nn.Module):
    """The mean over the last axis."""

    def forward(self, components: Tensor) -> Tensor:
        return components.mean(dim=-1)


def largest(components: Tensor) -> Tensor:
    """The maximum over the last axis."""
    if not torch.compiler.is_compiling():
        return components.amax(dim=-1)
    # The gradient of amax goes where a component equals the maximum.  Compiled code computes the components again for
    # it, with other roundings, so that often none does and the gradient is lost; max remembers which one it was.
    return components.max(dim=-1).values


class Max(nn.Module):
    """The maximum over the last axis."""

    def forward(self, components: Tensor) -> Tensor:
        return largest(components)


class MaxMean(nn.Module):
    r"""$\alpha \max_i c_i + (1 - \alpha)\,\mathrm{mean}_i\, c_i$ over the last axis, $\alpha \in [0, 1]$ learned."""

    def __init__(self, alpha: float = 0.5) -> None:
        super().__init__()
        checks.finite_number("alpha", alpha, above=0, below=1)
        self.raw_alpha = nn.Parameter(torch.tensor(raw_of_unit_interval(alpha)))

    @property
    def alpha(self) -> Tensor:
        return unit_interval(self.raw_alpha)

    def forward(self, components: Tensor) -> Tensor:
        pooled = max_mean(components, self.raw_alpha)
        if pooled is not None:
            return pooled
        return torch.lerp(components.mean(dim=-1), largest(components), self.alpha)


class Single(nn.Module):
    """The only component of the last axis, which is what every pooling makes of it."""

    def forward(self, components: Tensor) -> Tensor:
        return components.squeeze(-1)


POOLS: dict[PoolName, type[nn.Module]] = {"mean": Mean, "max": Max, "maxmean": MaxMean}


def make_pool(pool: PoolName, num_components: int) -> nn.Module:
    """Pooling of non-negative components: a monotone norm of them, so it keeps every axiom."""
    checks.one_of("pool", pool, POOLS)
    return Single() if num_components == 1 else POOLS[pool]()


def pooling_of(pool: nn.Module) -> Pooling | None:
    """What fused kernels need to know of a pool that `make_pool` has made; None for any other module."""
    kind = type(pool)
    if kind is MaxMean:
        return Pooling("maxmean", pool.alpha)  # type: ignore[arg-type]
    return {Mean: Pooling("mean"), Max: Pooling("max"), Single: Pooling("mean")}.get(kind)  # type: ignore[call-overload]


class ConcaveUnits(nn.Module):
    r"""$f_i(t) = \min_j\,(w_{ij} t + b_{ij})$ for component $i$, with $w, b \ge 0$ and $b_{i0} = 0$.

    A minimum of affine functions is concave; it is non-decreasing as $w \ge 0$, and $f_i(0) = 0$ as
    $b_{i0} = 0$ and $b \ge 0$.  Such an $f_i$ of a quasimetric is a quasimetric (Proposition 7).
    """

    def __init__(self, num_components: int, units: int) -> None:
        super().__init__()
        checks.positive_int("concave_units", units)
        # Lines tangent to a gently bent curve: each is the lowest somewhere in (0, 2), so each learns.
        bend = torch.linspace(0, 1, units).expand(num_components, units)
        self.raw_slope = nn.Parameter(1 - bend / 2)
        self.raw_offset = nn.Parameter((bend[:, 1:] ** 2) / 2)

    @property
    def slope(self) -> Tensor:
        """The slopes w, one row per component."""
        return nonnegative(self.raw_slope)

    @property
    def offset(self) -> Tensor:
        """The offsets b, one row per component; the first of each is 0."""
        return F.pad(nonnegative(self.raw_offset), (1, 0))

    def forward(self, components: Tensor) -> Tensor:
        lowest = lowest_lines(components, self.raw_slope, self.raw_offset)
        if lowest is not None:
            return lowest
        if not torch.compiler.is_compiling() and (torch.is_grad_enabled() or components.numel() <= FEW):
            return torch.addcmul(self.offset, self.slope, components.unsqueeze(-1)).min(dim=-1).values
        # One line at a time: a compiler fuses them, and no tensor is larger than the components.
        (first, *slopes), (_, *offsets) = self.slope.unbind(-1), self.offset.unbind(-1)
        lowest = first * components
        for slope, offset in zip(slopes, offsets, strict=True):
            lowest = torch.minimum(lowest, torch.addcmul(offset, slope, components))
        return lowest
