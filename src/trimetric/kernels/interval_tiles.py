r"""The components of tiles of pairs in machine code: lengths of unions of intervals, with gradients.

The recursion is that of `trimetric.kernels.intervals`.  The gradient needs to know which argument won each maximum;
the ends $E_j$ of one row and group, for 256 columns, are computed again and stay in the fastest cache.  Padded as in
`trimetric.kernels.rectified_tiles`; a coordinate that is 0 everywhere is an empty interval.  Imported on first use,
because it imports numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trimetric.kernels.machine_code import njit
from trimetric.kernels.tile_pooling import REORDER
from trimetric.kernels.vector_block import write_unions
from trimetric.kernels.vectors import COLUMNS, ROWS

# Without reordering: (total + end) - covered is not total where end = covered, but total + (end - covered) is.
_IN_ORDER = {"contract", "nsz"}


@njit(fastmath=_IN_ORDER)
def sort_groups(x: Any, tiles: Any, size: int, order: Any, starts: Any) -> None:
    """Sort each group of `size` coordinates of each row: `starts` are `x[i, order[i]]`, NaN last.

    Args:
        x: (n, k size).
        tiles: the same numbers as (n / width, k size, width), so that rows are compared side by side.
        size: of a group.
        order: written, (n, k size).
        starts: written, (n, k size).
    """
    width = tiles.shape[2]
    rank = np.empty((size, width), dtype=x.dtype)
    for t in range(tiles.shape[0]):
        height = min(width, x.shape[0] - t * width)
        for first in range(0, x.shape[1], size):
            for q in range(size):
                for j in range(width):
                    rank[q, j] = 0
                for p in range(q):
                    _compare(tiles, t, first, p, q, rank)
            for j in range(height):
                row, numbers = t * width + j, True
                for q in range(first, first + size):
                    numbers &= x[row, q] == x[row, q]
                if not numbers:
                    _sort_by_insertion(x, row, first, size, order, starts)
                    continue
                for q in range(size):
                    place = first + int(rank[q, j])
                    starts[row, place], order[row, place] = x[row, first + q], first + q


@njit(fastmath=_IN_ORDER)
def _compare(tiles: Any, t: int, first: int, p: int, q: int, rank: Any) -> None:
    """Count for coordinates p < q of each row how many come before them; of equal ones the first does."""
    zero, one = rank.dtype.type(0), rank.dtype.type(1)
    for j in range(rank.shape[1]):
        smaller = one if tiles[t, first + q, j] < tiles[t, first + p, j] else zero
        rank[p, j] += smaller
        rank[q, j] += one - smaller


@njit
def _sort_by_insertion(x: Any, i: int, first: int, size: int, order: Any, starts: Any) -> None:
    for q in range(first, first + size):
        value, place = x[i, q], q
        # A NaN is not smaller than anything, and everything is before it.
        while place > first and (value < starts[i, place - 1] or starts[i, place - 1] != starts[i, place - 1]):
            starts[i, place], order[i, place] = starts[i, place - 1], order[i, place - 1]
            place -= 1
        starts[i, place], order[i, place] = value, q


@njit(fastmath=_IN_ORDER)
def interval_tile(starts: Any, order: Any, i0: int, ends: Any, components: Any, reach: Any) -> None:  # noqa: ARG001
    """Write the covered lengths of the rows from `i0` on to `components` (k, rows, columns).

    Args:
        starts: (n, k w), sorted within groups.
        order: (n, k w), the coordinate of each start.
        i0: first row of the tile.
        ends: (k w, columns).
        components: written.
        reach: scratch of the gradient.
    """
    k, height, width = components.shape
    every = ends.shape[0]
    size = every // k
    for c in range(k):
        for i in range(0, height, ROWS):
            first, out = (i0 + i) * every + c * size, (c * height + i) * width
            for j in range(0, width, COLUMNS):
                # numba gives the first argument
                write_unions(starts, order, first, every, size, ends, j, width, components, out + j)  # type: ignore[call-arg]


@njit(fastmath=REORDER)
def interval_gradient(
    starts: Any,
    order: Any,
    i0: int,
    ends: Any,
    components: Any,
    pulls: Any,
    grad_starts: Any,
    grad_ends: Any,
    reach: Any,
) -> None:
    """Add the gradients of a tile to those of the rows, by coordinate, and of the columns."""
    k, height, width = components.shape
    size = ends.shape[0] // k
    for c in range(k):
        for i in range(height):
            row, first = i0 + i, c * size
            for j in range(width):
                reach[0, j] = starts[row, first]
                reach[size + 1, j] = pulls[c, i, j]
            for rank in range(size):
                _reach_further(reach, rank, ends, order[row, first + rank], starts[row, first + rank])
            for rank in range(size - 1, -1, -1):
                place = order[row, first + rank]
                grad_starts[row, place] += _pull_interval(
                    reach, rank, ends, place, starts[row, first + rank], pulls, c, i, grad_ends
                )


@njit(fastmath=REORDER)
def _reach_further(reach: Any, rank: int, ends: Any, place: int, start: float) -> None:
    for j in range(ends.shape[1]):
        covered, end = reach[rank, j], ends[place, j]
        covered = start if covered < start else covered
        reach[rank + 1, j] = covered if end <= covered else end


@njit(fastmath=REORDER)
def _pull_interval(
    reach: Any, rank: int, ends: Any, place: int, start: float, pulls: Any, c: int, i: int, grad_ends: Any
) -> float:
    """From the gradient of E_j to that of E_{j-1}, in the last row of `reach`; returns the gradient of the start."""
    last = reach.shape[0] - 1
    total = zero = reach.dtype.type(0)
    for j in range(ends.shape[1]):
        earlier, pull, on_reach = reach[rank, j], pulls[c, i, j], reach[last, j]
        joined = earlier > start
        covered = earlier if joined else start
        on_end = on_reach if ends[place, j] > covered else zero
        on_covered = (on_reach - on_end) - pull
        on_earlier = on_covered if joined else zero
        grad_ends[place, j] += on_end
        total += on_covered - on_earlier  # a condition here would keep the loop from being vectorized
        reach[last, j] = pull + on_earlier
    return total
