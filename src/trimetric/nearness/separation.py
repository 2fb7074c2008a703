"""Which inequalities does a matrix break?  For every pair the one that it breaks most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimetric.kernels.machine_code import HAS_NUMBA, njit
from trimetric.kernels.min_plus import closure, shortest_detours
from trimetric.nearness.problem import Problem

_HASH = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Broken:
    """Inequalities `x[entries[:, 0]] <= x[entries[:, 1:]].sum()`, filled up with the place that is always 0."""

    entries: np.ndarray
    keys: np.ndarray
    """which inequality a row is; rows with one key are equal"""
    violation: float
    """the largest"""
    candidate: np.ndarray
    """a matrix nearer to a metric; a metric itself where distances are missing"""


def broken_inequalities(problem: Problem, x: np.ndarray, tolerance: float) -> Broken:
    return _triangles(problem, x, tolerance) if problem.complete else _detours(problem, x, tolerance)


def repaired(problem: Problem, x: np.ndarray) -> tuple[np.ndarray, int]:
    """The largest metric below `x`, with what is not known filled in, and how many pairs no known path joins.

    Such a pair may have any distance that is large enough; it gets the largest of all others.  That breaks nothing:
    of two halves of a detour between its ends at least one has no path either.
    """
    matrix = problem.matrix(x)
    if problem.complete:
        return closure(matrix, symmetric=problem.symmetric), 0
    # The shortest paths as loops over middles find them, then squared until no rounding is left.
    y, _ = _shortest_paths(problem, matrix)
    y = closure(y, symmetric=problem.symmetric)
    apart = np.isinf(y)
    y[apart] = y[~apart].max()
    return y, int(apart.sum())


def _triangles(problem: Problem, x: np.ndarray, tolerance: float) -> Broken:
    n, end = problem.n, len(x) - 1
    matrix = problem.matrix(x)
    product, middle = shortest_detours(matrix, tolerance, upper=problem.symmetric)
    i, j = np.nonzero(middle >= 0)
    k = middle[i, j].astype(np.int64)
    sides = [problem.place(i, j), problem.place(i, k), problem.place(k, j)]
    # Of a symmetric matrix the triangle inequalities imply x >= 0; of an asymmetric one they do not.
    negative = np.flatnonzero(x < -tolerance)[::-1]
    void = np.full_like(negative, end)
    # Ordered by key, as the list of the dual is.
    entries = np.concatenate([np.stack([void, negative, void], axis=1), np.stack(sides, axis=1)])
    keys = np.concatenate([-1 - negative, (i * n + j) * n + k])
    worst = (matrix[i, j] - product[i, j]).max(initial=0.0)
    if problem.symmetric:
        product = np.triu(product, 1)
    np.fill_diagonal(product, 0.0)
    return Broken(entries, keys, max(float(worst), float(-x.min())), np.maximum(product, 0.0))


def _detours(problem: Problem, x: np.ndarray, tolerance: float) -> Broken:
    r"""Where distances are missing triangles do not suffice.

    Known distances can be completed to a metric iff each is at most as long as every path of known ones between its
    ends (then the shortest paths complete them), so these are the inequalities.
    """
    end = len(x) - 1
    matrix = problem.matrix(x)
    shortest, step = _shortest_paths(problem, matrix)
    excess = np.where(problem.known, matrix - shortest, 0.0)
    wanted = excess > tolerance
    i, j = np.nonzero(np.triu(wanted) if problem.symmetric else wanted)
    columns = [problem.place(i, j)]
    at = i
    for _ in range(problem.n):
        if (at == j).all():
            break
        after = step[at, j]
        columns.append(np.where(at == j, end, problem.place(at, after)))
        at = after
    arrived = at == j
    negative = np.flatnonzero(x < -tolerance)
    entries = np.full((arrived.sum() + len(negative), max(len(columns), 2)), end)
    entries[: arrived.sum(), : len(columns)] = np.stack(columns, axis=1)[arrived]
    entries[arrived.sum() :, 1] = negative
    return Broken(entries, _hashes(entries, end), max(float(excess.max()), float(-x.min())), shortest)


def _hashes(entries: np.ndarray, end: int) -> np.ndarray:
    """63 bits: two of a million inequalities share them once in ten million problems, and then one comes later."""
    total = np.zeros(len(entries), dtype=np.uint64)
    for column in entries.T:
        total = np.where(column == end, total, (total ^ (column + 1).astype(np.uint64)) * _HASH)
        total ^= total >> np.uint64(29)
    return (total >> np.uint64(1)).astype(np.int64)


def _shortest_paths(problem: Problem, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of shortest paths of known distances, negative ones as 0, and the first step of each path."""
    n = problem.n
    lengths = np.where(problem.known, np.maximum(matrix, 0.0), np.inf)
    np.fill_diagonal(lengths, 0.0)
    step = np.where(problem.known, np.arange(n, dtype=np.int32), np.int32(-1))
    _floyd_warshall(lengths, step)
    return lengths, step


def _relax_numpy(row: np.ndarray, through: np.ndarray, steps: np.ndarray, a: float, s: int) -> None:
    t = a + through
    steps[t < row] = s
    np.minimum(row, t, out=row)


@njit
def _relax_in_machine_code(row, through, steps, a, s):
    for j in range(row.shape[0]):
        t = a + through[j]
        steps[j] = s if t < row[j] else steps[j]
        row[j] = t if t < row[j] else row[j]


_relax = _relax_in_machine_code if HAS_NUMBA else _relax_numpy


@njit
def _floyd_warshall(lengths, step):
    n = lengths.shape[0]
    for k in range(n):
        for i in range(n):
            if i != k and lengths[i, k] < np.inf:
                _relax(lengths[i], lengths[k], step[i], lengths[i, k], step[i, k])
