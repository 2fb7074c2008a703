"""Norms with one Euclidean component."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric.kernels.fused import FusedPairs
from trimetric.kernels.pairs import LinearSplit, PairKernel
from trimetric.kernels.projections import euclidean_pairs, with_squares
from trimetric.kernels.rows.linear import linear
from trimetric.kernels.scratch import Scratch
from trimetric.norms.activations import PoolName
from trimetric.norms.base import Norm


class _OneEuclideanComponent(Norm):
    """All pairs by one matrix product."""

    def pair_kernel(self) -> PairKernel:
        linear, scratch = self.linear_split().linear, Scratch()
        return PairKernel(
            project=lambda x: with_squares(linear(x), 1),
            pairs=lambda px, py: euclidean_pairs(px, py, scratch),
            floats=3,
            loses_digits=True,
            fused=FusedPairs(linear, "euclidean", 1, loses_digits=not self.linear_split().exact),
        )


class Euclidean(_OneEuclideanComponent):
    r"""The norm $\|x\|_2$.

    Args:
        dim: size of the last axis.
        pool: has no effect, since there is one component; accepted so that norms can be exchanged for each other.

    Examples:
        >>> Euclidean(2)(torch.tensor([3.0, 4.0]))
        tensor(5.)
    """

    axioms = Axioms(definite=True, symmetric=True, monotone=True)

    def __init__(self, dim: int, *, pool: PoolName = "mean") -> None:
        super().__init__(dim, num_components=1, pool=pool)

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch 1"]:
        return torch.linalg.vector_norm(x, dim=-1, keepdim=True)


class Mahalanobis(_OneEuclideanComponent):
    r"""The norm $\|Wx\|_2$ with a learned $W$ of `rank` rows.

    A linear map followed by the Euclidean norm is homogeneous, subadditive and symmetric.  It is definite if $W$ has
    full column rank.  Training does not ensure that, so definiteness is not promised.

    Args:
        dim: size of the last axis.
        rank: number of rows of $W$; `dim` by default.
        pool: has no effect, since there is one component; accepted so that norms can be exchanged for each other.

    Examples:
        >>> Mahalanobis(8, rank=2)(torch.randn(5, 8)).shape
        torch.Size([5])
    """

    axioms = Axioms(symmetric=True)

    def __init__(self, dim: int, *, rank: int | None = None, pool: PoolName = "mean") -> None:
        super().__init__(dim, num_components=1, pool=pool)
        rows = self.dim if rank is None else checks.positive_int("rank", rank)
        self.weight = nn.Parameter(nn.init.orthogonal_(torch.empty(rows, self.dim)))

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch 1"]:
        return _length(self._linear(x))

    def linear_split(self) -> LinearSplit:
        return LinearSplit(self._linear, _length, len(self.weight))

    def _linear(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch rank"]:
        return linear(x, self.weight)


def _length(u: Float[Tensor, "*batch rank"]) -> Float[Tensor, "*batch 1"]:
    return torch.linalg.vector_norm(u, dim=-1, keepdim=True)
