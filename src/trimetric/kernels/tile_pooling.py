"""The end of a fused distance, in machine code: minimum of lines, then pool, of the components of a tile of pairs.

A tile is `components[c, i, j]`: a few rows i against 256 columns j.  Everything after the components that the package
puts on them (a scale, concave units, both) is for each component the minimum of lines, `min_u slope[c, u] t +
offset[c, u]`.  All inner loops run over columns, in functions that index whole arrays: so the compiler vectorizes them
and makes no views.  Imported on first use, because it imports numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trimetric.kernels.machine_code import njit
from trimetric.kernels.vector_pool import write_pool
from trimetric.kernels.vectors import COLUMNS, ROWS

# Sums may be reordered, so that they vectorize; NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract", "nsz"}
MEAN, MAX, MAXMEAN = 0, 1, 2
# Scratch rows of a tile: the lowest line, which one it is, the largest component, how many are as large, their sum,
# and the gradient of the distance; then the largest components and the sums of four rows.
LOWEST, BEST, TOP, TIES, TOTAL, GRAD, TOPS = range(7)
TOTALS = TOPS + ROWS
SCRATCH_ROWS = TOTALS + ROWS


@njit(fastmath=REORDER)
def pool_tile(
    components: Any, slope: Any, offset: Any, kind: int, alpha: float, out: Any, i0: int, j0: int, scratch: Any
) -> None:
    """Write the distances of a tile to `out` from row `i0` and column `j0` on, as far as `out` reaches.

    Args:
        components: (k, rows, columns).
        slope: (k, 1 + 4 r) for some r, or (k, 0) where the components are pooled as they are.
        offset: like `slope`.
        kind: MEAN, MAX or MAXMEAN.
        alpha: the weight of the largest component in a MAXMEAN.
        out: (n, m).
        i0: first row.
        j0: first column.
        scratch: (SCRATCH_ROWS, columns).
    """
    k, every, width = components.shape
    height, valid = min(every, out.shape[0] - i0), min(width, out.shape[1] - j0)
    one = out.dtype.type(1)
    top_share, mean_share = pool_shares(kind, alpha, k, one)
    for i in range(0, height, ROWS):
        pool_rows(components, i, slope, offset, scratch)
        for row in range(i, min(i + ROWS, height)):
            _write_pool(scratch, row - i, kind, top_share, mean_share, out, i0 + row, j0, valid)


@njit(fastmath=REORDER)
def pool_rows(components: Any, i: int, slope: Any, offset: Any, scratch: Any) -> None:
    """Write the largest component and the sum of the rows `i` to `i + ROWS - 1` to scratch, from TOPS and TOTALS on."""
    k, every, width = components.shape
    step, units = every * width, slope.shape[1]
    for j in range(0, width, COLUMNS):
        tops, totals = TOPS * width + j, TOTALS * width + j
        # numba gives the first argument
        write_pool(components, i * width + j, step, width, k, slope, offset, units, scratch, tops, totals)  # type: ignore[call-arg]


@njit
def pool_shares(kind: int, alpha: float, k: int, one: Any) -> Any:
    """The weights of the largest component and of the sum of all."""
    if kind == MEAN:
        return one * 0, one / k
    if kind == MAX:
        return one, one * 0
    return one * alpha, (one - one * alpha) / k


@njit(fastmath=REORDER)
def start_pool(scratch: Any, width: int) -> None:
    """Forget what was pooled before."""
    for j in range(width):
        scratch[TOP, j] = -np.inf
        scratch[TIES, j] = 0
        scratch[TOTAL, j] = 0


@njit(fastmath=REORDER)
def lowest_lines(components: Any, c: int, i: int, slope: Any, offset: Any, scratch: Any) -> None:
    """Write the minimum of the lines of a component to scratch."""
    if slope.shape[1] == 1:
        s0, o0 = slope[c, 0], offset[c, 0]
        for j in range(components.shape[2]):
            scratch[LOWEST, j] = s0 * components[c, i, j] + o0
        return
    s0, s1, s2, s3, s4 = slope[c, 0], slope[c, 1], slope[c, 2], slope[c, 3], slope[c, 4]
    o0, o1, o2, o3, o4 = offset[c, 0], offset[c, 1], offset[c, 2], offset[c, 3], offset[c, 4]
    for j in range(components.shape[2]):
        t = components[c, i, j]
        low = s0 * t + o0
        v1, v2, v3, v4 = s1 * t + o1, s2 * t + o2, s3 * t + o3, s4 * t + o4
        low = v1 if v1 < low else low
        v2 = v3 if v3 < v2 else v2
        low = v4 if v4 < low else low
        scratch[LOWEST, j] = v2 if v2 < low else low
    for u in range(5, slope.shape[1], 4):
        _lower_lines(components, c, i, slope, offset, u, scratch)


@njit(fastmath=REORDER)
def _lower_lines(components: Any, c: int, i: int, slope: Any, offset: Any, u: int, scratch: Any) -> None:
    s1, s2, s3, s4 = slope[c, u], slope[c, u + 1], slope[c, u + 2], slope[c, u + 3]
    o1, o2, o3, o4 = offset[c, u], offset[c, u + 1], offset[c, u + 2], offset[c, u + 3]
    for j in range(components.shape[2]):
        t, low = components[c, i, j], scratch[LOWEST, j]
        v1, v2, v3, v4 = s1 * t + o1, s2 * t + o2, s3 * t + o3, s4 * t + o4
        low = v1 if v1 < low else low
        v2 = v3 if v3 < v2 else v2
        low = v4 if v4 < low else low
        scratch[LOWEST, j] = v2 if v2 < low else low


@njit(fastmath=REORDER)
def add_lowest_to_pool(scratch: Any, width: int) -> None:
    """Add what `lowest_lines` has written to maximum and sum."""
    for j in range(width):
        v, top = scratch[LOWEST, j], scratch[TOP, j]
        scratch[TOP, j] = v if v > top else top
        scratch[TOTAL, j] += v


@njit(fastmath=REORDER)
def add_component_to_pool(components: Any, c: int, i: int, scratch: Any) -> None:
    """Add a component as it is to maximum and sum."""
    for j in range(components.shape[2]):
        v, top = components[c, i, j], scratch[TOP, j]
        scratch[TOP, j] = v if v > top else top
        scratch[TOTAL, j] += v


@njit(fastmath=REORDER)
def _write_pool(
    scratch: Any, i: int, kind: int, top_share: float, mean_share: float, out: Any, row: int, j0: int, valid: int
) -> None:
    for j in range(valid):
        top, total = scratch[TOPS + i, j], scratch[TOTALS + i, j]
        value = mean_share * total
        if kind == MAX:  # a comparison loses a NaN, a sum does not
            value = top if total == total else total
        elif kind == MAXMEAN:
            value = top_share * top + value
        out[row, j0 + j] = value
