"""Norms made of norms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.axioms import combined_axioms
from trimetric.kernels.pairs import PairFunction, Projection
from trimetric.norms.activations import PoolName
from trimetric.norms.base import Norm
from trimetric.norms.constraints import positive, raw_of_positive
from trimetric.norms.mahalanobis import Euclidean
from trimetric.norms.pooled import pooled_pairs


class Symmetrized(Norm):
    r"""Components $c_i(x) + c_i(-x)$ of a norm with components $c_i$ (Proposition 2).

    Symmetric component by component, so that it stays so under concave units; under mean pooling it is
    the $\|x| + \|{-x}|$ of the proposition.
    """

    def __init__(self, norm: Norm) -> None:
        checks.instance("norm", norm, Norm)
        super().__init__(norm.dim, num_components=norm.num_components, pool=None, inner=norm)
        self.splits = norm.splits
        self.axioms = norm.axioms.but(symmetric=True)

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        return self.inner.components(x) + self.inner.components(-x)

    def linear(self, x: Float[Tensor, "n dim"]) -> Float[Tensor, "n u"]:
        return self.inner.linear_both_ways(x)

    def components_of(self, u: Float[Tensor, "*batch u"]) -> Float[Tensor, "*batch k"]:
        return self.inner.components_both_ways(u)

    def pairwise(self) -> PairFunction:
        there, back = self.inner.pairwise(), self.inner.pairwise()
        return lambda px, py: there(px, py) + back(py, px).transpose(0, 1)

    @property
    def pair_floats(self) -> int:
        return 2 * self.inner.pair_floats


class PositiveDefinite(Norm):
    r"""Components $c_i(x) + \lambda\|x\|_2$ with a learned $\lambda \ge$ `minimum` $> 0$ (Proposition 3).

    Every pooling of them is the norm plus $\lambda\|x\|_2$, which is positive for $x \ne 0$.
    """

    splits = True

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

    def project(self, x: Float[Tensor, "n dim"]) -> Projection:
        return self.inner.project(x), self.euclidean.project(x)

    def pairwise(self) -> PairFunction:
        inner, euclidean, weight = self.inner.pairwise(), self.euclidean.pairwise(), self.weight
        return lambda px, py: inner(px[0], py[0]) + weight * euclidean(px[1], py[1])

    @property
    def pair_floats(self) -> int:
        return self.inner.pair_floats + 2 * self.num_components


class Asymmetrized(Norm):
    r"""$\|\mathrm{relu}(x :: -x)\|$ for a norm on $\mathbb{R}^{2n}$ that is N5 (Proposition 4).

    Subadditive because $\mathrm{relu}(x + y) \le \mathrm{relu}(x) + \mathrm{relu}(y)$ and the norm is monotone (N5).
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

    def project(self, x: Float[Tensor, "n dim"]) -> Float[Tensor, "n dim"]:
        return x


class CombinedNorm(Norm):
    r"""The mean, max or maxmean of norms on one space: the general Wide Norm of section 2.3."""

    norms: Any

    def __init__(self, norms: Iterable[Norm], *, pool: PoolName = "maxmean") -> None:
        parts = checks.members("norms", norms, "Norm")
        for i, part in enumerate(parts):
            checks.instance(f"norms[{i}]", part, Norm)
        dim = checks.one_dim("norms", [part.dim for part in parts])
        super().__init__(dim, num_components=len(parts), pool=pool)
        self.norms = nn.ModuleList(parts)
        self.axioms = combined_axioms(norm.axioms for norm in parts)
        self.splits = any(norm.splits for norm in parts)

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        return torch.stack([norm(x) for norm in self.norms], dim=-1)

    def project(self, x: Float[Tensor, "n dim"]) -> Projection:
        return tuple(norm.project(x) for norm in self.norms)

    def pairwise(self) -> PairFunction:
        return pooled_pairs(self.norms)

    @property
    def pair_floats(self) -> int:
        return max(norm.pair_floats for norm in self.norms) + 2 * self.num_components

    @property
    def definition_floats(self) -> int:
        return max(norm.definition_floats for norm in self.norms) + 2 * self.num_components
