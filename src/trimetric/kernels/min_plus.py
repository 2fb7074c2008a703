r"""The min-plus product $(X \otimes Y)_{ij} = \min_k (x_{ik} + y_{kj})$ and what follows from it.

A matrix with zero diagonal keeps every triangle inequality iff $X \otimes X = X$.
"""

from __future__ import annotations

import numpy as np

from trimetric.kernels.machine_code import HAS_NUMBA, njit, run_on_rows

Matrix = np.ndarray

_NOWHERE = np.empty((0, 0), dtype=np.int32)

_ROWS = 4
_STEP = 4
"""rows and middles of the innermost loop, which is written out for these numbers"""
_COLUMNS = 128
_PANEL = 512
"""middles by columns of the right factor packed at once: at most half a MiB, which stays in the second cache"""
_BLOCK = 32
"""middles after which it is noted where the minimum has fallen"""


def min_plus(x: Matrix, y: Matrix | None = None, *, upper: bool = False) -> Matrix:
    r"""$X \otimes Y$ (by default $X \otimes X$) of square matrices; with `upper`, the lower triangle is void."""
    return _product(x, x if y is None else y, _NOWHERE, upper=upper)


def _product(x: Matrix, y: Matrix, blocks: np.ndarray, *, upper: bool) -> Matrix:
    """The product, and where `blocks` has room the first middle of the block of middles in which each minimum lies."""
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    out = np.full(x.shape, np.inf, dtype=x.dtype)
    if HAS_NUMBA:
        run_on_rows(lambda first, last: _min_plus_rows(x, y, out, blocks, first, last, upper), len(x))
    else:
        run_on_rows(lambda first, last: _min_plus_rows_numpy(x, y, out, first, last, upper), len(x))
    return out


def closure(x: Matrix, *, symmetric: bool = False) -> Matrix:
    """The largest (quasi)metric below `x`: all shortest paths.  Negative entries count as 0.

    Squares until nothing changes, so that the result has **no** violation in floating point: the product rounds
    `x_ik + x_kj` as anyone does who checks.
    """
    y = np.maximum(x, 0.0)
    np.fill_diagonal(y, 0.0)
    while True:
        squared = min_plus(y, upper=symmetric)
        if symmetric:
            mirror(squared)
        if np.array_equal(squared, y):
            return y
        y = squared


def mirror(x: Matrix) -> None:
    """Copies the upper triangle to the lower one."""
    x[:] = np.triu(x) + np.triu(x, 1).T


def count_violations(x: Matrix, tolerance: float = 0.0) -> tuple[float, int]:
    """`violations` of a matrix that is not checked: the diagonal should be 0, other entries may be negative."""
    n = len(x)
    across = np.ascontiguousarray(x.T)
    largest, counts = np.zeros(n), np.zeros(n, dtype=np.int64)
    product = min_plus(x) if HAS_NUMBA else x
    count = _count_rows if HAS_NUMBA else _count_rows_numpy
    run_on_rows(lambda first, last: count(x, across, product, float(tolerance), largest, counts, first, last), n)
    return float(largest.max(initial=0.0)), int(counts.sum())


def shortest_detours(x: Matrix, tolerance: float, *, upper: bool = False) -> tuple[Matrix, np.ndarray]:
    r"""Find the best detour of every pair, and its middle where it is shorter than the pair by more than the tolerance.

    Args:
        x: square.
        tolerance: how much shorter a detour must be for its middle to be sought.
        upper: leave out the lower triangle.

    Returns:
        $X \otimes X$, and for each pair the first middle at which the minimum lies, or -1 where none is sought.
    """
    x, across = np.ascontiguousarray(x), np.ascontiguousarray(x.T)
    if HAS_NUMBA:
        found = np.zeros(x.shape, dtype=np.int32)
        product = _product(x, x, found, upper=upper)
        run_on_rows(lambda first, last: _middle_rows(x, across, product, tolerance, found, first, last, upper), len(x))
    else:
        found = np.full(x.shape, -1, dtype=np.int32)
        product = _product(x, x, _NOWHERE, upper=upper)
        run_on_rows(
            lambda first, last: _middle_rows_numpy(x, across, product, tolerance, found, first, last, upper), len(x)
        )
    return product, found


