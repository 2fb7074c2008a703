"""Norms made of norms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._audit.axioms import combined_axioms
from trimetric._support import checks
from trimetric.kernels.pairs import LinearSplit, PairKernel
from trimetric.norms.activations import PoolName
from trimetric.norms.base import Norm
from trimetric.norms.constraints import positive, raw_of_positive
from trimetric.norms.mahalanobis import Euclidean
from trimetric.norms.pooled import stack_kernels


class Symmetrized(Norm):
    r"""Components $c_i(x) + c_i(-x)$ of a norm with components $c_i$ (Proposition 2).

    Each component is symmetric, so the norm stays symmetric under concave units.  With mean pooling it is
    the $\|x| + \|{-x}|$ of the proposition.

    Args:
        norm: the norm to symmetrize; its pooling is used.

    Examples:
        >>> from trimetric import DeepNorm
        >>> norm, x = Symmetrized(DeepNorm(4, widths=(8, 8))), torch.randn(4)
        >>> bool(torch.isclose(norm(x), norm(-x)))
        True
    """

    def __init__(self, norm: Norm) -> None:
        checks.instance("norm", norm, Norm)
        super().__init__(norm.dim, num_components=norm.num_components, pool=None, inner=norm)
        self.axioms = norm.axioms.but(symmetric=True)

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        split = self.inner.linear_split()
        features = split.linear(x)
        return split.components(features) + split.components(-features)

    def linear_split(self) -> LinearSplit:
        return self.inner.split_both_ways()

    def pair_kernel(self) -> PairKernel:
        there, back = self.inner.pair_kernel(), self.inner.pair_kernel()
        return there._replace(
            pairs=lambda px, py: there.pairs(px, py) + back.pairs(py, px).transpose(0, 1),
            floats=2 * there.floats,
            fused=None,
        )


class PositiveDefinite(Norm):
    r"""Components $c_i(x) + \lambda\|x\|_2$ with a learned $\lambda \ge$ `minimum` $> 0$ (Proposition 3).

    Every pooling of them is the norm plus $\lambda\|x\|_2$, which is positive for $x \ne 0$.

    Args:
        norm: the norm to make definite; its pooling is used.
        weight: the initial value of $\lambda$; above `minimum`.
        minimum: the lower bound of $\lambda$.

    Examples:
        >>> from trimetric import WideNorm
        >>> PositiveDefinite(WideNorm(4)).axioms.definite
        True
    """

    def __init__(self, norm: Norm, *, weight: float = 0.1, minimum: float = 1e-3) -> None:
        checks.instance("norm", norm, Norm)
        checks.finite_number("minimum", minimum, above=0)
        checks.finite_number("weight", weight, above=minimum)
        super().__init__(norm.dim, num_components=norm.num_components, pool=None, inner=norm)
        self.euclidean = Euclidean(norm.dim)
        self.minimum = minimum
        self.raw_weight = nn.Parameter(torch.tensor(raw_of_positive(weight, minimum=minimum)))
        self.axioms = norm.axioms.but(definite=True)

    @property
    def weight(self) -> Tensor:
        """The weight lambda of the Euclidean norm."""
        return positive(self.raw_weight, minimum=self.minimum)

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        return self.inner.components(x) + self.weight * self.euclidean.components(x)

    def pair_kernel(self) -> PairKernel:
        inner, euclidean, weight = self.inner.pair_kernel(), self.euclidean.pair_kernel(), self.weight
        return PairKernel(
            project=lambda x: (inner.project(x), euclidean.project(x)),
            pairs=lambda px, py: inner.pairs(px[0], py[0]) + weight * euclidean.pairs(px[1], py[1]),
            floats=inner.floats + 2 * self.num_components,
            loses_digits=True,
        )


class Asymmetrized(Norm):
    r"""$\|\mathrm{relu}(x :: -x)\|$ for a norm on $\mathbb{R}^{2n}$ that is N5 (Proposition 4).

    Subadditive because $\mathrm{relu}(x + y) \le \mathrm{relu}(x) + \mathrm{relu}(y)$ and the norm is monotone (N5).

    Args:
        norm: a norm of twice the size that promises to be monotone; its pooling is used.

    Examples:
        >>> norm = Asymmetrized(Euclidean(4))
        >>> norm.dim, norm.axioms.symmetric
        (2, False)
    """

    def __init__(self, norm: Norm) -> None:
        checks.instance("norm", norm, Norm)
        if norm.dim % 2:
            raise ValueError(f"norm: expected an even dim, as it acts on relu(x :: -x), got dim {norm.dim}")
        if not norm.axioms.monotone:
            raise ValueError(
                "norm: expected one that promises to be monotone in the positive orthant (N5), such as "
                f"WideNorm(..., symmetric=True, monotone=True), got {type(norm).__name__}, which promises "
                f"{norm.axioms}"
            )
        super().__init__(norm.dim // 2, num_components=norm.num_components, pool=None, inner=norm)
        self.axioms = norm.axioms.but(symmetric=False, monotone=False)

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        return self.inner.components(torch.cat([x, -x], dim=-1).relu())


class CombinedNorm(Norm):
    r"""The mean, max or maxmean of norms on one space: the general Wide Norm of section 2.3.

    A sum and a maximum of subadditive homogeneous functions are subadditive and homogeneous.

    Args:
        norms: the norms, all with the same `dim`.
        pool: how their values are pooled: "mean", "max" or "maxmean".

    Examples:
        >>> CombinedNorm([Euclidean(2), Euclidean(2)])(torch.tensor([3.0, 4.0])).item()
        5.0
    """

    norms: Any

    def __init__(self, norms: Iterable[Norm], *, pool: PoolName = "maxmean") -> None:
        parts = checks.members("norms", norms, "Norm")
        for i, part in enumerate(parts):
            checks.instance(f"norms[{i}]", part, Norm)
        dim = checks.one_dim("norms", [part.dim for part in parts])
        super().__init__(dim, num_components=len(parts), pool=pool)
        self.norms = nn.ModuleList(parts)
        self.axioms = combined_axioms(norm.axioms for norm in parts)

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        return torch.stack([norm(x) for norm in self.norms], dim=-1)

    def pair_kernel(self) -> PairKernel:
        return stack_kernels(self.norms)

    @property
    def definition_floats(self) -> int:
        return max(norm.definition_floats for norm in self.norms) + 2 * self.num_components
