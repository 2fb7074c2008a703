r"""The probability that one Poisson variable is not larger than another, and its gradient.

With independent $N_a \sim \mathrm{Poisson}(a)$ and $N_b \sim \mathrm{Poisson}(b)$,

$$\partial_a \Pr[N_a \le N_b] = -\Pr[N_a = N_b] = -e^{-a-b} I_0(2\sqrt{ab}), \qquad
  \partial_b \Pr[N_a \le N_b] = \Pr[N_a = N_b + 1] = e^{-a-b}\sqrt{a/b}\,I_1(2\sqrt{ab}),$$

and $\Pr[N_a > N_b]$ is 0 at $a = 0$, so it is the integral of the first from 0 to $a$; with $r = \sqrt{a'}$,
$\beta = \sqrt b$ and the scaled Bessel function $\tilde I_0(z) = e^{-z} I_0(z)$,

$$\Pr[N_a > N_b] = \int_0^{\sqrt a} 2r\,e^{-(r-\beta)^2}\,\tilde I_0(2 r \beta)\,dr, \qquad
  \Pr[N_a \le N_b] = \int_{\sqrt a}^\infty \text{(the same)}.$$

The integrand is positive, smooth, and falls off from its end at $\sqrt a$ like a Gaussian; the end is factored out, the
range is cut where nothing is left, and Gauss-Legendre quadrature does the rest to rounding, for any rates: no sum
grows with them, and nothing under- or overflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def _unit_legendre(count: int) -> list[tuple[float, float]]:
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return list(zip(((1 + nodes) / 2).tolist(), (weights / 2).tolist(), strict=True))


# By precision: the exponent at which the integrand is cut, and the number of nodes.
_CUT = {torch.float32: 18.0, torch.float64: 38.0}
_NODES = {dtype: _unit_legendre(count) for dtype, count in ((torch.float32, 14), (torch.float64, 28))}


def log_probability_not_larger(a: Tensor, b: Tensor) -> Tensor:
    r"""$\log \Pr[N_a \le N_b]$ for rates $a, b \ge 0$, relatively accurate also where it is near 0."""
    wide = torch.promote_types(a.dtype, torch.float32)
    return _LogNotLarger.apply(a.to(wide), b.to(wide))[0].to(a.dtype)  # type: ignore[index]


# Abramowitz and Stegun 9.8.1 in (z / 3.75)^2 and 9.8.2 in 3.75 / z, from the constant on: to 2e-7 (5e-7 as rounded).
_BESSEL_SWITCH = 3.75
_BESSEL_SMALL = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813)
_BESSEL_LARGE = (
    *(0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281),
    *(-0.02057706, 0.02635537, -0.01647633, 0.00392377),
)


def _scaled_bessel(z: Tensor) -> Tensor:
    r"""$e^{-z} I_0(z)$ for $z \ge 0$; in single precision by polynomials, several times faster than torch's own."""
    if z.dtype != torch.float32:
        return torch.special.i0e(z)
    small = _polynomial(_BESSEL_SMALL, (z.clamp(max=_BESSEL_SWITCH) / _BESSEL_SWITCH).square()) * (-z).exp()
    above = z.clamp(min=_BESSEL_SWITCH)
    return torch.where(z < _BESSEL_SWITCH, small, _polynomial(_BESSEL_LARGE, _BESSEL_SWITCH / above) * above.rsqrt())


def _polynomial(coefficients: tuple[float, ...], x: Tensor) -> Tensor:
    total = torch.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total.mul_(x).add_(coefficient)
    return total


def _integral(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    r"""$J$ and $\Delta$ with $e^{-\Delta^2} J$ the probability of "not larger" where `above`, else of "larger"."""
    root, beta = a.sqrt(), b.sqrt()
    above = root > beta + 1
    side = torch.where(above, 1.0, -1.0).to(a.dtype)
    both = root + beta
    delta = side * (a - b) / torch.where(both > 0, both, 1)  # root - beta, with the digits of a - b
    # The integrand at root + side * t is that at root times about exp(-t^2 - 2 t delta).
    cut = _CUT[a.dtype]
    length = cut / (delta + (delta.square() + cut).sqrt())
    length = torch.where(above, length, torch.minimum(length, root))
    total = torch.zeros_like(a)
    for node, weight in _NODES[a.dtype]:
        t = node * length
        r = torch.addcmul(root, side, t).clamp(min=0)
        total = total + weight * r * (-t * (t + 2 * delta)).exp() * _scaled_bessel(2 * r * beta)
    return 2 * length * total, delta, above


class _LogNotLarger(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        integral, delta, above = _integral(a, b)
        peak = (-delta.square()).exp()
        # Both branches get arguments at which the logarithm is finite, so that no NaN is born.
        larger = torch.where(above, 0, peak * integral)
        log = torch.where(above, torch.where(above, integral, 1).log() - delta.square(), torch.log1p(-larger))
        # e^{-delta^2} over the probability of "not larger", as the gradients need it.
        ratio = torch.where(above, 1 / torch.where(above, integral, 1), peak / (1 - larger))
        return log, ratio

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        a, b, ratio = ctx.saved_tensors
        z = 2 * (a * b).sqrt()
        equal = torch.special.i0e(z)
        # sqrt(a / b) I_1(z) = a I_1(z) / (z / 2), and I_1(z) / (z / 2) is 1 at 0.
        one_more = a * torch.where(z > 0, 2 * torch.special.i1e(z) / torch.where(z > 0, z, 1), 1)
        return -grad * ratio * equal, grad * ratio * one_more
