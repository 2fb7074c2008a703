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

# Sums may be reordered, so that they vectorize; NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract", "nsz"}
MEAN, MAX, MAXMEAN = 0, 1, 2
# Scratch rows of a tile: the lowest line, which one it is, the largest component, how many are as large, their sum,
# and the gradient of the distance.
_LOWEST, _BEST, _TOP, _TIES, _TOTAL, _GRAD = range(6)
SCRATCH_ROWS = 6


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
    k, height, width = components.shape
    height, valid = min(height, out.shape[0] - i0), min(width, out.shape[1] - j0)
    one = out.dtype.type(1)
    top_share, mean_share = _shares(kind, alpha, k, one)
    for i in range(height):
        _start_pool(scratch, width)
        for c in range(k):
            if slope.shape[1]:
                _lowest_lines(components, c, i, slope, offset, scratch)
                _add_lowest_to_pool(scratch, width)
            else:
                _add_component_to_pool(components, c, i, scratch)
        _write_pool(scratch, kind, top_share, mean_share, out, i0 + i, j0, valid)


@njit(fastmath=REORDER)
def pull_tile(
    components: Any,
    slope: Any,
    offset: Any,
    kind: int,
    alpha: float,
    grad: Any,
    i0: int,
    j0: int,
    pulls: Any,
    grad_slope: Any,
    grad_offset: Any,
    grad_alpha: Any,
    scratch: Any,
) -> None:
    """Write the gradients of the components of a tile to `pulls`, and add those of the lines and of alpha.

    Args:
        components: (k, rows, columns).
        slope: as in `pool_tile`.
        offset: as in `pool_tile`.
        kind: MEAN, MAX or MAXMEAN.
        alpha: the weight of the largest component in a MAXMEAN.
        grad: (n, m), the gradients of the distances.
        i0: first row of the tile.
        j0: first column of the tile.
        pulls: like `components`; 0 beyond the edge of `grad`.
        grad_slope: like `slope`, in double precision.
        grad_offset: like `offset`, in double precision.
        grad_alpha: (1,), in double precision.
        scratch: (SCRATCH_ROWS, columns).
    """
    k, height, width = components.shape
    one = grad.dtype.type(1)
    top_share, mean_share = _shares(kind, alpha, k, one)
    for i in range(height):
        _read_gradients(grad, i0 + i, j0, scratch)
        if kind != MEAN:
            _start_pool(scratch, width)
            for c in range(k):  # the values wait in `pulls`
                if slope.shape[1]:
                    _lowest_lines(components, c, i, slope, offset, scratch)
                    _add_lowest_to_pool(scratch, width)
                    _keep_lowest(scratch, pulls, c, i)
                else:
                    _add_component_to_pool(components, c, i, scratch)
                    _keep_component(components, pulls, c, i)
            for c in range(k):
                _count_ties(pulls, c, i, scratch)
            grad_alpha[0] += _pull_on_alpha(scratch, one / k)
            _share_top(scratch, top_share)
        for c in range(k):
            if kind == MEAN:
                _pull_mean(scratch, mean_share, pulls, c, i)
            else:
                _pull_mixed(scratch, mean_share, pulls, c, i)
            if slope.shape[1] == 1:
                on_slope, on_offset = _pull_line(components, slope, pulls, c, i)
                grad_slope[c, 0] += on_slope
                grad_offset[c, 0] += on_offset
            elif slope.shape[1]:
                _best_lines(components, c, i, slope, offset, scratch)
                _take_gradient(scratch, pulls, c, i)
                for u in range(slope.shape[1]):
                    on_slope, on_offset = _pull_best(components, slope, scratch, pulls, c, i, u)
                    grad_slope[c, u] += on_slope
                    grad_offset[c, u] += on_offset


