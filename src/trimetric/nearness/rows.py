r"""Loops over a list of inequalities $Ax \le 0$: row r says `x[entries[r, 0]] <= x[entries[r, 1:]].sum()`.

Most lists are of triangles, three entries a row; their loops are written out, and twice as fast.  Their places are
read as numbers without a sign, which halves the time again: a negative index would have to be turned around.
"""

from __future__ import annotations

import numpy as np

from trimetric.kernels.machine_code import HAS_NUMBA, njit, run_on_rows


def row_values(x: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """$Ax$: positive where an inequality is broken."""
    if not HAS_NUMBA:
        return x[entries[:, 0]] - x[entries[:, 1:]].sum(axis=1)
    out = np.empty(len(entries))
    run_on_rows(lambda first, last: _row_values(x, entries, out, first, last), len(out), at_least=100_000)
    return out


def transposed(multipliers: np.ndarray, entries: np.ndarray, out: np.ndarray) -> np.ndarray:
    """$A^T z$, in `out`."""
    if HAS_NUMBA:
        out[:] = 0.0
        _transposed(multipliers, entries, out)
        return out
    width = entries.shape[1] - 1
    out[:] = np.bincount(entries[:, 0], multipliers, minlength=len(out))
    out -= np.bincount(entries[:, 1:].ravel(), np.repeat(multipliers, width), minlength=len(out))
    return out


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """The inner product on this thread: NumPy's own starts threads that `torch.set_num_threads` does not know of."""
    return _dot(a, b) if HAS_NUMBA else float((a * b).sum())


def conjugate_step(
    step: float,
    direction: np.ndarray,
    curved: np.ndarray,
    scaled: np.ndarray,
    change: np.ndarray,
    gradient: np.ndarray,
    size: float,
) -> float:
    """One step of conjugate gradients, in place: the change, the gradient, the next direction; its gradient's size."""
    if HAS_NUMBA:
        after = _descend(step, direction, curved, scaled, change, gradient)
        _turn(after / size if size else 0.0, direction, scaled, gradient)
        return after
    change += step * direction
    gradient -= step * curved
    preconditioned = scaled * gradient
    after = dot(gradient, preconditioned)
    direction *= after / size if size else 0.0
    direction += preconditioned
    return after


def row_sums(x: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """The sum of x over the entries of each row."""
    if not HAS_NUMBA:
        return x[entries].sum(axis=1)
    out = np.empty(len(entries))
    run_on_rows(lambda first, last: _row_sums(x, entries, out, first, last), len(out), at_least=100_000)
    return out


@njit
def merge_active(keys, entries, multipliers, new_keys, new_entries):
    """Merges rows by ascending key, both lists being ordered: the active ones, and new ones with multiplier 0.

    Active rows have a multiplier above 0; a new row whose key an active one has is left out.
    """
    most = new_keys.shape[0]
    for z in multipliers:
        most += 1 if z > 0.0 else 0
    merged_keys = np.empty(most, dtype=keys.dtype)
    merged_entries = np.empty((most, 3), dtype=entries.dtype)
    merged = np.empty(most)
    at = new = 0
    for row in range(keys.shape[0]):
        if not multipliers[row] > 0.0:
            continue
        key = keys[row]
        while new < new_keys.shape[0] and new_keys[new] < key:
            merged_keys[at] = new_keys[new]
            for side in range(3):
                merged_entries[at, side] = new_entries[new, side]
            merged[at] = 0.0
            at += 1
            new += 1
        if new < new_keys.shape[0] and new_keys[new] == key:
            new += 1
        merged_keys[at] = key
        for side in range(3):
            merged_entries[at, side] = entries[row, side]
        merged[at] = multipliers[row]
        at += 1
    while new < new_keys.shape[0]:
        merged_keys[at] = new_keys[new]
        for side in range(3):
            merged_entries[at, side] = new_entries[new, side]
        merged[at] = 0.0
        at += 1
        new += 1
    return merged_keys[:at], merged_entries[:at], merged[:at]


@njit
def _row_sums(x, entries, out, first, last):
    for row in range(first, last):
        total = 0.0
        for side in range(entries.shape[1]):
            total += x[np.uintp(entries[row, side])]
        out[row] = total


@njit
def _row_values(x, entries, out, first, last):
    if entries.shape[1] == 3:
        for at in range(first, last):
            row = np.uintp(at)
            a, b, c = np.uintp(entries[row, 0]), np.uintp(entries[row, 1]), np.uintp(entries[row, 2])
            out[row] = x[a] - x[b] - x[c]
        return
    for row in range(first, last):
        value = x[entries[row, 0]]
        for side in range(1, entries.shape[1]):
            value -= x[entries[row, side]]
        out[row] = value


@njit
def _transposed(multipliers, entries, out):
    if entries.shape[1] == 3:
        for at in range(entries.shape[0]):
            row = np.uintp(at)
            z = multipliers[row]
            out[np.uintp(entries[row, 0])] += z
            out[np.uintp(entries[row, 1])] -= z
            out[np.uintp(entries[row, 2])] -= z
        return
    for row in range(entries.shape[0]):
        z = multipliers[row]
        out[entries[row, 0]] += z
        for side in range(1, entries.shape[1]):
            out[entries[row, side]] -= z


@njit
def _dot(a, b):
    n = len(a)
    whole = n - n % 4
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for i in range(0, whole, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(whole, n):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@njit
def _descend(step, direction, curved, scaled, change, gradient):
    size = 0.0
    for row in range(len(change)):
        change[row] += step * direction[row]
        g = gradient[row] - step * curved[row]
        gradient[row] = g
        size += g * g * scaled[row]
    return size


@njit
def _turn(factor, direction, scaled, gradient):
    for row in range(len(direction)):
        direction[row] = factor * direction[row] + scaled[row] * gradient[row]


@njit
def sweep(x, multipliers, entries, inverse_weights, curvature, forwards):
    """Hildreth's: each inequality in turn gets the multiplier that is best while all others stay."""
    count = entries.shape[0]
    for at in range(count):
        row = at if forwards else count - 1 - at
        top = entries[row, 0]
        value = x[top]
        for side in range(1, entries.shape[1]):
            value -= x[entries[row, side]]
        step = max(value / curvature[row], -multipliers[row])
        if step != 0.0:
            multipliers[row] += step
            x[top] -= step * inverse_weights[top]
            for side in range(1, entries.shape[1]):
                e = entries[row, side]
                x[e] += step * inverse_weights[e]


@njit
def sweep_triangles(x, multipliers, entries, inverse_weight, forwards):
    """The same for triangles of entries that all weigh the same.  Rows x_e >= 0 have the last place as first entry.

    A row whose multiplier is and stays 0 moves nothing, but is written all the same: a branch that cannot be
    foretold costs more than the writes, because the next rows' entries are not fetched ahead of it.
    """
    count, end = entries.shape[0], np.uintp(x.shape[0] - 1)
    per_excess = 1.0 / (3.0 * inverse_weight)
    for at in range(count):
        row = np.uintp(at if forwards else count - 1 - at)
        a, b, c = np.uintp(entries[row, 0]), np.uintp(entries[row, 1]), np.uintp(entries[row, 2])
        z = multipliers[row]
        if a == end:
            step = max(-x[b] / inverse_weight, -z)
            multipliers[row] = z + step
            x[b] += step * inverse_weight
            continue
        # The entries of a triangle are three places, so that they can be read before any of them is written.
        top, left, right = x[a], x[b], x[c]
        step = (top - left - right) * per_excess
        step = step if step > -z else -z
        multipliers[row] = z + step
        move = step * inverse_weight
        x[a] = top - move
        x[b] = left + move
        x[c] = right + move
