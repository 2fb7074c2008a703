"""What every norm is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor

from trimetric import checks
from trimetric.pooled import PairFunction, Pooled, Projection


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
        return self.pool(self.components(checks.vectors("x", x, self.dim)))

    def project(self, x: Float[Tensor, "n dim"]) -> Projection:
        """The part of the computation that needs one point only; the origin of the points does not matter."""
        return x if self.inner is None else self.inner.project(x)

    def pairwise(self) -> PairFunction:
        return lambda px, py: self.components(py.unsqueeze(0) - px.unsqueeze(1))
