"""Inner loops of learning potentials: one step per pair, arcs that are too steep, and predictions."""

from __future__ import annotations

import numpy as np

from trimetric.kernels.machine_code import njit

# The compiler may reorder sums and maxima of finite numbers.
FAST = {"reassoc", "nsz", "contract", "arcp", "nnan", "ninf"}


@njit(fastmath=FAST)
def step_pairs(points, starts, ends, lengths, first_rate, last_rate, directed):
    """Move the two ends of each pair along the coordinate that decides their distance, one pair after the other.

    The distance is the largest |y_k - x_k|, or y_k - x_k where directed, so its gradient is +-1 in that coordinate
    of both ends.  A step is `rate / length`, as the error is relative to the length, and ends at the length at the
    latest.  The rate goes from `first_rate` to `last_rate` in a straight line.
    """
    width = points.shape[1]
    for i in range(len(starts)):
        rate = np.float32(first_rate + (last_rate - first_rate) * i / len(starts))
        x, y = points[starts[i]], points[ends[i]]
        largest = y[0] - x[0] if directed else abs(y[0] - x[0])
        if directed:
            for k in range(1, width):
                largest = max(largest, y[k] - x[k])
        else:
            for k in range(1, width):
                largest = max(largest, abs(y[k] - x[k]))
        decides = 0
        for k in range(width):
            difference = y[k] - x[k] if directed else abs(y[k] - x[k])
            if difference == largest:
                decides = k
                break
        too_far = largest - lengths[i]
        step = min(rate / lengths[i], np.float32(0.5) * abs(too_far))
        if (too_far > 0) != (directed or y[decides] > x[decides]):
            step = -step
        # A positive step brings the ends closer where y is ahead.
        x[decides] += step
        y[decides] -= step


@njit(fastmath=FAST)
def relax_arcs(points, tails, heads, limits, directed, sweeps):
    """Bring the ends of arcs whose potentials differ by more than a limit closer, half the excess each, in order."""
    width, half = points.shape[1], np.float32(0.5)
    for _ in range(sweeps):
        for arc in range(len(tails)):
            x, y, limit = points[tails[arc]], points[heads[arc]], limits[arc]
            for k in range(width):
                difference = y[k] - x[k]
                if difference > limit:
                    move = half * (difference - limit)
                    x[k] += move
                    y[k] -= move
                elif not directed and -difference > limit:
                    move = half * (-difference - limit)
                    x[k] -= move
                    y[k] += move


@njit(fastmath=FAST)
def largest_differences(points, starts, ends, directed):
    """Compute the largest difference of potentials of pairs: |y_k - x_k|, or y_k - x_k and at least 0 if directed."""
    found = np.empty(len(starts), np.float32)
    for i in range(len(starts)):
        x, y = points[starts[i]], points[ends[i]]
        largest = np.float32(0)
        if directed:
            for k in range(points.shape[1]):
                largest = max(largest, y[k] - x[k])
        else:
            for k in range(points.shape[1]):
                largest = max(largest, abs(y[k] - x[k]))
        found[i] = largest
    return found
