"""What `nearest_metric` returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from trimetric.distances.siamese import Siamese

COUNT_TOLERANCE = 1e-9
"""of the largest distance: what breaks an inequality by less is rounding, and is not counted"""


@dataclass(frozen=True, kw_only=True)
class Round:
    """The state of a solver after one round, as `nearest_metric(report=...)` receives it.

    Examples:
        >>> print(Round(round=3, seconds=0.1, objective=2.0, lower_bound=1.5, violation=0.01))
        round 3  gap 2.50e-01  largest violation 1.00e-02  0.1 s
    """

    round: int
    """number of the round, from 1"""
    seconds: float
    """time since the start"""
    objective: float
    """squared distance of the best metric so far; infinite before there is one"""
    lower_bound: float
    """no metric has a smaller objective"""
    violation: float
    """largest violation of a triangle inequality before repair; NaN where it was not measured"""
    rows: int = 0
    """inequalities in the list"""
    estimate: float = float("nan")
    """approximate gap if a metric were made now, for solvers that do so only at the end"""

    @property
    def gap(self) -> float:
        """The relative duality gap: (objective - lower bound) / objective, from 0 to 1."""
        return relative_gap(self.objective, self.lower_bound)

    def __str__(self) -> str:
        gap = f"about {self.estimate:.1e}" if np.isinf(self.objective) else f"{self.gap:.2e}"
        return f"round {self.round}  gap {gap}  largest violation {self.violation:.2e}  {self.seconds:.1f} s"


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower bound) / objective, in [0, 1]."""
    if objective <= lower_bound:
        return 0.0
    return 1.0 if np.isinf(objective) else (objective - lower_bound) / objective


@dataclass(frozen=True, kw_only=True)
class NearestMetric:
    """A metric near a matrix, and a proof of how near it is.

    `matrix` breaks **no** triangle inequality in floating point: `x_ij <= x_ik + x_kj` for all i, j, k, without a
    tolerance; its diagonal is 0 and no entry is negative.

    Examples:
        >>> from trimetric.nearness import nearest_metric
        >>> result = nearest_metric([[0, 1, 5], [1, 0, 1], [5, 1, 0]])
        >>> result.converged, round(result.distortion, 4)
        (True, 0.3333)
    """

    matrix: np.ndarray
    """the metric, with the shape of the given matrix"""
    method: str
    """the method that found it"""
    symmetric: bool
    """whether it is the nearest among symmetric metrics"""
    objective: float
    """sum of w (x - d)^2 over the known entries, both directions of symmetric ones"""
    lower_bound: float
    """no metric has a smaller objective (of `decrease-only`: none that is nowhere larger than D)"""
    norm_squared: float
    """sum of w d^2"""
    exponent: int = 0
    """objective, bound and norm are in units of 4 to this power: 0, except for distances above about 1e150 or all
    below 1e-151, whose squares would overflow or vanish"""
    violation: float
    """largest violation of a triangle inequality before the repair"""
    violations: int
    """ordered triples that broke theirs by more than `count_tolerance` before the repair"""
    count_tolerance: float
    """smaller violations are considered rounding"""
    unrepaired: np.ndarray
    """the matrix before the repair"""
    undetermined: int
    """missing entries that no path of known ones joins: they have been set to the largest distance"""
    rounds: int
    """rounds that the solver took"""
    seconds: float
    """time that it took"""
    converged: bool
    """whether the gap reached the tolerance"""
    stopped: str
    """why it ended: "tolerance", "rounds", "time", "precision" or "interrupted" """
    history: list[Round] = field(default_factory=list, repr=False)
    """the rounds"""
    model: Siamese | None = field(default=None, repr=False)
    """the trained model, with the method `learned`"""

    @property
    def gap(self) -> float:
        """How much of the objective the nearest metric of all might save at most: (objective - bound) / objective."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def distortion(self) -> float:
        """J = ||X - D|| / ||D||."""
        return float(np.sqrt(self.distortion_squared))

    @property
    def distortion_squared(self) -> float:
        """J^2 = ||X - D||^2 / ||D||^2, which is what the paper prints."""
        return self.objective / self.norm_squared if self.norm_squared else 0.0

    def __str__(self) -> str:
        return (
            f"{len(self.matrix)} objects, {self.method}: J {self.distortion:.6g}, J^2 {self.distortion_squared:.6g}, "
            f"gap {self.gap:.2g}, {self.rounds} rounds, {self.seconds:.2f} s"
            + ("" if self.converged else f", not converged ({self.stopped})")
        )
