"""Interval quasimetrics: lengths of unions of intervals."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric._audit.axioms import Axioms
from trimetric.distances.base import Distance
from trimetric.distances.groups import Groups
from trimetric.kernels.fused import FusedPairs
from trimetric.kernels.intervals import interval_pairs
from trimetric.kernels.pairs import PairKernel
from trimetric.kernels.rows.intervals import paired_intervals, row_intervals
from trimetric.norms.activations import PoolName


class IntervalQuasimetric(Distance):
    r"""The pooled lengths $|\bigcup_j\,[x_j, \max(x_j, y_j)]|$ over groups of coordinates (IQE, Wang and Isola 2022).

    $[x_j, \max(x_j, z_j)]$ is covered by $[x_j, \max(x_j, y_j)]$ and $[y_j, \max(y_j, z_j)]$, so the union for $(x, z)$
    lies in those for $(x, y)$ and $(y, z)$ together, and a length is monotone and subadditive.

    All intervals start at an $x_j$, so their order depends on x alone: with $s$ the sorted $x$ and $E_j$ the largest
    of the first $j$ ends, the length is $\sum_j E_j - \max(E_{j-1}, s_j)$, and no sorting per pair is needed.  There
    are no parameters except those of `pool`; `mean` is the published sum, divided by the number of components.

    Args:
        dim: number of coordinates.
        components: groups of coordinates; by default groups of 16.
        pool: of the components.

    Examples:
        >>> distance = IntervalQuasimetric(2, pool="mean")
        >>> distance(torch.tensor([0.0, 1.0]), torch.tensor([2.0, 5.0]))  # [0, 2] and [1, 5] cover 5
        tensor(5.)
    """

    def __init__(self, dim: int, *, components: int | None = None, pool: PoolName = "maxmean") -> None:
        groups = Groups(dim, components, width=16)
        super().__init__(dim, num_components=groups.count, pool=pool)
        self.groups = groups
        # A shift moves the intervals of a group against each other.
        self.axioms = Axioms(translation_invariant=groups.width == 1)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        lengths = paired_intervals(self.groups.pad(x), self.groups.pad(y), self.groups.count)
        if lengths is not None:
            return lengths
        starts, order, ends = torch.broadcast_tensors(*self._sorted(x), self.groups.split(y))
        ends = ends.gather(-1, order)
        reach = _running_maximum(torch.maximum(starts, ends))
        covered = torch.cat([starts[..., :1], reach[..., :-1]], dim=-1)
        return (reach - torch.maximum(covered, starts)).sum(dim=-1)

    @property
    def has_fused_rows(self) -> bool:
        return True

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        lengths = row_intervals(self.groups.pad(points), start, end, self.groups.count)
        return super().row_components(points, start, end) if lengths is None else lengths

    def pair_kernel(self) -> PairKernel:
        return PairKernel(
            project=lambda x, center: (*self._sorted(x), self.groups.split(x)),  # noqa: ARG005
            pairs=lambda px, py: interval_pairs(px[0], px[1], py[2]),
            floats=3 * self.num_components,
            fused=FusedPairs(
                lambda x, center: self.groups.split(x).flatten(-2),  # noqa: ARG005
                "interval",
                self.num_components,
            ),
        )

    @property
    def definition_floats(self) -> int:
        return 6 * self.num_components * self.groups.width

    def _sorted(self, x: Tensor) -> tuple[Tensor, Tensor]:
        grouped = self.groups.split(x)
        order = grouped.detach().argsort(dim=-1)
        return grouped.gather(-1, order), order


def _running_maximum(values: Tensor) -> Tensor:
    """The largest so far, along the last axis; for compilers in log2 steps of maxima, which every exporter knows."""
    if not torch.compiler.is_compiling():
        return torch.cummax(values, dim=-1).values
    shift = 1
    while shift < values.shape[-1]:
        values = torch.cat([values[..., :shift], torch.maximum(values[..., shift:], values[..., :-shift])], dim=-1)
        shift *= 2
    return values
