"""Randers metrics: a Euclidean length with a drift, as of a boat in a current."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.kernels.close_pairs import recompute_close_pairs
from trimetric.kernels.pairs import PairKernel, Projection
from trimetric.kernels.projections import euclidean_pairs, with_squares
from trimetric.kernels.rows.linear import linear
from trimetric.kernels.scratch import Scratch
from trimetric.norms.activations import PoolName


class RandersMetric(Distance):
    r"""The pooled $\|W_i d\|_2 + b_i \cdot d$ of $d = y - x$, with the drift $b_i$ in the dual unit ball of the norm.

    That ball is $\{W^\top v : \|v\|_2 \le 1\}$, so $b_i = W_i^\top v_i$ with $v_i = u_i / \sqrt{1 + \|u_i\|^2}$ is in
    it for every value of the free parameter $u_i$.  A norm plus a linear function is subadditive and homogeneous; it is
    non-negative because $b \cdot d = v \cdot W d \ge -\|W d\|_2$.  (A final relu removes negative values caused by
    rounding; it is subadditive and non-decreasing itself.)

    Args:
        dim: number of coordinates.
        components: how many such metrics are pooled.
        rank: rows of each W; `dim` by default.
        pool: of the components.

    Examples:
        >>> distance = RandersMetric(3)
        >>> x, y = torch.randn(2, 3)
        >>> bool(distance(x, y) == distance(y, x))
        False
    """

    axioms = Axioms()

    def __init__(self, dim: int, *, components: int = 1, rank: int | None = None, pool: PoolName = "maxmean") -> None:
        count = checks.positive_int("components", components)
        super().__init__(dim, num_components=count, pool=pool)
        rows = self.dim if rank is None else checks.positive_int("rank", rank)
        self.weight = nn.Parameter(torch.randn(count, rows, self.dim) / math.sqrt(rows))
        self.raw_drift = nn.Parameter(torch.randn(count, rows) / math.sqrt(rows))

    @property
    def drift(self) -> Float[Tensor, "k rank"]:
        """The vectors v, shorter than 1."""
        longest = self.raw_drift.abs().amax(dim=-1, keepdim=True).clamp(min=1)  # no square overflows
        scaled = self.raw_drift / longest
        return scaled / (longest.reciprocal().square() + scaled.square().sum(dim=-1, keepdim=True)).sqrt()

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        rows = self._rows(y - x).unflatten(-1, (self.num_components, -1))
        return (torch.linalg.vector_norm(rows, dim=-1) + (rows * self.drift).sum(dim=-1)).relu()

    def pair_kernel(self) -> PairKernel:
        scratch = Scratch()

        def project(x: Float[Tensor, "n dim"]) -> Projection:
            rows = self._rows(x)
            drift = (rows.unflatten(-1, (self.num_components, -1)) * self.drift).sum(dim=-1)
            return with_squares(rows, self.num_components), drift

        def pairs(px: Projection, py: Projection) -> Tensor:
            (x, x_drift), (y, y_drift) = px, py
            return (euclidean_pairs(x, y, scratch) + (y_drift + x_drift.neg().unsqueeze(1))).relu()

        kernel = PairKernel(project, pairs, 5 * self.num_components, loses_digits=True)
        return recompute_close_pairs(kernel, self.components, k=self.num_components)

    @property
    def definition_floats(self) -> int:
        return 2 * self.dim + 3 * self.raw_drift.numel()

    def _rows(self, x: Tensor) -> Tensor:
        return linear(x, self.weight.flatten(0, 1))
