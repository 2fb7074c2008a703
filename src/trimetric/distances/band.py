"""A free network that is a quasimetric, because its values lie within a factor of two."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric.constraints import nonnegative
from trimetric.distances.base import Distance
from trimetric.distances.norm_induced import as_distance
from trimetric.equal_rows import row_keys, zero_at_equal_rows
from trimetric.norms import Norm
from trimetric.pooled import PairFunction, Projection


class BandMetric(Distance):
    r"""$c\,(1 + \mathrm{sigmoid}(f(x, y)))$ for $x \ne y$, and 0 for $x = y$, with *any* function $f$ and $c \ge 0$.

    One step costs at most $2c$ and two cost at least $2c$, so no detour through a third point is shorter.  Every
    quasimetric whose largest distance is at most twice its smallest has this form: an unconstrained network such as
    `MLPDistance` then needs no other guarantee.  It has no small distances but 0, so by itself it suits pairs that are
    all far apart; in a `WideMetric` beside another head it adds what that one cannot say.

    **At $x = y$** the distance jumps, as that of a `TollMetric` does: $x \ne y$ means that the points differ in some
    coordinate, by however little.

    Args:
        distance: $f$, any distance or norm; it need not promise anything.
    """

    def __init__(self, distance: Norm | Distance) -> None:
        inner = as_distance("distance", distance)
        super().__init__(inner.dim, num_components=1, pool="mean", inner=inner)
        self.raw_floor = nn.Parameter(torch.ones(()))
        self.axioms = inner.axioms.but(
            nonnegative=True, reflexive=True, definite=False, triangle=True, homogeneous=False, monotone=False
        )

    @property
    def floor(self) -> Tensor:
        """The smallest distance c."""
        return nonnegative(self.raw_floor)

    def _band(self, components: Tensor) -> Tensor:
        return self.floor * (1 + self.inner.pool(components).sigmoid()).unsqueeze(-1)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch 1"]:
        differ = (x != y).any(dim=-1, keepdim=True)
        return torch.where(differ, self._band(self.inner.components(x, y)), 0)

    def project(self, x: Float[Tensor, "n dim"], centre: Float[Tensor, " dim"]) -> Projection:
        return self.inner.project(x, centre), (x.detach(), row_keys(x))

    def pairwise(self) -> PairFunction:
        inner = self.inner.pairwise()

        def pairs(px: Projection, py: Projection) -> Tensor:
            (rows, x), (columns, y) = px, py
            return zero_at_equal_rows(self._band(inner(rows, columns)), x, y)

        return pairs

    @property
    def pair_floats(self) -> int:
        return self.inner.pair_floats + 3