@njit
def _min_plus_rows(x, y, out, blocks, first, last, upper):
    n = y.shape[0]
    panel = np.empty(_PANEL * _COLUMNS, dtype=x.dtype)
    best = np.empty(_ROWS * _COLUMNS, dtype=x.dtype)
    before = np.empty(_ROWS * _COLUMNS, dtype=x.dtype)
    place = np.empty(_ROWS * _COLUMNS, dtype=np.int32)
    noted = blocks.shape[0] > 0
    for left in range(0, n, _COLUMNS):
        width = min(_COLUMNS, n - left)
        stop = min(last, left + width) if upper else last
        if stop <= first:
            continue
        for start in range(0, n, _PANEL):
            count = min(_PANEL, n - start)
            _pack(y, panel, start, count, left, width)
            for i in range(first, stop, _ROWS):
                for r in range(_ROWS):
                    # Rows beyond the last repeat it, so that the innermost loop always has as many.
                    row = min(i + r, last - 1)
                    at = r * _COLUMNS
                    best[at : at + width] = out[row, left : left + width]
                    best[at + width : at + _COLUMNS] = np.inf
                    if noted:
                        place[at : at + width] = blocks[row, left : left + width]
                before[:] = best
                step = _BLOCK if noted else count
                for k in range(0, count, step):
                    end = min(k + step, count)
                    _relax_tile(x, panel, best, i, last - 1, start, k, end)
                    if noted:
                        _note(best, before, place, start + k)
                for r in range(min(_ROWS, last - i)):
                    at = r * _COLUMNS
                    out[i + r, left : left + width] = best[at : at + width]
                    if noted:
                        blocks[i + r, left : left + width] = place[at : at + width]