@njit
def _shares(kind: int, alpha: float, k: int, one: Any) -> Any:
    """The weights of the largest component and of the sum of all."""
    if kind == MEAN:
        return one * 0, one / k
    if kind == MAX:
        return one, one * 0
    return one * alpha, (one - one * alpha) / k


@njit(fastmath=REORDER)
def _start_pool(scratch: Any, width: int) -> None:
    for j in range(width):
        scratch[_TOP, j] = -np.inf
        scratch[_TIES, j] = 0
        scratch[_TOTAL, j] = 0


@njit(fastmath=REORDER)
def _lowest_lines(components: Any, c: int, i: int, slope: Any, offset: Any, scratch: Any) -> None:
    if slope.shape[1] == 1:
        s0, o0 = slope[c, 0], offset[c, 0]
        for j in range(components.shape[2]):
            scratch[_LOWEST, j] = s0 * components[c, i, j] + o0
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
        scratch[_LOWEST, j] = v2 if v2 < low else low
    for u in range(5, slope.shape[1], 4):
        _lower_lines(components, c, i, slope, offset, u, scratch)


@njit(fastmath=REORDER)
def _lower_lines(components: Any, c: int, i: int, slope: Any, offset: Any, u: int, scratch: Any) -> None:
    s1, s2, s3, s4 = slope[c, u], slope[c, u + 1], slope[c, u + 2], slope[c, u + 3]
    o1, o2, o3, o4 = offset[c, u], offset[c, u + 1], offset[c, u + 2], offset[c, u + 3]
    for j in range(components.shape[2]):
        t, low = components[c, i, j], scratch[_LOWEST, j]
        v1, v2, v3, v4 = s1 * t + o1, s2 * t + o2, s3 * t + o3, s4 * t + o4
        low = v1 if v1 < low else low
        v2 = v3 if v3 < v2 else v2
        low = v4 if v4 < low else low
        scratch[_LOWEST, j] = v2 if v2 < low else low


@njit(fastmath=REORDER)
def _add_lowest_to_pool(scratch: Any, width: int) -> None:
    for j in range(width):
        v, top = scratch[_LOWEST, j], scratch[_TOP, j]
        scratch[_TOP, j] = v if v > top else top
        scratch[_TOTAL, j] += v


@njit(fastmath=REORDER)
def _add_component_to_pool(components: Any, c: int, i: int, scratch: Any) -> None:
    for j in range(components.shape[2]):
        v, top = components[c, i, j], scratch[_TOP, j]
        scratch[_TOP, j] = v if v > top else top
        scratch[_TOTAL, j] += v


@njit(fastmath=REORDER)
def _write_pool(
    scratch: Any, kind: int, top_share: float, mean_share: float, out: Any, row: int, j0: int, valid: int
) -> None:
    for j in range(valid):
        top, total = scratch[_TOP, j], scratch[_TOTAL, j]
        value = mean_share * total
        if kind == MAX:  # a comparison loses a NaN, a sum does not
            value = top if total == total else total
        elif kind == MAXMEAN:
            value = top_share * top + value
        out[row, j0 + j] = value


@njit(fastmath=REORDER)
def _read_gradients(grad: Any, row: int, j0: int, scratch: Any) -> None:
    width = scratch.shape[1]
    valid = min(width, grad.shape[1] - j0) if row < grad.shape[0] else 0
    for j in range(valid):
        scratch[_GRAD, j] = grad[row, j0 + j]
    for j in range(valid, width):
        scratch[_GRAD, j] = 0


@njit(fastmath=REORDER)
def _keep_lowest(scratch: Any, pulls: Any, c: int, i: int) -> None:
    for j in range(pulls.shape[2]):
        pulls[c, i, j] = scratch[_LOWEST, j]


@njit(fastmath=REORDER)
def _keep_component(components: Any, pulls: Any, c: int, i: int) -> None:
    for j in range(pulls.shape[2]):
        pulls[c, i, j] = components[c, i, j]


