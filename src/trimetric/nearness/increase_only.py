r"""The nearest metric that is nowhere smaller than a matrix.

The metrics $X \ge D$ are a closed convex set, which is not empty: $D$ plus a large enough constant is one of them.  So
exactly one of them minimizes $\sum w (x - d)^2$.  There is a largest metric *below* $D$, but no smallest metric above
it: if two legs together are too short, either of them may be raised.

For multipliers $y \ge 0$ of the triangle inequalities $a_r \cdot x \ge 0$, the best $x \ge d$ has
$x_e = d_e + \max(0, u_e)$ with $u = A^T y / 2w$, which proves the bound $y \cdot (-A d) - \sum w \max(0, u)^2$.
Multipliers are improved one at a time, each to the optimum, and triangles join the list when they break.
"""

from __future__ import annotations

import numpy as np

from trimetric.kernels.machine_code import njit
from trimetric.kernels.min_plus import closure, min_plus, shortest_detours
from trimetric.nearness.budget import Best
from trimetric.nearness.problem import Problem

SWEEPS = 60
"""passes over all multipliers in a round"""
MAX_ROUNDS = 2000
MAX_RAISES = 50
"""passes over broken triangles to make an approximate solution a metric"""


def solve_increase(problem: Problem, best: Best) -> None:
    """Find the nearest metric that is nowhere smaller.

    Args:
        problem: without missing entries.
        best: takes metrics and bounds, and says when to end.
    """
    given = np.ascontiguousarray(problem.matrix(problem.distances))
    weights = np.ascontiguousarray(problem.matrix(problem.weights))
    if problem.symmetric:
        weights /= 2  # those of both directions had been added
    np.fill_diagonal(weights, 1.0)
    _accept(best, given, given)
    half = 1 / (2 * weights)
    raised = np.zeros_like(given)
    rows, multipliers = np.empty((0, 3), np.int64), np.empty(0)
    while True:
        x = given + np.maximum(raised, 0.0)
        violation, found = _broken(x)
        rows, multipliers = _joined(rows, multipliers, found, len(given))
        for _ in range(SWEEPS):
            improve(given.ravel(), half.ravel(), raised.ravel(), rows, multipliers)
            if best.hurried():
                break
        up = np.maximum(raised, 0.0)
        flat = given.ravel()
        broken = flat[rows[:, 2]] - flat[rows[:, 0]] - flat[rows[:, 1]]
        best.bound(float(multipliers @ broken) - float((weights * up**2).sum()))
        _accept(best, given + up, given)
        best.record(violation, len(rows))
        if best.ended():
            return


def _accept(best: Best, x: np.ndarray, given: np.ndarray) -> None:
    metric = raise_to_metric(x, given)
    if best.problem.symmetric:
        metric = np.maximum(metric, metric.T)  # the larger of two metrics is one; they differ by rounding
    best.accept(metric, best.problem.vector(x))


def raise_to_metric(x: np.ndarray, lowest: np.ndarray) -> np.ndarray:
    """Make a metric from a matrix that nearly is one, nowhere smaller than another matrix.

    Raises legs of broken triangles.  If that does not end soon, it adds a constant to all pairs instead.

    Args:
        x: a square matrix.
        lowest: the result is nowhere smaller.
    """
    start = np.maximum(x, lowest)
    raised = raise_legs(start, most=MAX_RAISES)
    if raised is not None:
        return raised
    return _raise_all(x, lowest)


def raise_legs(x: np.ndarray, *, most: int | None = None) -> np.ndarray | None:
    """Make a metric by raising, in the worst triangle of each broken pair, one of the two legs by what is lacking.

    No entry becomes larger than the largest one, as a leg rises to the length of its pair at most.  So this ends for
    whole numbers.

    Args:
        x: a square matrix with zeros on its diagonal.
        most: the number of passes after which to give up; None for no limit.

    Returns:
        A metric that is nowhere smaller than `x`; None if that took too many passes.

    Examples:
        >>> raise_legs(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])).tolist()
        [[0.0, 4.0, 5.0], [1.0, 0.0, 1.0], [5.0, 4.0, 0.0]]
    """
    x, passes = x.copy(), 0
    while True:
        _, middles = shortest_detours(x, 0.0)
        i, j = np.nonzero(middles >= 0)
        if not len(i):
            return x
        if most is not None and passes == most:
            return None
        _raise_each(x, i, middles[i, j].astype(np.int64), j)
        passes += 1


