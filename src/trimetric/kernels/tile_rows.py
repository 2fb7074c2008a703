"""Goes through the tiles of some rows in machine code: components, then their pool or its gradient.

The components of a tile are written by the loop of their kind and used before they leave the cache.  Imported on
first use, because it imports numba.
"""

from __future__ import annotations

from typing import Any

from trimetric.kernels.interval_tiles import interval_gradient, interval_tile
from trimetric.kernels.machine_code import njit
from trimetric.kernels.rectified_tiles import (
    absolute_gradient,
    absolute_tile,
    rectified_gradient,
    rectified_tile,
    relu_gradient,
    relu_tile,
)
from trimetric.kernels.tile_pooling import pool_tile
from trimetric.kernels.tile_pulling import pull_tile
from trimetric.kernels.vectors import ROWS

RECTIFIED, RELU, ABSOLUTE, INTERVAL = range(4)


@njit
def distances_of_rows(
    kind: int,
    a: Any,
    order: Any,
    columns: Any,
    first: int,
    last: int,
    height: int,
    slope: Any,
    offset: Any,
    pool: int,
    alpha: float,
    space: Any,
    reach: Any,
    scratch: Any,
    out: Any,
) -> None:
    """Write the distances of the rows from `first` to `last - 1`.

    Args:
        kind: RECTIFIED, RELU, ABSOLUTE or INTERVAL.
        a: (n, k w), the rows; for INTERVAL sorted within groups.
        order: like `a`, the coordinate of each start; not read for other kinds.
        columns: (tiles, k w, width).
        first: a multiple of ROWS.
        last: at most n.
        height: rows of a tile, a multiple of ROWS.
        slope: as in `pool_tile`.
        offset: as in `pool_tile`.
        pool: the `kind` of `pool_tile`.
        alpha: as in `pool_tile`.
        space: at least k * height * width numbers, for components.
        reach: scratch of intervals, (w + 2, width).
        scratch: (SCRATCH_ROWS, width).
        out: (n, m).
    """
    k, width = slope.shape[0], columns.shape[2]
    for t in range(columns.shape[0]):
        for i in range(first, last, height):
            tall = min(height, (last - i + ROWS - 1) // ROWS * ROWS)
            components = space[: k * tall * width].reshape(k, tall, width)
            _write_components(kind, a, order, i, columns[t], components, reach)
            pool_tile(components, slope, offset, pool, alpha, out[:last], i, t * width, scratch)


@njit
def gradients_of_rows(
    kind: int,
    a: Any,
    order: Any,
    columns: Any,
    first: int,
    last: int,
    height: int,
    slope: Any,
    offset: Any,
    pool: int,
    alpha: float,
    space: Any,
    pull_space: Any,
    reach: Any,
    scratch: Any,
    grad: Any,
    grad_a: Any,
    grad_columns: Any,
    grad_slope: Any,
    grad_offset: Any,
    grad_alpha: Any,
) -> None:
    """Add the gradients of the distances of the rows from `first` to `last - 1`; arguments as in `distances_of_rows`.

    Args:
        pull_space: like `space`.
        grad: (n, m), the gradients of the distances.
        grad_a: like `a`, by coordinate.
        grad_columns: like `columns`.
        grad_slope: like `slope`, in double precision.
        grad_offset: like `offset`, in double precision.
        grad_alpha: (1,), in double precision.
    """
    k, width = slope.shape[0], columns.shape[2]
    for t in range(columns.shape[0]):
        for i in range(first, last, height):
            tall = min(height, (last - i + ROWS - 1) // ROWS * ROWS)
            components = space[: k * tall * width].reshape(k, tall, width)
            pulls = pull_space[: k * tall * width].reshape(k, tall, width)
            b, grad_b = columns[t], grad_columns[t]
            _write_components(kind, a, order, i, b, components, reach)
            given = grad[:last]
            pull_tile(
                components,
                slope,
                offset,
                pool,
                alpha,
                given,
                i,
                t * width,
                pulls,
                grad_slope,
                grad_offset,
                grad_alpha,
                scratch,
            )
            if kind == RECTIFIED:
                rectified_gradient(a, i, b, components, pulls, grad_a, grad_b)
            elif kind == RELU:
                relu_gradient(a, i, b, components, pulls, grad_a, grad_b)
            elif kind == ABSOLUTE:
                absolute_gradient(a, i, b, components, pulls, grad_a, grad_b)
            else:
                interval_gradient(a, order, i, b, components, pulls, grad_a, grad_b, reach)


@njit
def _write_components(kind: int, a: Any, order: Any, i: int, b: Any, components: Any, reach: Any) -> None:
    if kind == RECTIFIED:
        rectified_tile(a, i, b, components)
    elif kind == RELU:
        relu_tile(a, i, b, components)
    elif kind == ABSOLUTE:
        absolute_tile(a, i, b, components)
    else:
        interval_tile(a, order, i, b, components, reach)
