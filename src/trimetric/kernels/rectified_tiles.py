"""The components of tiles of pairs in machine code: rectified lengths and differences of potentials, with gradients.

Rows are `a[i, q]` and columns `b[q, j]`, with the coordinates q of one component next to each other.  Every size is
padded (rows to multiples of 4, columns to 32), so no loop has a remainder.  Imported on first use,
because it imports numba.
"""

from __future__ import annotations

from typing import Any

from trimetric.kernels.machine_code import njit
from trimetric.kernels.tile_pooling import REORDER
from trimetric.kernels.vector_block import write_lengths
from trimetric.kernels.vector_gradient import COORDINATES, add_length_gradients
from trimetric.kernels.vectors import COLUMNS, ROWS


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
    every = a.shape[1]
    size = every // k
    for c in range(k):
        for i in range(0, height, ROWS):
            row, out = (i0 + i) * every + c * size, (c * height + i) * width
            for j in range(0, width, COLUMNS):
                # numba gives the first argument
                write_lengths(a, row, every, b, c * size * width + j, width, size, components, out + j)  # type: ignore[call-arg]


@njit(fastmath=REORDER)
def rectified_gradient(a: Any, i0: int, b: Any, components: Any, pulls: Any, grad_a: Any, grad_b: Any) -> None:
    """Add the gradients of a tile to `grad_a` and `grad_b`; `pulls` is used up."""
    k, height, width = components.shape
    every = b.shape[0]
    size = every // k
    for c in range(k):
        for i in range(height):
            _divide_or_zero(components, pulls, c, i)
        for i in range(0, height, ROWS):
            row, pull = (i0 + i) * every, (c * height + i) * width
            for q in range(c * size, (c + 1) * size, COORDINATES):
                # numba gives the first argument
                add_length_gradients(a, row + q, every, b, q * width, width, pulls, pull, grad_a, grad_b)  # type: ignore[call-arg]


@njit(fastmath=REORDER)
def _divide_or_zero(components: Any, pulls: Any, c: int, i: int) -> None:
    zero = pulls.dtype.type(0)
    for j in range(pulls.shape[2]):
        pull, length = pulls[c, i, j], components[c, i, j]
        share = pull / length
        pulls[c, i, j] = zero if length == zero else share


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
