"""The exact solver: a growing list of broken inequalities, and the dual solved on that list.

1. Separate: for every pair, find the inequality that it breaks most, by one min-plus product.
2. Add these inequalities to the list; drop those whose multiplier is 0.
3. Solve the dual on the list approximately: sweeps, then conjugate gradients (`dual.py`).
4. Repeat until the metric that repairs x is as near as the dual bound allows.
"""

from __future__ import annotations

import numpy as np

from trimetric.nearness.budget import Best
from trimetric.nearness.dual import Dual
from trimetric.nearness.problem import Problem
from trimetric.nearness.result import relative_gap
from trimetric.nearness.separation import broken_inequalities

MAX_ROUNDS = 1000
LOOSENESS = 0.3
"""part of the violation to which the dual is solved before new inequalities are sought"""
SWEEPS_ONLY = 3
"""first rounds, in which the list changes too much for conjugate gradients to pay"""
FEWEST_STEPS, MOST_STEPS = 10, 30
"""of conjugate gradients: as many as there have been rounds, within these, for the list settles slowly"""
PATIENCE = 12
"""rounds without a better bound or a better metric after which rounding is all that is left"""


def solve_active_set(problem: Problem, best: Best) -> None:
    dual = Dual(problem)
    scale = np.sqrt((problem.distances**2).mean()) or 1.0
    idle = 0
    while True:
        if best.rounds and best.hurried():  # no time to look for more
            best.bound(dual.lower_bound)
            best.consider(dual.x)
            best.ended()
            break
        broken = broken_inequalities(problem, dual.x, 1e-15 * scale)
        before = best.objective, best.lower_bound
        best.bound(dual.lower_bound)
        # The repair costs several products, so it waits until a single one promises enough.
        promise = relative_gap(problem.squared_distance(broken.candidate), best.lower_bound)
        last = best.hurried() or best.rounds + 1 >= best.max_rounds
        if promise <= best.tolerance or broken.violation <= 1e-14 * scale or idle or last:
            best.consider(dual.x)
        best.record(broken.violation, len(dual.multipliers), promise)
        moved = best.rounds == 1 or (best.objective, best.lower_bound) != before
        idle = 0 if moved else idle + 1
        if best.ended():
            break
        if idle >= PATIENCE or (len(broken.keys) == 0 and len(dual.keys) == 0):
            best.stopped = "precision"
            break
        dual.add(broken)
        target = LOOSENESS * dual.residual()
        steps = min(max(best.rounds, FEWEST_STEPS), MOST_STEPS) if best.rounds > SWEEPS_ONLY else 0
        dual.improve(target, steps=steps, stop=best.hurried)
    if best.matrix is None:  # a signal came after the last look
        best.consider(dual.x)