@njit
def _pack(y, panel, start, count, left, width):
    """Copies middles by columns of the right factor, filled up with infinity to whole steps and columns."""
    for k in range(-(-count // _STEP) * _STEP):
        row = panel[k * _COLUMNS : (k + 1) * _COLUMNS]
        if k < count:
            row[:width] = y[start + k, left : left + width]
            row[width:] = np.inf
        else:
            row[:] = np.inf


@njit
def _relax_tile(x, panel, best, i, last, start, k, end):
    """Lowers four rows by columns of the product to what the middles from `start + k` to `start + end` allow.

    All tiles are parts of two flat arrays at constant distances, and their indices have no sign: the compiler then
    has one overlap to rule out and no negative index to turn around, and keeps sixteen sums in vector registers.
    """
    x0, x1, x2, x3 = x[i], x[min(i + 1, last)], x[min(i + 2, last)], x[min(i + 3, last)]
    w1, w2, w3 = np.uintp(_COLUMNS), np.uintp(2 * _COLUMNS), np.uintp(3 * _COLUMNS)
    n = x.shape[1]
    for middle in range(k, end, _STEP):
        # Middles beyond the last repeat it; the panel is infinite there.
        m0, m1 = start + middle, min(start + middle + 1, n - 1)
        m2, m3 = min(start + middle + 2, n - 1), min(start + middle + 3, n - 1)
        a0, a1, a2, a3 = x0[m0], x0[m1], x0[m2], x0[m3]
        b0, b1, b2, b3 = x1[m0], x1[m1], x1[m2], x1[m3]
        c0, c1, c2, c3 = x2[m0], x2[m1], x2[m2], x2[m3]
        d0, d1, d2, d3 = x3[m0], x3[m1], x3[m2], x3[m3]
        q = np.uintp(middle * _COLUMNS)
        for j in range(w1):
            a, b, c, d = best[j], best[j + w1], best[j + w2], best[j + w3]
            s = panel[q + j]
            t = a0 + s
            a = t if t < a else a
            t = b0 + s
            b = t if t < b else b
            t = c0 + s
            c = t if t < c else c
            t = d0 + s
            d = t if t < d else d
            s = panel[q + w1 + j]
            t = a1 + s
            a = t if t < a else a
            t = b1 + s
            b = t if t < b else b
            t = c1 + s
            c = t if t < c else c
            t = d1 + s
            d = t if t < d else d
            s = panel[q + w2 + j]
            t = a2 + s
            a = t if t < a else a
            t = b2 + s
            b = t if t < b else b
            t = c2 + s
            c = t if t < c else c
            t = d2 + s
            d = t if t < d else d
            s = panel[q + w3 + j]
            t = a3 + s
            a = t if t < a else a
            t = b3 + s
            b = t if t < b else b
            t = c3 + s
            c = t if t < c else c
            t = d3 + s
            d = t if t < d else d
            best[j] = a
            best[j + w1] = b
            best[j + w2] = c
            best[j + w3] = d


@njit
def _note(best, before, place, middle):
    """Notes the block of middles that starts at `middle` where it has lowered the minimum."""
    for j in range(best.shape[0]):
        value = best[j]
        place[j] = place[j] if value == before[j] else middle
        before[j] = value


@njit
def _count_rows(x, across, product, tolerance, largest, counts, first, last):
    n = x.shape[0]
    for i in range(first, last):
        row = x[i]
        most = 0.0
        count = 0
        for j in range(n):
            here = row[j] if i != j else 0.0
            excess = here - product[i, j]
            most = max(most, excess)
            if excess > tolerance:  # most pairs of most matrices break nothing, and need no look at their triples
                column = across[j]
                for k in range(n):
                    count += 1 if here - (row[k] + column[k]) > tolerance else 0
        largest[i] = most
        counts[i] = count


@njit
def _middle_rows(x, across, product, tolerance, found, first, last, upper):
    """Turns the block of each pair into its first middle where the detour is short enough, and into -1 elsewhere."""
    n = np.uintp(x.shape[0])
    for left in range(0, n, _BLOCK):  # few enough columns to stay in the second cache
        for row in range(first, last):
            i = np.uintp(row)
            for j in range(np.uintp(left), min(np.uintp(left + _BLOCK), n)):
                b = product[i, j]
                start = np.uintp(found[i, j])
                found[i, j] = -1
                if (upper and j <= i) or i == j or not x[i, j] - b > tolerance:
                    continue
                for k in range(start, n):
                    if x[i, k] + across[j, k] == b:
                        found[i, j] = k
                        break


def _min_plus_rows_numpy(x: Matrix, y: Matrix, out: Matrix, first: int, last: int, upper: bool) -> None:
    across = np.ascontiguousarray(y.T)
    for i in range(first, last):
        left = i if upper else 0
        out[i, :left] = np.inf
        out[i, left:] = (x[i] + across[left:]).min(axis=1)


def _count_rows_numpy(
    x: Matrix, across: Matrix, _: Matrix, tolerance: float, largest: Matrix, counts: Matrix, first: int, last: int
) -> None:
    for i in range(first, last):
        excess = x[i][:, None] - (x[i] + across)
        largest[i] = max(excess.max(), 0.0)
        counts[i] = np.count_nonzero(excess > tolerance)


def _middle_rows_numpy(
    x: Matrix, across: Matrix, product: Matrix, tolerance: float, out: Matrix, first: int, last: int, upper: bool
) -> None:
    for i in range(first, last):
        broken = np.flatnonzero(x[i] - product[i] > tolerance)
        broken = broken[broken > i] if upper else broken[broken != i]
        out[i, broken] = (x[i] + across[broken]).argmin(axis=1)
