r"""The min-plus product $(X \otimes Y)_{ij} = \min_k (x_{ik} + y_{kj})$ and what follows from it.

A matrix with zero diagonal keeps every triangle inequality iff $X \otimes X = X$.
"""

from __future__ import annotations

import numpy as np

from trimetric.kernels.machine_code import HAS_NUMBA, njit, run_on_rows

Matrix = np.ndarray

_COLUMNS = 1024
_MIDDLES = 16
"""a block of the right factor, 128 KiB, stays in the second cache"""


def min_plus(x: Matrix, y: Matrix | None = None, *, upper: bool = False) -> Matrix:
    r"""$X \otimes Y$ (by default $X \otimes X$) of square matrices; with `upper`, the lower triangle is void."""
    y = x if y is None else y
    out = np.empty_like(x)
    product = _min_plus_rows if HAS_NUMBA else _min_plus_rows_numpy
    run_on_rows(lambda first, last: product(x, y, out, first, last, upper), len(x))
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


def middles(x: Matrix, product: Matrix, tolerance: float, *, upper: bool = False) -> np.ndarray:
    """For each pair that its best detour undercuts by more than the tolerance the middle of that detour, else -1."""
    out = np.full(x.shape, -1, dtype=np.int32)
    across = np.ascontiguousarray(x.T)
    search = _middle_rows if HAS_NUMBA else _middle_rows_numpy
    run_on_rows(lambda first, last: search(x, across, product, tolerance, out, first, last, upper), len(x))
    return out


@njit
def _min_plus_rows(x, y, out, first, last, upper):
    n = y.shape[0]
    for left in range(0, n, _COLUMNS):
        right = min(left + _COLUMNS, n)
        stop = min(last, right) if upper else last
        for start in range(0, n, _MIDDLES):
            end = min(start + _MIDDLES, n)
            for i in range(first, stop, 2):
                # The last of an odd number of rows, and the last middles, are taken twice: a minimum does not mind.
                i2 = min(i + 1, last - 1)
                b = out[i, left:right]
                b2 = out[i2, left:right]
                if start == 0:
                    b[:] = np.inf
                    b2[:] = np.inf
                for k in range(start, end, 4):
                    k1, k2, k3 = min(k + 1, n - 1), min(k + 2, n - 1), min(k + 3, n - 1)
                    p0, p1, p2, p3 = x[i, k], x[i, k1], x[i, k2], x[i, k3]
                    q0, q1, q2, q3 = x[i2, k], x[i2, k1], x[i2, k2], x[i2, k3]
                    y0, y1, y2, y3 = y[k, left:right], y[k1, left:right], y[k2, left:right], y[k3, left:right]
                    # Two rows by four middles: as many as vectorize (more need too many checks that they do not
                    # overlap), and two loads to three operations.
                    for j in range(right - left):
                        v = b[j]
                        w = b2[j]
                        s = y0[j]
                        t = p0 + s
                        v = t if t < v else v
                        t = q0 + s
                        w = t if t < w else w
                        s = y1[j]
                        t = p1 + s
                        v = t if t < v else v
                        t = q1 + s
                        w = t if t < w else w
                        s = y2[j]
                        t = p2 + s
                        v = t if t < v else v
                        t = q2 + s
                        w = t if t < w else w
                        s = y3[j]
                        t = p3 + s
                        v = t if t < v else v
                        t = q3 + s
                        w = t if t < w else w
                        b[j] = v
                        b2[j] = w


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
def _middle_rows(x, across, product, tolerance, out, first, last, upper):
    n = x.shape[0]
    for i in range(first, last):
        row = x[i]
        for j in range(i + 1 if upper else 0, n):
            b = product[i, j]
            if i == j or row[j] - b <= tolerance:
                continue
            column = across[j]
            for start in range(0, n, 64):  # a loop without a way out vectorizes
                end = min(start + 64, n)
                found = 0
                for k in range(start, end):
                    found += 1 if row[k] + column[k] == b else 0
                if found:
                    for k in range(start, end):
                        if row[k] + column[k] == b:
                            out[i, j] = k
                            break
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
