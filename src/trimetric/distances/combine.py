"""Functions of distances: weighted sums and maxima, and the discounted form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._audit.axioms import NOTHING, combined_axioms
from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.distances.norm_induced import as_distance
from trimetric.distances.transformed import TransformedDistance
from trimetric.kernels.pairs import PairKernel
from trimetric.norms import Norm
from trimetric.norms.activations import PoolName
from trimetric.norms.constraints import nonnegative
from trimetric.norms.pooled import stack_kernels


class WideMetric(Distance):
    r"""The pooled $w_i d_i(x, y)$ of distances on one space, with learned $w_i \ge 0$ (section 3.1).

    A non-negative multiple, a sum and a maximum of quasimetrics are quasimetrics (Proposition 8).

    Args:
        distances: distances or norms, all with the same `dim`.
        pool: how their weighted values are pooled: "mean", "max" or "maxmean".

    Examples:
        >>> from trimetric import Euclidean, IntervalQuasimetric
        >>> WideMetric([Euclidean(4), IntervalQuasimetric(4)])(torch.randn(5, 4), torch.randn(5, 4)).shape
        torch.Size([5])
    """

    distances: Any

    def __init__(self, distances: Iterable[Norm | Distance], *, pool: PoolName = "mean") -> None:
        members = checks.members("distances", distances, "Norm or Distance")
        parts = [as_distance(f"distances[{i}]", part) for i, part in enumerate(members)]
        dim = checks.one_dim("distances", [part.dim for part in parts])
        super().__init__(dim, num_components=len(parts), pool=pool)
        self.distances = nn.ModuleList(parts)
        self.raw_weight = nn.Parameter(torch.ones(len(parts)))
        # A weight may become 0, so definiteness is not kept.
        self.axioms = combined_axioms(part.axioms for part in parts).but(definite=False)

    @property
    def weight(self) -> Tensor:
        """The weights of the distances."""
        return nonnegative(self.raw_weight)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return self.weight * torch.stack([distance(x, y) for distance in self.distances], dim=-1)

    @property
    def has_fused_rows(self) -> bool:
        return all(distance.has_fused_rows for distance in self.distances)

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        parts = [distance.between_rows(points, start, end) for distance in self.distances]
        return self.weight * torch.stack(parts, dim=-1)

    def pair_kernel(self) -> PairKernel:
        weight = self.weight
        return stack_kernels(self.distances).then(lambda values: weight * values, floats=self.num_components)

    @property
    def definition_floats(self) -> int:
        return max(distance.definition_floats for distance in self.distances) + 3 * self.num_components


class Discounted(TransformedDistance):
    r"""The discount $\gamma^{d(x, y)} \in [0, 1]$ of a distance: 1 at $d = 0$, and 0 for a pair that cannot be reached.

    For unreachable pairs, $d = \infty$ has no finite loss, but $\gamma^\infty = 0$ does.  So train this discount
    against $\gamma^{d}$.  With a head whose output is finite it only tends to 0; read a discount near 0 as "far or
    unreachable".

    A discount is not a distance (it promises no more than $\ge 0$): the triangle inequality of $d$ becomes
    $\gamma^{d(x,z)} \ge \gamma^{d(x,y)}\,\gamma^{d(y,z)}$.

    Args:
        distance: any distance or norm.
        gamma: the discount factor, between 0 and 1.

    Examples:
        >>> from trimetric import Euclidean
        >>> Discounted(Euclidean(1), gamma=0.5)(torch.tensor([0.0]), torch.tensor([3.0]))
        tensor(0.1250)
    """

    def __init__(self, distance: Norm | Distance, *, gamma: float) -> None:
        inner = as_distance("distance", distance)
        checks.finite_number("gamma", gamma, above=0, below=1)
        super().__init__(inner.dim, num_components=1, pool="mean", inner=inner)
        self.gamma = gamma
        self.axioms = NOTHING.but(nonnegative=True, symmetric=inner.axioms.symmetric)

    def transform(self, components: Float[Tensor, "*batch k"]) -> Float[Tensor, "*batch 1"]:
        return (self.gamma ** self.inner.pool(components)).unsqueeze(-1)
