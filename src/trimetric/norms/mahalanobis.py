"""Norms with one Euclidean component."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.axioms import Axioms
from trimetric.kernels.pairs import PairFunction, Projection
from trimetric.kernels.projections import Scratch, euclidean_pairs, with_squares
from trimetric.norms.activations import PoolName
from trimetric.norms.base import Norm


class _OneEuclideanComponent(Norm):
    """All pairs by one matrix product."""

    splits = True

    def pairwise(self) -> PairFunction:
        scratch = Scratch()
        return lambda px, py: euclidean_pairs(px, py, scratch)

    @property
    def pair_floats(self) -> int:
        return 3


class Euclidean(_OneEuclideanComponent):
    r"""The norm $\|x\|_2$."""

    axioms = Axioms(definite=True, symmetric=True, monotone=True)

    def __init__(self, dim: int, *, pool: PoolName = "mean") -> None:
        super().__init__(dim, num_components=1, pool=pool)

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch 1"]:
        return torch.linalg.vector_norm(x, dim=-1, keepdim=True)

    def project(self, x: Float[Tensor, "n dim"]) -> Projection:
        return with_squares(x, 1)


class Mahalanobis(_OneEuclideanComponent):
    r"""The norm $\|Wx\|_2$ with a learned $W$ of `rank` rows.

    Linear, then Euclidean: homogeneous, subadditive and symmetric.  Definite where $W$ has full
    column rank, which training does not ensure and which is therefore not promised.
    """

    axioms = Axioms(symmetric=True)

    def __init__(self, dim: int, *, rank: int | None = None, pool: PoolName = "mean") -> None:
        super().__init__(dim, num_components=1, pool=pool)
        rows = self.dim if rank is None else checks.positive_int("rank", rank)
        self.weight = nn.Parameter(nn.init.orthogonal_(torch.empty(rows, self.dim)))

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch 1"]:
        return self.components_of(self.linear(x))

    def linear(self, x: Float[Tensor, "n dim"]) -> Float[Tensor, "n rank"]:
        return x @ self.weight.mT

    def components_of(self, u: Float[Tensor, "*batch rank"]) -> Float[Tensor, "*batch 1"]:
        return torch.linalg.vector_norm(u, dim=-1, keepdim=True)

    def project(self, x: Float[Tensor, "n dim"]) -> Projection:
        return with_squares(self.linear(x), 1)