@njit
def _raise_each(x, starts, middles, ends):
    for r in range(len(starts)):
        i, k, j = starts[r], middles[r], ends[r]
        lacking = x[i, j] - (x[i, k] + x[k, j])  # earlier ones may have closed the gap
        if lacking <= 0:
            continue
        # The longer leg, as the other one may be that of two objects at the same place.
        a, b = (i, k) if x[i, k] >= x[k, j] else (k, j)
        x[a, b] += lacking
        while x[i, k] + x[k, j] < x[i, j]:  # rounding
            x[a, b] = np.nextafter(x[a, b], np.inf)


def _raise_all(x: np.ndarray, lowest: np.ndarray) -> np.ndarray:
    """Make a metric from a matrix that nearly is one, nowhere smaller than another matrix.

    The largest metric below `x`, plus one constant for all pairs: a constant c keeps the triangle inequality, as
    $x_{ij} + c \\le (x_{ik} + c) + (x_{kj} + c)$, and even leaves room of c for rounding.

    Args:
        x: a square matrix.
        lowest: the result is nowhere smaller.
    """
    metric = closure(x)
    lacking = float((lowest - metric).max(initial=0.0))
    if lacking <= 0:
        return metric
    constant = lacking + 8 * float(np.spacing(metric.max(initial=0.0) + lacking))
    while True:
        higher = metric + constant
        np.fill_diagonal(higher, 0.0)
        if (higher >= lowest).all() and (min_plus(higher) >= higher).all():
            return higher
        constant *= 1 + 1e-9


def _broken(x: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest violation, and the worst broken triangle of each pair as entries (i, k), (k, j), (i, j)."""
    n = len(x)
    product, middles = shortest_detours(x, 0.0)
    i, j = np.nonzero(middles >= 0)
    k = middles[i, j].astype(np.int64)
    return float((x - product).max(initial=0.0)), np.stack([i * n + k, k * n + j, i * n + j], axis=1)


def _joined(rows: np.ndarray, multipliers: np.ndarray, found: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Add triangles to the list, without repeating any, and drop those whose multiplier is 0."""
    kept = multipliers > 0
    rows, multipliers = rows[kept], multipliers[kept]
    names = (rows[:, 0] % n) * n * n + rows[:, 2]  # middle and pair tell the triangle
    new = ~np.isin((found[:, 0] % n) * n * n + found[:, 2], names)
    return np.concatenate([rows, found[new]]), np.concatenate([multipliers, np.zeros(int(new.sum()))])


@njit
def improve(given, half, raised, rows, multipliers):
    """Set each multiplier in turn to its optimum: its triangle is just kept, or the multiplier is 0."""
    for r in range(len(rows)):
        a, b, c = rows[r, 0], rows[r, 1], rows[r, 2]
        lower = -multipliers[r]
        slack = _slack(given, half, raised, a, b, c, lower)
        step = lower
        if slack < 0:
            # The slack grows with the step, along lines that bend where an entry begins or ceases to be raised.
            bends = (-raised[a] / half[a], -raised[b] / half[b], raised[c] / half[c])
            here, there = lower, np.inf
            for _ in range(4):
                there = np.inf
                for bend in bends:
                    if here < bend < there:
                        there = bend
                if there == np.inf:
                    break
                next_slack = _slack(given, half, raised, a, b, c, there)
                if next_slack >= 0:
                    break
                here, slack = there, next_slack
            middle = here + 1.0 if there == np.inf else (here + there) / 2
            rise = 0.0
            if raised[a] + middle * half[a] > 0:
                rise += half[a]
            if raised[b] + middle * half[b] > 0:
                rise += half[b]
            if raised[c] - middle * half[c] > 0:
                rise += half[c]
            step = here - slack / rise
            if step > there:
                step = there
        multipliers[r] += step
        raised[a] += step * half[a]
        raised[b] += step * half[b]
        raised[c] -= step * half[c]


@njit
def _slack(given, half, raised, a, b, c, step):
    up_a, up_b, up_c = raised[a] + step * half[a], raised[b] + step * half[b], raised[c] - step * half[c]
    return given[a] + max(up_a, 0.0) + given[b] + max(up_b, 0.0) - given[c] - max(up_c, 0.0)
