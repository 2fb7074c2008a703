"""The loops of fused Euclidean distances in machine code.  Imported on first use, because it imports numba.

A matrix product gives `a . b` of all pairs of centered points; these loops make distances and gradients of it, and
compute pairs that would lose digits from the difference of the given points.
"""

from __future__ import annotations

import math
from typing import Any

from trimetric.kernels.machine_code import njit, run_on_rows
from trimetric.kernels.tile_pooling import REORDER

_PART = 128  # columns that are searched for close pairs together

__all__ = ["divide_gradients", "find_large", "finish_distances", "run_on_rows"]


@njit(fastmath=REORDER)
def finish_distances(products: Any, x: Any, y: Any, x_squares: Any, y_squares: Any, close: float) -> None:
    """Turn products of centered points into distances, in place.

    Args:
        products: (n, m), `a . b` of the centered points.
        x: (n, dim), the points as given.
        y: (m, dim).
        x_squares: (n,), squared lengths of the centered points.
        y_squares: (m,).
        close: pairs with a square of at most this share of the sum of the squared lengths are computed again.
    """
    m = products.shape[1]
    for i in range(products.shape[0]):
        for first in range(0, m, _PART):
            part, squares = products[i, first : first + _PART], y_squares[first : first + _PART]
            if _finish_part(part, x_squares[i], squares, close) > 0:
                _repair_part(part, x, i, y, first, x_squares[i], squares, close)


@njit(fastmath=REORDER)
def _finish_part(part: Any, own: float, squares: Any, close: float) -> float:
    """Write the distances of a part of a row; returns how many of them are not known to be far enough."""
    share = part.dtype.type(close)
    count = zero = part.dtype.type(0)
    one, two = part.dtype.type(1), part.dtype.type(2)
    for j in range(part.size):
        bound = own + squares[j]
        square = bound - two * part[j]
        part[j] = math.sqrt(square)
        count += zero if square > share * bound else one
    return count


@njit(fastmath=REORDER)
def _repair_part(part: Any, x: Any, i: int, y: Any, first: int, own: float, squares: Any, close: float) -> None:
    """Compute close pairs again, and those whose squares were rounded below 0 or overflow."""
    share = part.dtype.type(1.001 * close)  # as the root was rounded
    for j in range(part.size):
        if not part[j] * part[j] > share * (own + squares[j]):
            part[j] = math.sqrt(_square(x, i, y, first + j))


@njit(fastmath=REORDER)
def _square(x: Any, i: int, y: Any, j: int) -> float:
    total = x.dtype.type(0)
    for q in range(x.shape[1]):
        d = y[j, q] - x[i, q]
        total += d * d
    return total


@njit(fastmath=REORDER)
def find_large(products: Any, x_half: Any, y_half: Any, places: Any) -> int:
    """Write i, j with `products[i, j] >= x_half[i] + y_half[j]` to `places` while there is room; returns how many."""
    count, m = 0, products.shape[1]
    for i in range(products.shape[0]):
        for first in range(0, m, _PART):
            part, half = products[i, first : first + _PART], y_half[first : first + _PART]
            if _count_large(part, x_half[i], half) > 0:
                for j in range(part.size):
                    if part[j] >= x_half[i] + half[j]:
                        if count < places.shape[0]:
                            places[count, 0], places[count, 1] = i, first + j
                        count += 1
    return count


@njit(fastmath=REORDER)
def _count_large(part: Any, own: float, half: Any) -> float:
    count = zero = part.dtype.type(0)
    one = part.dtype.type(1)
    for j in range(part.size):
        count += one if part[j] >= own + half[j] else zero
    return count


@njit(fastmath=REORDER)
def divide_gradients(
    grad: Any,
    distances: Any,
    x: Any,
    y: Any,
    x_squares: Any,
    y_squares: Any,
    close: float,
    pull: Any,
    row_sums: Any,
    column_sums: Any,
    grad_x: Any,
    grad_y: Any,
) -> None:
    """Write `grad / distances` to `pull`, and 0 for close pairs, whose gradients are added to `grad_x` and `grad_y`.

    The first arguments are those of `finish_distances`, with the gradients of the distances.  The sums of `pull` are
    written to `row_sums` and added to `column_sums`.
    """
    for i in range(grad.shape[0]):
        row_sums[i], count = _divide_row(grad, distances, i, x_squares[i], y_squares, close, pull, column_sums)
        if count > 0:
            _pull_close(grad, distances, i, x, y, x_squares[i], y_squares, close, grad_x, grad_y)


@njit(fastmath=REORDER)
def _divide_row(
    grad: Any, distances: Any, i: int, own: float, y_squares: Any, close: float, pull: Any, column_sums: Any
) -> Any:
    share = pull.dtype.type(close)
    total = count = zero = pull.dtype.type(0)
    one = pull.dtype.type(1)
    for j in range(grad.shape[1]):
        length = distances[i, j]
        near = length * length <= share * (own + y_squares[j])
        value = grad[i, j] / length
        value = zero if near else value
        pull[i, j] = value
        column_sums[j] += value
        total += value
        count += one if near else zero
    return total, count


@njit(fastmath=REORDER)
def _pull_close(
    grad: Any,
    distances: Any,
    i: int,
    x: Any,
    y: Any,
    own: float,
    y_squares: Any,
    close: float,
    grad_x: Any,
    grad_y: Any,
) -> None:
    share = distances.dtype.type(close)
    for j in range(grad.shape[1]):
        length = distances[i, j]
        if length > 0 and length * length <= share * (own + y_squares[j]):
            pull = grad[i, j] / length
            for q in range(x.shape[1]):
                step = pull * (y[j, q] - x[i, q])
                grad_y[j, q] += step
                grad_x[i, q] -= step