@njit(fastmath=REORDER)
def _count_ties(values: Any, c: int, i: int, scratch: Any) -> None:
    one, zero = scratch.dtype.type(1), scratch.dtype.type(0)
    for j in range(values.shape[2]):
        scratch[_TIES, j] += one if values[c, i, j] == scratch[_TOP, j] else zero


@njit(fastmath=REORDER)
def _pull_on_alpha(scratch: Any, share: float) -> float:
    total = scratch.dtype.type(0)
    for j in range(scratch.shape[1]):
        total += scratch[_GRAD, j] * (scratch[_TOP, j] - share * scratch[_TOTAL, j])
    return total


@njit(fastmath=REORDER)
def _pull_mean(scratch: Any, share: float, pulls: Any, c: int, i: int) -> None:
    for j in range(pulls.shape[2]):
        pulls[c, i, j] = share * scratch[_GRAD, j]


@njit(fastmath=REORDER)
def _share_top(scratch: Any, top_share: float) -> None:
    """The gradient of the maximum, which components that are largest together share."""
    for j in range(scratch.shape[1]):
        scratch[_TIES, j] = top_share * scratch[_GRAD, j] / scratch[_TIES, j]


@njit(fastmath=REORDER)
def _pull_mixed(scratch: Any, mean_share: float, pulls: Any, c: int, i: int) -> None:
    """Turn values into their gradients."""
    zero = scratch.dtype.type(0)
    for j in range(pulls.shape[2]):
        share = scratch[_TIES, j]
        share = share if pulls[c, i, j] == scratch[_TOP, j] else zero
        pulls[c, i, j] = mean_share * scratch[_GRAD, j] + share


@njit(fastmath=REORDER)
def _pull_line(components: Any, slope: Any, pulls: Any, c: int, i: int) -> Any:
    on_slope = on_offset = pulls.dtype.type(0)
    factor = slope[c, 0]
    for j in range(pulls.shape[2]):
        pull = pulls[c, i, j]
        on_slope += pull * components[c, i, j]
        on_offset += pull
        pulls[c, i, j] = factor * pull
    return on_slope, on_offset


@njit(fastmath=REORDER)
def _best_lines(components: Any, c: int, i: int, slope: Any, offset: Any, scratch: Any) -> None:
    """Find the number of the lowest line, the first of several."""
    zero = scratch.dtype.type(0)
    for j in range(components.shape[2]):
        scratch[_LOWEST, j] = slope[c, 0] * components[c, i, j] + offset[c, 0]
        scratch[_BEST, j] = zero
    for u in range(1, slope.shape[1]):
        _better_line(components, c, i, slope[c, u], offset[c, u], scratch.dtype.type(u), scratch)


@njit(fastmath=REORDER)
def _better_line(components: Any, c: int, i: int, slope: float, offset: float, name: float, scratch: Any) -> None:
    for j in range(components.shape[2]):
        value, low, best = slope * components[c, i, j] + offset, scratch[_LOWEST, j], scratch[_BEST, j]
        lower = value < low
        scratch[_LOWEST, j] = value if lower else low
        scratch[_BEST, j] = name if lower else best


@njit(fastmath=REORDER)
def _take_gradient(scratch: Any, pulls: Any, c: int, i: int) -> None:
    for j in range(pulls.shape[2]):
        scratch[_LOWEST, j] = pulls[c, i, j]
        pulls[c, i, j] = 0


@njit(fastmath=REORDER)
def _pull_best(components: Any, slope: Any, scratch: Any, pulls: Any, c: int, i: int, u: int) -> Any:
    on_slope = on_offset = zero = pulls.dtype.type(0)
    factor, name = slope[c, u], scratch.dtype.type(u)
    for j in range(pulls.shape[2]):
        pull = scratch[_LOWEST, j] if scratch[_BEST, j] == name else zero
        on_slope += pull * components[c, i, j]
        on_offset += pull
        pulls[c, i, j] += factor * pull
    return on_slope, on_offset
