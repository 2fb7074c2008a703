"""The components of tiles of pairs in machine code: rectified lengths and differences of potentials, with gradients.

Rows are `a[i, q]` and columns `b[q, j]`, with the coordinates q of one component next to each other.  Every size is
padded (rows and coordinates to multiples of 4, columns to 16), so no loop has a remainder.  Imported on first use,
because it imports numba.
"""

from __future__ import annotations

import math
from typing import Any

from trimetric.kernels.machine_code import njit
from trimetric.kernels.tile_pooling import REORDER


@njit
def transpose_to_tiles(b: Any, tiles: Any) -> None:
    """Write `tiles[t, q, j] = b[t * width + j, q]`; the last point is repeated.  In squares that fit the cache."""
    width, m, size = tiles.shape[2], b.shape[0], b.shape[1]
    for t in range(tiles.shape[0]):
        for first in range(0, width, 16):
            for corner in range(0, size, 16):
                for q in range(corner, min(corner + 16, size)):
                    for j in range(first, first + 16):
                        tiles[t, q, j] = b[min(t * width + j, m - 1), q]


@njit(fastmath=REORDER)
def rectified_tile(a: Any, i0: int, b: Any, components: Any) -> None:
    """Write `||relu(b_c - a_c)||_2` of the rows from `i0` on to `components` (k, rows, columns)."""
    k, height, width = components.shape
    size = b.shape[0] // k
    for c in range(k):
        for i in range(0, height, 2):
            for j in range(width):
                components[c, i, j] = 0
                components[c, i + 1, j] = 0
            for q in range(c * size, (c + 1) * size, 4):
                _add_squares(a, i0 + i, b, q, components, c, i)
            for j in range(width):
                components[c, i, j] = math.sqrt(components[c, i, j])
                components[c, i + 1, j] = math.sqrt(components[c, i + 1, j])


