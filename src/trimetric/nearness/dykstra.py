r"""Triangle fixing (Sra, Tropp and Dhillon 2005; Brickell et al. 2008): Dykstra's projections.

Each inequality $x_{ij} \le x_{ik} + x_{kj}$ remembers how far it has pushed (its multiplier $z$).  When it is visited
the three entries share the step $t = \max((x_{ij} - x_{ik} - x_{kj}) / (1/w_{ij} + 1/w_{ik} + 1/w_{kj}), -z)$.  Only
multipliers above 0 are kept, in the order of the visits, so memory is that of the matrix and of the active
inequalities.

A symmetric matrix has three inequalities for each of its triangles.  An asymmetric one has six for three objects, and
must also be kept from falling below 0, which its triangle inequalities do not imply.
"""

from __future__ import annotations

import numpy as np

from trimetric.kernels.machine_code import njit
from trimetric.nearness.budget import Best
from trimetric.nearness.problem import Problem

MAX_SWEEPS = 100_000
PAPER_SWEEPS = 400
"""iterations that the paper allows: `nearest_metric(D, method="dykstra", tolerance=0, max_rounds=PAPER_SWEEPS)`"""


def solve_dykstra(problem: Problem, best: Best) -> None:
    n = problem.n
    x = problem.distances.copy()
    sweep = _symmetric_slice if problem.symmetric else _asymmetric_slice
    inequalities = 3 * n * n // 2 if problem.symmetric else n * n
    places, multipliers = np.empty(inequalities, dtype=np.int64), np.empty(inequalities)
    kept = [(np.empty(0, dtype=np.int64), np.empty(0)) for _ in range(n)]
    measured = 0
    while True:
        largest = 0.0
        for i in range(n):
            count, step = sweep(x, problem.inverse_weights, i, n, *kept[i], places, multipliers)
            kept[i] = places[:count].copy(), multipliers[:count].copy()
            largest = max(largest, step)
            if best.hurried():
                break
        best.bound(float((problem.weights * (problem.distances - x) * (problem.distances + x)).sum()))
        last = best.hurried() or best.rounds + 1 >= best.max_rounds
        # A repair costs about as much as a sweep: after each tenth more sweeps is often enough.
        if last or best.rounds >= 1.1 * measured or largest == 0.0:
            measured = best.rounds + 1
            best.consider(x)
        best.record(3 * largest, sum(len(own) for own, _ in kept))
        if best.ended():
            break
        if largest == 0.0:
            best.stopped = "precision"
            break
    best.unrepaired = x


@njit
def _fix(x, inverse_weights, a, b, c, multiplier):
    """Visits x_a <= x_b + x_c; gives the new multiplier and the step."""
    excess = x[a] - x[b] - x[c]
    if excess <= 0.0 and multiplier == 0.0:
        return 0.0, 0.0
    step = max(excess / (inverse_weights[a] + inverse_weights[b] + inverse_weights[c]), -multiplier)
    x[a] -= step * inverse_weights[a]
    x[b] += step * inverse_weights[b]
    x[c] += step * inverse_weights[c]
    return multiplier + step, abs(step) * inverse_weights[a]


@njit
def _symmetric_slice(x, inverse_weights, i, n, old_places, old, places, multipliers):
    """All triangles i < j < k of one i."""
    read, written, place, largest = 0, 0, 0, 0.0
    for j in range(i + 1, n):
        for k in range(j + 1, n):
            ij, ik, jk = i * n + j, i * n + k, j * n + k
            for turn in range(3):
                a, b, c = (ij, ik, jk) if turn == 0 else ((ik, ij, jk) if turn == 1 else (jk, ij, ik))
                multiplier = 0.0
                if read < old.shape[0] and old_places[read] == place:
                    multiplier = old[read]
                    read += 1
                multiplier, step = _fix(x, inverse_weights, a, b, c, multiplier)
                largest = max(largest, step)
                if multiplier > 0.0:
                    places[written] = place
                    multipliers[written] = multiplier
                    written += 1
                place += 1
    return written, largest


@njit
def _asymmetric_slice(x, inverse_weights, i, n, old_places, old, places, multipliers):
    """x_ij >= 0 and x_ij <= x_ik + x_kj for one i and all j and k."""
    nothing = n * n
    read, written, place, largest = 0, 0, 0, 0.0
    for j in range(n):
        if i == j:
            continue
        for k in range(n):
            if k == i:
                continue
            multiplier = 0.0
            if read < old.shape[0] and old_places[read] == place:
                multiplier = old[read]
                read += 1
            if k == j:
                multiplier, step = _fix(x, inverse_weights, nothing, i * n + j, nothing, multiplier)
            else:
                multiplier, step = _fix(x, inverse_weights, i * n + j, i * n + k, k * n + j, multiplier)
            largest = max(largest, step)
            if multiplier > 0.0:
                places[written] = place
                multipliers[written] = multiplier
                written += 1
            place += 1
    return written, largest
