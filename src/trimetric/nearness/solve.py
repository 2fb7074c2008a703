"""`nearest_metric`: the metric that is nearest to a matrix."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from trimetric._support import checks
from trimetric._support.interruption import deferred_signals
from trimetric.kernels.machine_code import warn_once_without_numba
from trimetric.kernels.min_plus import count_violations
from trimetric.nearness import active_set, dykstra, increase_only
from trimetric.nearness.budget import Best
from trimetric.nearness.integers import integer_metric, round_down_distances
from trimetric.nearness.learned import LearnedSettings, solve_learned
from trimetric.nearness.problem import Problem, make_problem
from trimetric.nearness.result import COUNT_TOLERANCE, NearestMetric, Round
from trimetric.nearness.scale import LARGEST, SMALLEST, exponent_of, in_units, out_of_units

MAX_ROUNDS = {"dykstra": dykstra.MAX_SWEEPS, "increase-only": increase_only.MAX_ROUNDS}
Method = Literal["auto", "active-set", "dykstra", "decrease-only", "increase-only", "learned"]


def nearest_metric(
    D: Any,  # noqa: N803
    *,
    symmetric: bool = False,
    weights: Any = None,
    missing: Any = None,
    tolerance: float = 1e-6,
    method: Method = "auto",
    integers: bool = False,
    max_rounds: int | None = None,
    max_seconds: float | None = None,
    report: Callable[[Round], object] | None = None,
    interrupted: Callable[[int], object] | None = None,
    learned: LearnedSettings | None = None,
) -> NearestMetric:
    r"""The (quasi)metric X that minimizes $\sum_{ij} w_{ij} (x_{ij} - d_{ij})^2$, with a proof of how near it is.

    The constraints are $x_{ij} \le x_{ik} + x_{kj}$ and $x_{ij} \ge 0 = x_{ii}$, and $X = X^T$ if `symmetric`.  These X
    form a closed convex cone, so there is exactly one nearest metric, and every choice of multipliers proves a lower
    bound on its distance: `gap` is the relative difference between this bound and the result.  With every method, the
    result breaks **no** triangle inequality in floating point.

    On Ctrl-C and SIGTERM the search ends, and the best metric so far is returned with its gap and `converged=False`.

    Args:
        D: square, non-negative, with zeros on its diagonal: an array, nested lists or a tensor.
        symmetric: whether X must be symmetric; D must then be symmetric too.
        weights: how much each entry counts, >= 0; entries of weight 0 count as missing.
        missing: booleans that mark unknown distances, or `"nan"` if NaN marks them in D.  They are
            filled in with the longest distances that the others allow.
        tolerance: relative duality gap to reach; with 0 the solver runs for `max_rounds`.  `"decrease-only"` is exact,
            so that it meets any tolerance and any limit.
        method: `"active-set"` (exact, by default), `"dykstra"` (triangle fixing, exact in the limit),
            `"decrease-only"` (the nearest metric that is nowhere larger than D: all shortest paths), `"increase-only"`
            (the nearest metric that is nowhere smaller than D) or `"learned"` (points of the objects that are trained
            with a metric; the result is near, but there is no bound, so its gap is 1).
        integers: whether the metric must have whole numbers only; `trimetric.nearness.integers` proves that it stays a
            metric.  The bound still holds, but the gap is then that of the rounded matrix.
        max_rounds: the largest number of rounds of the solver; no limit by default.
        max_seconds: the time after which the best metric so far is returned.
        report: called after each round.
        interrupted: called with the number of the signal when Ctrl-C or SIGTERM arrives.  The search then
            ends as soon as it has a metric; a second signal takes effect at once.
        learned: settings of the method `"learned"`.

    >>> D = [[0, 1, 5], [1, 0, 1], [5, 1, 0]]
    >>> nearest_metric(D, symmetric=True).matrix.round(6).tolist()
    [[0.0, 2.0, 4.0], [2.0, 0.0, 2.0], [4.0, 2.0, 0.0]]
    """
    checks.one_of("method", method, get_args(Method))
    if isinstance(tolerance, bool) or not isinstance(tolerance, numbers.Real) or not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance: expected a finite number from 0, got {tolerance!r}")
    checks.boolean("symmetric", symmetric)
    checks.boolean("integers", integers)
    if max_rounds is not None:
        checks.positive_int("max_rounds", max_rounds)
    if max_seconds is not None:
        checks.finite_number("max_seconds", max_seconds, above=0)
    if learned is not None and method != "learned":
        raise ValueError(f"learned: expected None with method={method!r}, got settings")
    given = make_problem(D, symmetric=bool(symmetric), weights=weights, missing=missing)
    exponent = exponent_of(given)
    problem = in_units(given, exponent)
    if integers:
        if exponent != 0:
            raise ValueError(f"D: expected distances below 2^52 for integers, got up to {given.distances.max():g}")
        if method == "decrease-only":
            problem = replace(problem, distances=round_down_distances(problem))
    _check_squares(problem)
    warn_once_without_numba()
    method = "active-set" if method == "auto" else method
    with deferred_signals(noted_at_once=interrupted) as signals:
        best = Best(
            problem,
            tolerance=float(tolerance),
            max_rounds=max_rounds or MAX_ROUNDS.get(method, active_set.MAX_ROUNDS),
            max_seconds=max_seconds,
            signals=signals,
            report=report,
        )
        model = None
        if method == "active-set":
            active_set.solve_active_set(problem, best)
        elif method == "dykstra":
            _refuse_missing(problem, method)
            dykstra.solve_dykstra(problem, best)
        elif method == "increase-only":
            _refuse_missing(problem, method)
            increase_only.solve_increase(problem, best)
        elif method == "decrease-only":
            _decrease(problem, best)
        elif exponent != 0:
            raise ValueError(f"D: expected distances from {SMALLEST:g} to {LARGEST:g} with method='learned'")
        else:
            model = solve_learned(problem, best, learned or LearnedSettings())
    result = _result(problem, best, method, model, exponent)
    if not integers:
        return result
    whole = integer_metric(result.matrix, problem, method)
    objective = given.squared_distance(whole)
    # No integer metric below D is nearer than the largest one; for other methods the bound is that of all metrics.
    bound = objective if method == "decrease-only" else result.lower_bound
    result = replace(result, objective=objective, lower_bound=bound, norm_squared=given.norm_squared)
    return replace(result, matrix=whole.astype(np.int64))


def _check_squares(problem: Problem) -> None:
    with np.errstate(over="ignore"):
        norm = problem.norm_squared
    if not np.isfinite(norm) or (norm == 0.0 and problem.distances.any()):
        raise ValueError(
            f"weights: expected products with squared distances that a float can hold, got weights up to "
            f"{problem.weights.max():g}"
        )


def _refuse_missing(problem: Problem, method: str) -> None:
    if not problem.complete:
        raise ValueError(
            f"missing: expected all distances and weights above 0 with method={method!r}, got "
            f"{int((~problem.known).sum())} missing; method='active-set' takes them"
        )


def _decrease(problem: Problem, best: Best) -> None:
    """The largest metric below D.  Each entry is as near as it can be, so it is the nearest one in every norm."""
    best.consider(problem.distances)
    best.bound(best.objective)
    best.record(float("nan"), 0)
    best.stopped = "tolerance"


def _result(problem: Problem, best: Best, method: str, model: Any, exponent: int) -> NearestMetric:
    matrix = best.metric()
    unrepaired = problem.matrix(best.unrepaired)
    if not problem.complete:
        unrepaired = np.where(problem.known, unrepaired, matrix)
    tolerance = COUNT_TOLERANCE * float(problem.distances.max(initial=0.0))
    violation, count = count_violations(unrepaired, tolerance)
    matrix = out_of_units(matrix, exponent, symmetric=problem.symmetric)
    unrepaired, violation, tolerance = (np.ldexp(value, exponent) for value in (unrepaired, violation, tolerance))
    return NearestMetric(
        matrix=matrix,
        method=method,
        symmetric=problem.symmetric,
        objective=best.objective,
        lower_bound=min(best.lower_bound, best.objective),
        norm_squared=problem.norm_squared,
        exponent=exponent,
        violation=float(violation),
        violations=count,
        count_tolerance=float(tolerance),
        unrepaired=unrepaired,
        undetermined=best.undetermined,
        rounds=best.rounds,
        seconds=best.seconds,
        converged=best.stopped == "tolerance",
        stopped=best.stopped,
        history=best.history,
        model=model,
    )
