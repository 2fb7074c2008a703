"""What every norm is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor

from trimetric import checks
from trimetric.pooled import PairFunction, Pooled


class Norm(Pooled, ABC):
    r"""A map $x \mapsto \|x\|$ from `(..., dim)` to `(...)`: at least an asymmetric semi-norm.

    A subclass gives `components`, each an asymmetric semi-norm; the norm pools them.
    """

    @abstractmethod
    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        """The semi-norms that are pooled, on the last axis."""

    def forward(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch"]:
        return self.pool(self.components(checks.vectors("x", x, self.dim)))

    def pairwise(self) -> PairFunction:
        return lambda px, py: self.components(py.unsqueeze(0) - px.unsqueeze(1))
