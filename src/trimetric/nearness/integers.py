r"""Integer matrices that keep the triangle inequality.

Rounding a metric to the nearest integers can break it: 1.4 + 1.4 = 2.8 becomes 1 + 1 < 3.  Three ways do not:

- **Rounding up.**  If $x \le y + z$ then
  $\lceil x \rceil \le \lceil y + z \rceil \le \lceil y \rceil + \lceil z \rceil$, as the last sum is an integer that
  is at least $y + z$.  Zeros stay zeros.
- **Raising legs.**  Where an integer matrix breaks a triangle, a leg can be raised by what is lacking.  No entry
  becomes larger than the largest, so this ends, and the result is nowhere smaller.
- **Shortest paths of integers.**  They are sums of integers, and keep the triangle inequality because a path from i to
  k and one from k to j make one from i to j.
"""

from __future__ import annotations

import numpy as np

from trimetric.kernels.min_plus import closure
from trimetric.nearness.increase_only import raise_legs
from trimetric.nearness.problem import Problem

LARGEST_INTEGER = 1 << 52
"""sums of two are exact in floating point"""
ROUNDED_DOWN = (1e-3, 0.5)
"""how much of an entry may be dropped before it is rounded up; a solution has tiny excesses everywhere"""


def round_down_distances(problem: Problem) -> np.ndarray:
    """Round the given distances down, for `decrease-only`.

    The shortest paths of the result are the largest integer metric below D: one that is nowhere larger than D is
    nowhere larger than D rounded down, and hence than its shortest paths.

    Args:
        problem: any.

    Returns:
        Its vector of distances, rounded.
    """
    return np.floor(problem.distances)


def integer_metric(metric: np.ndarray, problem: Problem, method: str) -> np.ndarray:
    """Round a metric to integers, such that it stays a metric.

    For "increase-only" there are three candidates, none of them smaller than D anywhere: the metric rounded up, and the
    metric rounded up after .001 or .5 were dropped, with legs raised where that breaks triangles.  Otherwise there are
    two: the metric rounded up, and the shortest paths of the metric rounded to the nearest integers.  The candidate
    nearest to D is returned.

    Args:
        metric: without violations in floating point.
        problem: the distances and weights that define which one is nearer.
        method: the method that made the metric.

    Returns:
        `(n, n)` whole numbers, as floats.

    Raises:
        ValueError: if distances are too large for sums of integers to be exact.
    """
    if not metric.max(initial=0.0) < LARGEST_INTEGER:
        raise ValueError(f"D: expected distances below 2^52 for integers, got up to {metric.max():g}")
    up = np.ceil(metric)
    if method == "increase-only":
        lowest = np.ceil(problem.matrix(problem.distances))
        candidates = [up, *(_raised(np.maximum(np.ceil(metric - less), lowest), problem) for less in ROUNDED_DOWN)]
        return min(candidates, key=problem.squared_distance)
    paths = closure(np.rint(metric), symmetric=problem.symmetric)
    return min(paths, up, key=problem.squared_distance)


def _raised(whole: np.ndarray, problem: Problem) -> np.ndarray:
    metric = raise_legs(whole)
    assert metric is not None
    return np.maximum(metric, metric.T) if problem.symmetric else metric
