"""Distances to and from a few points, from which the triangle inequality bounds all others.

For a pivot p, $d(q, x) \\ge d(q, p) - d(x, p)$ and $d(q, x) \\ge d(p, x) - d(p, q)$.  All of it is computed in float64,
whatever the points are in: the differences of large distances then keep their digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric.distances.all_pairs import all_pairs
from trimetric.search.definition import PointDistance, check_finite_distances

SAMPLED = 2048
ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class PivotDistances:
    """The distances of n points to and from the pivots, in float64.

    Attributes:
        to: d(point, pivot), `(n, pivots)`.
        from_: d(pivot, point), `(n, pivots)`; the same tensor if the distance is symmetric.
    """

    to: Float[Tensor, "n pivots"]
    from_: Float[Tensor, "n pivots"]

    def __len__(self) -> int:
        return len(self.to)

    def rows(self, rows: Tensor | slice) -> PivotDistances:
        """Select points."""
        to = self.to[rows]
        return PivotDistances(to, to if self.from_ is self.to else self.from_[rows])

    def join(self, other: PivotDistances) -> PivotDistances:
        """Put the rows of another below these."""
        to = torch.cat([self.to, other.to])
        return PivotDistances(to, to if self.from_ is self.to else torch.cat([self.from_, other.from_]))

    @property
    def coordinates(self) -> Tensor:
        """All numbers of each point."""
        return self.to if self.from_ is self.to else torch.cat([self.to, self.from_], dim=1)

    @property
    def scale(self) -> float:
        """The largest absolute distance."""
        return max(float(part.abs().max()) for part in (self.to, self.from_)) if len(self) else 0.0


class Pivots:
    """Measures the distances of points to and from the pivots.

    Args:
        distance: in the working precision.
        points: the pivots.
        symmetric: whether d(x, y) = d(y, x), so that one direction is enough.
        dtype: of the working precision.
    """

    def __init__(self, distance: PointDistance, points: Tensor, *, symmetric: bool, dtype: torch.dtype) -> None:
        self.distance, self.points, self.symmetric, self.dtype = distance, points, symmetric, dtype

    def __len__(self) -> int:
        return len(self.points)

    @torch.no_grad()
    def measure(self, points: Tensor, *, name: str = "points") -> PivotDistances:
        """Compute the distances of points to and from the pivots.

        Args:
            points: `(n, dim)`.
            name: what error messages call their distances.
        """
        to = points.new_empty(len(points), len(self), dtype=torch.float64)
        from_ = to if self.symmetric else torch.empty_like(to)
        pivots = self.points.to(self.dtype)
        for i in range(0, len(points), ROWS_AT_ONCE):
            part = slice(i, i + ROWS_AT_ONCE)
            rows = points[part].to(self.dtype)
            to[part] = all_pairs(self.distance, rows, pivots)
            if not self.symmetric:
                from_[part] = all_pairs(self.distance, pivots, rows).mT
        check_finite_distances(f"distances of {name}", to)
        check_finite_distances(f"distances of {name}", from_)
        return PivotDistances(to, from_)


@torch.no_grad()
def choose_pivots(distance: PointDistance, points: Tensor, number: int, *, dtype: torch.dtype, seed: int) -> Tensor:
    """Choose pivots: each the farthest from those before it, among a sample.

    Args:
        distance: in the working precision.
        points: to choose from.
        number: how many; fewer if there are fewer different points.
        dtype: of the working precision.
        seed: of the sample.

    Returns:
        The rows of the pivots.
    """
    generator = torch.Generator().manual_seed(seed)
    sample = torch.randperm(len(points), generator=generator)[:SAMPLED]
    some = points[sample].to(dtype)

    def far(row: int) -> Tensor:
        one = some[row : row + 1]
        return all_pairs(distance, some, one)[:, 0] + all_pairs(distance, one, some)[0]

    nearest = far(0)
    chosen = [int(nearest.argmax())]
    nearest = far(chosen[0])
    while len(chosen) < min(number, len(sample)):
        row = int(nearest.argmax())
        if not float(nearest[row]) > 0:
            break
        chosen.append(row)
        nearest = torch.minimum(nearest, far(row))
    return sample[torch.tensor(chosen)]
