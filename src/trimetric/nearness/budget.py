"""When a solver ends, and what it has reached by then."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from trimetric.nearness.problem import Problem
from trimetric.nearness.result import Round, relative_gap
from trimetric.nearness.separation import repaired


class Best:
    """The best metric and the best lower bound of a run, its history, and its reasons to end."""

    def __init__(
        self,
        problem: Problem,
        *,
        tolerance: float,
        max_rounds: int,
        max_seconds: float | None,
        signals: list[int],
        report: Callable[[Round], object] | None,
    ) -> None:
        self.problem, self.tolerance = problem, tolerance
        self.max_rounds, self.max_seconds = max_rounds, max_seconds
        self.signals, self.report = signals, report
        self.started = time.perf_counter()
        self.matrix: np.ndarray | None = None
        self.unrepaired = problem.distances
        self.undetermined = 0
        self.objective, self.lower_bound = np.inf, 0.0
        self.rounds = 0
        self.history: list[Round] = []
        self.stopped = ""

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def gap(self) -> float:
        return relative_gap(self.objective, self.lower_bound)

    def consider(self, x: np.ndarray) -> None:
        """Repairs x, and keeps it where it is the best so far."""
        matrix, undetermined = repaired(self.problem, x)
        self.accept(matrix, x, undetermined)

    def accept(self, matrix: np.ndarray, x: np.ndarray, undetermined: int = 0) -> None:
        """Keeps a metric, made from x, where it is the best so far."""
        objective = self.problem.squared_distance(matrix)
        if self.matrix is None or objective < self.objective:
            self.matrix, self.objective, self.unrepaired = matrix, objective, x.copy()
            self.undetermined = undetermined

    def metric(self) -> np.ndarray:
        """The best one; where nothing has been tried yet, the largest below the given distances."""
        if self.matrix is None:
            self.consider(self.problem.distances)
        return self.matrix  # type: ignore[return-value]

    def bound(self, lower_bound: float) -> None:
        self.lower_bound = max(self.lower_bound, lower_bound)

    def record(self, violation: float, rows: int, estimate: float = float("nan")) -> None:
        """Ends a round."""
        entry = Round(
            round=self.rounds,
            seconds=self.seconds,
            objective=self.objective,
            lower_bound=self.lower_bound,
            violation=violation,
            rows=rows,
            estimate=estimate,
        )
        self.history.append(entry)
        self.rounds += 1
        if self.report is not None:
            self.report(entry)

    def hurried(self) -> bool:
        """Whether to drop everything: interrupted, or out of time."""
        return bool(self.signals) or (self.max_seconds is not None and self.seconds > self.max_seconds)

    def ended(self) -> bool:
        """Whether to end after this round; `stopped` says why."""
        if self.gap <= self.tolerance:
            self.stopped = "tolerance"
        elif self.signals:
            self.stopped = "interrupted"
        elif self.hurried():
            self.stopped = "time"
        elif self.rounds >= self.max_rounds:
            self.stopped = "rounds"
        return bool(self.stopped)