@njit(fastmath=REORDER)
def _add_squares(a: Any, row: int, b: Any, q: int, components: Any, c: int, i: int) -> None:
    """Two rows and four coordinates at a time: fewer loads per product."""
    zero = components.dtype.type(0)
    a0, a1, a2, a3 = a[row, q], a[row, q + 1], a[row, q + 2], a[row, q + 3]
    e0, e1, e2, e3 = a[row + 1, q], a[row + 1, q + 1], a[row + 1, q + 2], a[row + 1, q + 3]
    for j in range(b.shape[1]):
        b0, b1, b2, b3 = b[q, j], b[q + 1, j], b[q + 2, j], b[q + 3, j]
        d0, d1, d2, d3 = b0 - a0, b1 - a1, b2 - a2, b3 - a3
        f0, f1, f2, f3 = b0 - e0, b1 - e1, b2 - e2, b3 - e3
        d0 = zero if d0 < zero else d0  # so that a NaN stays one
        d1 = zero if d1 < zero else d1
        d2 = zero if d2 < zero else d2
        d3 = zero if d3 < zero else d3
        f0 = zero if f0 < zero else f0
        f1 = zero if f1 < zero else f1
        f2 = zero if f2 < zero else f2
        f3 = zero if f3 < zero else f3
        components[c, i, j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
        components[c, i + 1, j] += (f0 * f0 + f1 * f1) + (f2 * f2 + f3 * f3)


@njit(fastmath=REORDER)
def rectified_gradient(a: Any, i0: int, b: Any, components: Any, pulls: Any, grad_a: Any, grad_b: Any) -> None:
    """Add the gradients of a tile to `grad_a` and `grad_b`; `pulls` is used up."""
    k, height, _ = components.shape
    size = b.shape[0] // k
    for c in range(k):
        for i in range(height):
            _divide_or_zero(components, pulls, c, i)
        for i in range(0, height, 4):
            for q in range(c * size, (c + 1) * size):
                _add_gradients(a, i0 + i, b, q, pulls, c, i, grad_a, grad_b)


@njit(fastmath=REORDER)
def _divide_or_zero(components: Any, pulls: Any, c: int, i: int) -> None:
    zero = pulls.dtype.type(0)
    for j in range(pulls.shape[2]):
        pull, length = pulls[c, i, j], components[c, i, j]
        share = pull / length
        pulls[c, i, j] = zero if length == zero else share


@njit(fastmath=REORDER)
def _add_gradients(a: Any, row: int, b: Any, q: int, pulls: Any, c: int, i: int, grad_a: Any, grad_b: Any) -> None:
    zero = pulls.dtype.type(0)
    a0, a1, a2, a3 = a[row, q], a[row + 1, q], a[row + 2, q], a[row + 3, q]
    t0 = t1 = t2 = t3 = zero
    for j in range(b.shape[1]):
        v = b[q, j]
        d0, d1, d2, d3 = v - a0, v - a1, v - a2, v - a3
        d0 = (zero if d0 < zero else d0) * pulls[c, i, j]
        d1 = (zero if d1 < zero else d1) * pulls[c, i + 1, j]
        d2 = (zero if d2 < zero else d2) * pulls[c, i + 2, j]
        d3 = (zero if d3 < zero else d3) * pulls[c, i + 3, j]
        grad_b[q, j] += (d0 + d1) + (d2 + d3)
        t0 += d0
        t1 += d1
        t2 += d2
        t3 += d3
    grad_a[row, q] -= t0
    grad_a[row + 1, q] -= t1
    grad_a[row + 2, q] -= t2
    grad_a[row + 3, q] -= t3


@njit(fastmath=REORDER)
def relu_tile(a: Any, i0: int, b: Any, components: Any) -> None:
    """Write `relu(b_c - a_c)`, one coordinate per component."""
    k, height, _ = components.shape
    for c in range(k):
        for i in range(height):
            _write_relu(a[i0 + i, c], b, components, c, i)


@njit(fastmath=REORDER)
def _write_relu(own: float, b: Any, components: Any, c: int, i: int) -> None:
    zero = components.dtype.type(0)
    for j in range(b.shape[1]):
        d = b[c, j] - own
        components[c, i, j] = zero if d < zero else d


@njit(fastmath=REORDER)
def absolute_tile(a: Any, i0: int, b: Any, components: Any) -> None:
    """Write `|b_c - a_c|`, one coordinate per component."""
    k, height, _ = components.shape
    for c in range(k):
        for i in range(height):
            _write_absolute(a[i0 + i, c], b, components, c, i)


@njit(fastmath=REORDER)
def _write_absolute(own: float, b: Any, components: Any, c: int, i: int) -> None:
    for j in range(b.shape[1]):
        components[c, i, j] = abs(b[c, j] - own)


@njit(fastmath=REORDER)
def relu_gradient(a: Any, i0: int, b: Any, components: Any, pulls: Any, grad_a: Any, grad_b: Any) -> None:
    """Add the gradients of `relu_tile`."""
    k, height, _ = components.shape
    for c in range(k):
        for i in range(height):
            _add_signed(a, i0 + i, b, pulls, c, i, 0.0, grad_a, grad_b)


@njit(fastmath=REORDER)
def absolute_gradient(a: Any, i0: int, b: Any, components: Any, pulls: Any, grad_a: Any, grad_b: Any) -> None:
    """Add the gradients of `absolute_tile`."""
    k, height, _ = components.shape
    for c in range(k):
        for i in range(height):
            _add_signed(a, i0 + i, b, pulls, c, i, -1.0, grad_a, grad_b)


@njit(fastmath=REORDER)
def _add_signed(a: Any, row: int, b: Any, pulls: Any, c: int, i: int, below: float, grad_a: Any, grad_b: Any) -> None:
    """The derivative of the component is 1 above 0, 0 at 0 and `below` below."""
    total = zero = pulls.dtype.type(0)
    factor, own = pulls.dtype.type(below), a[row, c]
    for j in range(b.shape[1]):
        pull, d = pulls[c, i, j], b[c, j] - own
        negative = factor * pull if d < zero else zero
        pull = pull if d > zero else negative
        grad_b[c, j] += pull
        total += pull
    grad_a[row, c] -= total
