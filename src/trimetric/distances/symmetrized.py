"""Metrics made of quasimetrics."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.distances.norm_induced import as_distance
from trimetric.kernels.pairs import PairKernel
from trimetric.norms import Norm


class SymmetrizedMetric(Distance):
    r"""Components $c_i(x, y) + c_i(y, x)$, or the larger of the two, of a distance with components $c_i$.

    $c_i(y, x)$ is a quasimetric if $c_i(x, y)$ is, and so are a sum and a maximum of quasimetrics.  Each component is
    symmetric, so the distance stays symmetric under concave units.  With mean pooling, `how="sum"` is
    $d(x, y) + d(y, x)$, and with max pooling, `how="max"` is $\max(d(x, y), d(y, x))$.

    Args:
        distance: any distance or norm; its pooling is used.
        how: "sum" or "max" of the two directions.

    Examples:
        >>> from trimetric import IntervalQuasimetric
        >>> distance = SymmetrizedMetric(IntervalQuasimetric(1), how="max")
        >>> distance(torch.tensor([5.0]), torch.tensor([2.0]))
        tensor(3.)
    """

    def __init__(self, distance: Norm | Distance, *, how: Literal["sum", "max"] = "sum") -> None:
        inner = as_distance("distance", distance)
        checks.one_of("how", how, ("sum", "max"))
        super().__init__(inner.dim, num_components=inner.num_components, pool=None, inner=inner)
        self.how = how
        self.axioms = inner.axioms.but(symmetric=True)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return self._both(self.inner.components(x, y), self.inner.components(y, x))

    def pair_kernel(self) -> PairKernel:
        there, back = self.inner.pair_kernel(), self.inner.pair_kernel()
        return there._replace(
            pairs=lambda px, py: self._both(there.pairs(px, py), back.pairs(py, px).transpose(0, 1)),
            floats=2 * there.floats + self.num_components,
            fused=None,
        )

    def _both(self, there: Tensor, back: Tensor) -> Tensor:
        return there + back if self.how == "sum" else torch.maximum(there, back)

    @property
    def definition_floats(self) -> int:
        return 2 * self.inner.definition_floats
