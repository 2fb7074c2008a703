"""The gradients of `trimetric.kernels.tile_pooling` in machine code: from distances to components, lines and alpha.

Imported on first use, because it imports numba.
"""

from __future__ import annotations

from typing import Any

from trimetric.kernels.machine_code import njit
from trimetric.kernels.tile_pooling import (
    BEST,
    GRAD,
    LOWEST,
    MEAN,
    REORDER,
    TIES,
    TOP,
    TOTAL,
    add_component_to_pool,
    add_lowest_to_pool,
    lowest_lines,
    pool_shares,
    start_pool,
)


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
    top_share, mean_share = pool_shares(kind, alpha, k, one)
    for i in range(height):
        _read_gradients(grad, i0 + i, j0, scratch)
        if kind != MEAN:
            start_pool(scratch, width)
            for c in range(k):  # the values wait in `pulls`
                if slope.shape[1]:
                    lowest_lines(components, c, i, slope, offset, scratch)
                    add_lowest_to_pool(scratch, width)
                    _keep_lowest(scratch, pulls, c, i)
                else:
                    add_component_to_pool(components, c, i, scratch)
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


@njit(fastmath=REORDER)
def _read_gradients(grad: Any, row: int, j0: int, scratch: Any) -> None:
    width = scratch.shape[1]
    valid = min(width, grad.shape[1] - j0) if row < grad.shape[0] else 0
    for j in range(valid):
        scratch[GRAD, j] = grad[row, j0 + j]
    for j in range(valid, width):
        scratch[GRAD, j] = 0


@njit(fastmath=REORDER)
def _keep_lowest(scratch: Any, pulls: Any, c: int, i: int) -> None:
    for j in range(pulls.shape[2]):
        pulls[c, i, j] = scratch[LOWEST, j]


@njit(fastmath=REORDER)
def _keep_component(components: Any, pulls: Any, c: int, i: int) -> None:
    for j in range(pulls.shape[2]):
        pulls[c, i, j] = components[c, i, j]


@njit(fastmath=REORDER)
def _count_ties(values: Any, c: int, i: int, scratch: Any) -> None:
    one, zero = scratch.dtype.type(1), scratch.dtype.type(0)
    for j in range(values.shape[2]):
        scratch[TIES, j] += one if values[c, i, j] == scratch[TOP, j] else zero


@njit(fastmath=REORDER)
def _pull_on_alpha(scratch: Any, share: float) -> float:
    total = scratch.dtype.type(0)
    for j in range(scratch.shape[1]):
        total += scratch[GRAD, j] * (scratch[TOP, j] - share * scratch[TOTAL, j])
    return total


@njit(fastmath=REORDER)
def _pull_mean(scratch: Any, share: float, pulls: Any, c: int, i: int) -> None:
    for j in range(pulls.shape[2]):
        pulls[c, i, j] = share * scratch[GRAD, j]


@njit(fastmath=REORDER)
def _share_top(scratch: Any, top_share: float) -> None:
    """The gradient of the maximum, which components that are largest together share."""
    for j in range(scratch.shape[1]):
        scratch[TIES, j] = top_share * scratch[GRAD, j] / scratch[TIES, j]


@njit(fastmath=REORDER)
def _pull_mixed(scratch: Any, mean_share: float, pulls: Any, c: int, i: int) -> None:
    """Turn values into their gradients."""
    zero = scratch.dtype.type(0)
    for j in range(pulls.shape[2]):
        share = scratch[TIES, j]
        share = share if pulls[c, i, j] == scratch[TOP, j] else zero
        pulls[c, i, j] = mean_share * scratch[GRAD, j] + share


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
        scratch[LOWEST, j] = slope[c, 0] * components[c, i, j] + offset[c, 0]
        scratch[BEST, j] = zero
    for u in range(1, slope.shape[1]):
        _better_line(components, c, i, slope[c, u], offset[c, u], scratch.dtype.type(u), scratch)


@njit(fastmath=REORDER)
def _better_line(components: Any, c: int, i: int, slope: float, offset: float, name: float, scratch: Any) -> None:
    for j in range(components.shape[2]):
        value, low, best = slope * components[c, i, j] + offset, scratch[LOWEST, j], scratch[BEST, j]
        lower = value < low
        scratch[LOWEST, j] = value if lower else low
        scratch[BEST, j] = name if lower else best


@njit(fastmath=REORDER)
def _take_gradient(scratch: Any, pulls: Any, c: int, i: int) -> None:
    for j in range(pulls.shape[2]):
        scratch[LOWEST, j] = pulls[c, i, j]
        pulls[c, i, j] = 0


@njit(fastmath=REORDER)
def _pull_best(components: Any, slope: Any, scratch: Any, pulls: Any, c: int, i: int, u: int) -> Any:
    on_slope = on_offset = zero = pulls.dtype.type(0)
    factor, name = slope[c, u], scratch.dtype.type(u)
    for j in range(pulls.shape[2]):
        pull = scratch[LOWEST, j] if scratch[BEST, j] == name else zero
        on_slope += pull * components[c, i, j]
        on_offset += pull
        pulls[c, i, j] += factor * pull
    return on_slope, on_offset
