"""Points in leaves: groups of points that are close in their distances to the pivots, and bounds for each group."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric.search.pivots import PivotDistances

SPREAD_SAMPLE = 1000
FEW_NUMBERS = 1 << 18  # differences that are made at once: pivot by pivot would take longer to start
QUERIES_AT_ONCE = 64  # so that the bounds of all leaves stay in cache


def split_into_leaves(coordinates: Float[Tensor, "n c"], leaf_size: int) -> tuple[Int[Tensor, " n"], list[int]]:
    """Order points so that consecutive ones are close, by splitting at medians of the widest coordinate.

    Args:
        coordinates: of the points.
        leaf_size: the most points of a leaf.

    Returns:
        The order of the points, and the number of points in each leaf.

    Examples:
        >>> order, sizes = split_into_leaves(torch.tensor([[0.0], [9.0], [1.0], [8.0]]), 2)
        >>> [sorted(part.tolist()) for part in order.split(sizes)]
        [[0, 2], [1, 3]]
    """
    table = coordinates.numpy()
    leaves: list[np.ndarray] = []
    waiting = [np.arange(len(table))] if len(table) else []
    while waiting:
        rows = waiting.pop()
        if len(rows) <= leaf_size:
            leaves.append(rows)
            continue
        few = table[rows[:: max(1, len(rows) // SPREAD_SAMPLE)]]
        widest = int((few.max(axis=0) - few.min(axis=0)).argmax())
        half = len(rows) // 2
        order = np.argpartition(table[rows, widest], half)
        waiting += [rows[order[half:]], rows[order[:half]]]
    joined = np.concatenate(leaves) if leaves else np.empty(0, np.int64)
    return torch.from_numpy(joined), [len(leaf) for leaf in leaves]


@dataclass(frozen=True)
class Leaves:
    """Where each leaf starts, and the least and largest distances of its points to and from the pivots.

    Attributes:
        starts: the first point of each leaf, and the number of points at the end.
        low: the least d(x, pivot), then the least d(pivot, x), `(2 * pivots, leaves)`.
        high: the largest.
    """

    starts: Int[Tensor, " leaves+1"]
    low: Float[Tensor, "c leaves"]
    high: Float[Tensor, "c leaves"]

    @classmethod
    def of(cls, distances: PivotDistances, sizes: list[int]) -> Leaves:
        """Measure leaves of consecutive points.

        Args:
            distances: of the points, in the order of the leaves.
            sizes: of the leaves.
        """
        starts = torch.tensor([0, *sizes]).cumsum(0)
        both = torch.cat([distances.to, distances.from_], dim=1).numpy()
        if len(sizes):
            first = starts[:-1].numpy()
            low, high = np.minimum.reduceat(both, first), np.maximum.reduceat(both, first)
        else:
            low = high = np.empty((0, both.shape[1]))
        return cls(starts, torch.from_numpy(low).mT.contiguous(), torch.from_numpy(high).mT.contiguous())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def join(self, other: Leaves) -> Leaves:
        """Put the leaves of more points behind these."""
        starts = torch.cat([self.starts, self.starts[-1] + other.starts[1:]])
        return Leaves(starts, torch.cat([self.low, other.low], dim=1), torch.cat([self.high, other.high], dim=1))

    @functools.cached_property
    def _outwards(self) -> tuple[Tensor, Tensor]:
        """`low` and `high` in float32, rounded outwards."""
        return _rounded(self.low, up=False), _rounded(self.high, up=True)

    def lower_bounds(self, queries: PivotDistances, *, outgoing: bool, margin: float) -> Float[Tensor, "n leaves"]:
        r"""Bound the distances between queries and the points of each leaf from below.

        From a query q: $d(q, x) \ge d(q, p) - \max_x d(x, p)$ and $d(q, x) \ge \min_x d(p, x) - d(p, q)$.
        To a query: $d(x, q) \ge \min_x d(x, p) - d(q, p)$ and $d(x, q) \ge d(p, q) - \max_x d(p, x)$.

        Args:
            queries: their distances to and from the pivots.
            outgoing: whether distances from the queries are asked for, not those to them.
            margin: what rounding may have done to the numbers, subtracted from the bounds.

        Returns:
            The bounds in float32, rounded down.
        """
        pivots = queries.to.shape[1]
        falling, rising = (queries.to, queries.from_) if outgoing else (queries.from_, queries.to)
        low, high = self._outwards
        most, least = (high[:pivots], low[pivots:]) if outgoing else (high[pivots:], low[:pivots])
        # Rounded outwards once, then float32 is enough; the difference itself rounds by a part of its own size.
        falling, rising = _rounded(falling, up=False), _rounded(rising, up=True)
        if len(queries) * len(self) * pivots <= FEW_NUMBERS:
            down, up = falling.unsqueeze(2) - most, least - rising.unsqueeze(2)
            bounds = torch.maximum(down, up).amax(dim=1)
            return bounds.sub_(bounds.abs(), alpha=2.0**-22).sub_(margin)
        bounds = torch.empty(len(queries), len(self))
        for i in range(0, len(queries), QUERIES_AT_ONCE):
            part = bounds[i : i + QUERIES_AT_ONCE]
            part.fill_(-torch.inf)
            difference = torch.empty_like(part)
            down, up = falling[i : i + QUERIES_AT_ONCE].mT.unsqueeze(2), rising[i : i + QUERIES_AT_ONCE].mT.unsqueeze(2)
            for p in range(pivots):
                torch.maximum(part, torch.sub(down[p], most[p], out=difference), out=part)
                torch.maximum(part, torch.sub(least[p], up[p], out=difference), out=part)
        return bounds.sub_(bounds.abs(), alpha=2.0**-22).sub_(margin)


def _rounded(values: Tensor, *, up: bool) -> Tensor:
    """To float32, never inwards."""
    narrow = values.float()
    away = torch.nextafter(narrow, torch.full_like(narrow, torch.inf if up else -torch.inf))
    wrong = narrow.double() < values if up else narrow.double() > values
    return torch.where(wrong, away, narrow).contiguous()
