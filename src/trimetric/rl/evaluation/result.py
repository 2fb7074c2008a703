"""What an evaluation found: success, SPL and time, per task and over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from trimetric._support import checks
from trimetric.rl.evaluation.intervals import bootstrap_interval

Measure = Literal["success", "spl"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """The episodes of a policy in a world, by task.

    Args:
        tasks: names of the tasks.
        reached: whether each episode got to its goal (tasks, episodes).
        steps: steps that each took, up to its goal or to the end (tasks, episodes).
        optimal: least steps from the start of each to its goal (tasks, episodes); None if they are not known.
        seconds_per_action: time that the policy took for one action of one instance.
        paths: observations of each episode (tasks, episodes, steps + 1, ...), after the goal the last one again; None
            if they were not recorded.
        goals: the goal of each episode (tasks, episodes, ...).

    Examples:
        >>> found = Evaluation(
        ...     tasks=("near", "far"), reached=np.array([[True], [False]]), steps=np.array([[5], [9]]),
        ...     optimal=np.array([[4.0], [8.0]]), seconds_per_action=0.0, goals=np.zeros((2, 1, 2)),
        ... )
        >>> found.success, found.spl, found.mean_steps
        (0.5, 0.4, 5.0)
        >>> found.per_task()
        {'near': 1.0, 'far': 0.0}
    """

    tasks: tuple[str, ...]
    reached: Bool[np.ndarray, "tasks episodes"]
    steps: Int[np.ndarray, "tasks episodes"]
    optimal: Float[np.ndarray, "tasks episodes"] | None
    seconds_per_action: float
    goals: Float[np.ndarray, "tasks episodes ..."]
    paths: Float[np.ndarray, "tasks episodes ..."] | None = field(default=None, repr=False)

    @property
    def success(self) -> float:
        """Share of the episodes that got to their goals."""
        return float(self.reached.mean())

    @property
    def spl(self) -> float | None:
        """Success weighted by optimal over taken steps; None if the optimal ones are not known."""
        values = self.spl_of_episodes()
        return None if values is None else float(values.mean())

    @property
    def mean_steps(self) -> float:
        """Mean number of steps of the episodes that got to their goals; NaN without any."""
        return float(self.steps[self.reached].mean()) if self.reached.any() else float("nan")

    def spl_of_episodes(self) -> Float[np.ndarray, "tasks episodes"] | None:
        """Compute the SPL of each episode: 0 without success, 1 for as few steps as possible.

        Returns:
            The values (tasks, episodes); None if the optimal steps are not known.
        """
        if self.optimal is None:
            return None
        longest = np.maximum(np.maximum(self.steps, self.optimal), 1e-9)
        return np.where(self.reached, np.maximum(self.optimal, 1e-9) / longest, 0.0)

    def per_task(self, measure: Measure = "success") -> dict[str, float]:
        """Average over the episodes of each task.

        Args:
            measure: "success" or "spl".

        Returns:
            Means by name of the task.
        """
        means = self.of_episodes(measure).mean(axis=1)
        return dict(zip(self.tasks, means.tolist(), strict=True))

    def interval(self, measure: Measure = "success", *, level: float = 0.95) -> tuple[float, float]:
        """Compute an interval over tasks and episodes, by the bootstrap.

        Args:
            measure: "success" or "spl".
            level: how often the interval should hold the mean.

        Returns:
            The lower and the upper end.
        """
        return bootstrap_interval(self.of_episodes(measure), level=level)

    def of_episodes(self, measure: Measure) -> Float[np.ndarray, "tasks episodes"]:
        """Give the values of the single episodes.

        Args:
            measure: "success" or "spl".

        Returns:
            The values (tasks, episodes).
        """
        checks.one_of("measure", measure, get_args(Measure))
        if measure == "success":
            return self.reached.astype(float)
        values = self.spl_of_episodes()
        if values is None:
            raise ValueError(
                "measure: expected 'success', since the least steps are not known in this world, got 'spl'"
            )
        return values


@dataclass(frozen=True)
class Mean:
    """A mean over seeds with an interval over seeds and tasks.

    Args:
        value: the mean.
        low: lower end of the interval.
        high: upper end.

    Examples:
        >>> str(Mean(0.914, 0.85, 0.96))
        '.914 [.850, .960]'
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value, low, high = (f"{number:.3f}".removeprefix("0") for number in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"


def mean_over_seeds(evaluations: Sequence[Evaluation], measure: Measure = "success", *, level: float = 0.95) -> Mean:
    """Average evaluations of the same tasks with several seeds.

    Args:
        evaluations: one for each seed.
        measure: "success" or "spl".
        level: how often the interval should hold the mean.

    Returns:
        The mean, and an interval by drawing seeds and tasks, and episodes in them, anew.

    Examples:
        >>> one = Evaluation(
        ...     tasks=("a",), reached=np.array([[True, False]]), steps=np.ones((1, 2), dtype=int), optimal=None,
        ...     seconds_per_action=0.0, goals=np.zeros((1, 2, 1)),
        ... )
        >>> mean_over_seeds([one, one]).value
        0.5
    """
    if not evaluations or any(found.tasks != evaluations[0].tasks for found in evaluations):
        raise ValueError(f"evaluations: expected some of the same tasks, got {[found.tasks for found in evaluations]}")
    values = np.concatenate([found.of_episodes(measure) for found in evaluations])
    return Mean(float(values.mean()), *bootstrap_interval(values, level=level))


def comparison_table(evaluations: Mapping[str, Evaluation]) -> str:
    """Print evaluations of several policies beside each other: success per task and over all, SPL, steps and time.

    Args:
        evaluations: by name of the policy, all of the same tasks.

    Returns:
        Lines of text.

    Examples:
        >>> found = Evaluation(
        ...     tasks=("a",), reached=np.array([[True, False]]), steps=np.array([[4, 9]]), optimal=None,
        ...     seconds_per_action=2e-6, goals=np.zeros((1, 2, 1)),
        ... )
        >>> print(comparison_table({"walker": found}))
                   a   all     95 %  SPL  steps  us/action
        walker  50 %  50 %  0-100 %    -      4        2.0
    """
    found = list(evaluations.values())
    if not found or any(one.tasks != found[0].tasks for one in found):
        raise ValueError(f"evaluations: expected some of the same tasks, got {[one.tasks for one in found]}")
    head = ["", *found[0].tasks, "all", "95 %", "SPL", "steps", "us/action"]
    lines = [head]
    for name, one in evaluations.items():
        low, high = one.interval()
        lines.append(
            [
                name,
                *(f"{100 * value:.0f} %" for value in one.per_task().values()),
                f"{100 * one.success:.0f} %",
                f"{100 * low:.0f}-{100 * high:.0f} %",
                "-" if one.spl is None else f"{one.spl:.3f}",
                "-" if np.isnan(one.mean_steps) else f"{one.mean_steps:.0f}",
                f"{1e6 * one.seconds_per_action:.1f}",
            ]
        )
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    rows = ((text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join("  ".join(row) for row in rows)
