"""What every norm is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor

from trimetric._support import checks
from trimetric.kernels.pairs import PairFunction, Projection
from trimetric.norms.pooled import Pooled


class Norm(Pooled, ABC):
    r"""A map $x \mapsto \|x\|$ from `(..., dim)` to `(...)`: at least an asymmetric semi-norm.

    A subclass gives `components`, each an asymmetric semi-norm; the norm pools them.  One whose `pairwise` works
    on differences of projections sets `splits`; these lose digits where points are close, and
    `NormInduced` sees to it.
    """

    splits: bool = False

    @abstractmethod
    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        """The semi-norms that are pooled, on the last axis."""

    def forward(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch"]:
        checks.same_dtype("x", checks.vectors("x", x, self.dim), self)
        return self.pool(self.components(x))

    def linear(self, x: Float[Tensor, "n dim"]) -> Float[Tensor, "n u"]:
        """Linear maps of x from which `components_of` goes on: `components(x)` is `components_of(linear(x))`.

        Those of a difference are the difference of those of two points, which are computed once a point.
        """
        return x

    def components_of(self, u: Float[Tensor, "*batch u"]) -> Float[Tensor, "*batch k"]:
        return self.components(u)

    def linear_both_ways(self, x: Float[Tensor, "n dim"]) -> Float[Tensor, "n u"]:
        """The same for `components_both_ways`."""
        return self.linear(x)

    def components_both_ways(self, u: Float[Tensor, "*batch u"]) -> Float[Tensor, "*batch k"]:
        """`components(x) + components(-x)` of what `linear_both_ways` made of x."""
        return self.components_of(u) + self.components_of(-u)

    def project(self, x: Float[Tensor, "n dim"]) -> Projection:
        """The part of the computation that needs one point only; the origin of the points does not matter."""
        return x if self.inner is None else self.inner.project(x)

    def pairwise(self) -> PairFunction:
        return lambda px, py: self.components(py.unsqueeze(0) - px.unsqueeze(1))
