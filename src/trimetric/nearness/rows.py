r"""Loops over a list of inequalities $Ax \le 0$: row r says `x[entries[r, 0]] <= x[entries[r, 1:]].sum()`.

Most lists are of triangles, three entries a row; their loops are written out, and twice as fast.
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


@njit
def _row_values(x, entries, out, first, last):
    if entries.shape[1] == 3:
        for row in range(first, last):
            out[row] = x[entries[row, 0]] - x[entries[row, 1]] - x[entries[row, 2]]
        return
    for row in range(first, last):
        value = x[entries[row, 0]]
        for side in range(1, entries.shape[1]):
            value -= x[entries[row, side]]
        out[row] = value


@njit
def _transposed(multipliers, entries, out):
    if entries.shape[1] == 3:
        for row in range(entries.shape[0]):
            z = multipliers[row]
            out[entries[row, 0]] += z
            out[entries[row, 1]] -= z
            out[entries[row, 2]] -= z
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
    """The same for triangles of entries that all weigh the same.  Rows x_e >= 0 have the last place as first entry."""
    count, end = entries.shape[0], x.shape[0] - 1
    for at in range(count):
        row = at if forwards else count - 1 - at
        a, b, c = entries[row, 0], entries[row, 1], entries[row, 2]
        z = multipliers[row]
        if a == end:
            step = max(-x[b] / inverse_weight, -z)
            multipliers[row] = z + step
            x[b] += step * inverse_weight
            continue
        value = x[a] - x[b] - x[c]
        if value <= 0.0 and z == 0.0:
            continue
        step = max(value / (3.0 * inverse_weight), -z)
        multipliers[row] = z + step
        move = step * inverse_weight
        x[a] -= move
        x[b] += move
        x[c] += move
