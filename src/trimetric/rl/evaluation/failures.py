"""Why episodes failed: an agent that does not move has a bad policy, one that moves without progress a bad distance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from trimetric.rl.evaluation.result import Evaluation

Outcome = Literal["arrived", "does not move", "moves without progress", "runs out of time"]
LAST_PART = 0.25
"""of an episode, by which it is judged"""
STILL = 5
"""usual steps: whoever stays within a box of this diagonal does not move, though it may tremble"""
PROGRESS = 0.95
"""of the least distance so far: whoever gets below it makes progress"""
PLACES = 25
"""places of the last part at which the distance is measured"""


@dataclass(frozen=True, eq=False)
class Failures:
    """How the episodes of an evaluation ended.

    Args:
        tasks: names of the tasks.
        outcomes: how each episode ended (tasks, episodes).

    Examples:
        >>> found = Failures(("a",), np.array([["arrived", "does not move"]]))
        >>> found.counts(), str(found)
        ({'arrived': 1, 'does not move': 1}, '1 arrived, 1 does not move')
    """

    tasks: tuple[str, ...]
    outcomes: np.ndarray

    def counts(self) -> dict[str, int]:
        """Count the episodes by outcome.

        Returns:
            Numbers by outcome, the most frequent first.
        """
        return dict(Counter(self.outcomes.ravel().tolist()).most_common())

    def per_task(self) -> dict[str, dict[str, int]]:
        """Count the episodes of each task by outcome.

        Returns:
            Numbers by task and outcome.
        """
        return {
            task: dict(Counter(row.tolist()).most_common()) for task, row in zip(self.tasks, self.outcomes, strict=True)
        }

    def __str__(self) -> str:
        return ", ".join(f"{count} {outcome}" for outcome, count in self.counts().items())


@torch.no_grad()
def classify_failures(evaluation: Evaluation, distance: Callable[[Tensor, Tensor], Tensor]) -> Failures:
    """Classify each failed episode: the agent stopped moving, moved without coming nearer, or ran out of time.

    An episode is judged by its last quarter.  "does not move": the agent stays within five usual steps, as at a wall;
    the policy, or its knowledge of actions there, is at fault.  "moves without progress": the distance to the goal does
    not fall below 95 % of the smallest distance before; the distance has a local minimum there.  "runs out of time":
    the agent still came nearer.

    Args:
        evaluation: from `evaluate(..., record=True)`, in a world whose observations are vectors.
        distance: a learned distance of observations to goals, or an exact one.

    Returns:
        The outcomes.

    Examples:
        >>> from trimetric.rl import DirectedPoint, evaluate
        >>> world = DirectedPoint()
        >>> euclidean = lambda seen, goals: (seen - goals).norm(dim=-1)
        >>> found = evaluate(world, lambda seen, goals: goals - seen, episodes=2, tasks=[0], record=True)
        >>> classify_failures(found, euclidean).counts()
        {'does not move': 2}
    """
    paths = evaluation.paths
    if paths is None:
        raise ValueError("evaluation: expected one with paths, evaluate(..., record=True), got one without")
    if paths.ndim != 4 or evaluation.goals.ndim != 3:
        raise ValueError(
            f"evaluation: expected vectors as observations and single goals, got paths of shape {paths.shape} and "
            f"goals of shape {evaluation.goals.shape}"
        )
    moved = np.linalg.norm(np.diff(paths, axis=2), axis=3)
    usual = float(np.median(moved[moved > 0])) if (moved > 0).any() else 0.0
    outcomes = np.full(evaluation.reached.shape, "arrived", dtype=object)
    for task, episode in np.argwhere(~evaluation.reached):
        end = int(evaluation.steps[task, episode])
        begin = end - max(1, int(LAST_PART * end))
        path, goal = paths[task, episode, : end + 1], evaluation.goals[task, episode]
        if np.linalg.norm(np.ptp(path[begin:], axis=0)) <= STILL * usual:
            outcomes[task, episode] = "does not move"
            continue
        before, last = (_least(distance, path[part], goal) for part in (slice(None, begin), slice(begin, None)))
        outcomes[task, episode] = "runs out of time" if last < PROGRESS * before else "moves without progress"
    return Failures(evaluation.tasks, outcomes)


def _least(distance: Callable[[Tensor, Tensor], Tensor], path: np.ndarray, goal: np.ndarray) -> float:
    """The least distance to the goal at some places of a path."""
    rows = np.unique(np.linspace(0, len(path) - 1, num=PLACES).astype(int))
    seen = torch.from_numpy(np.ascontiguousarray(path[rows]))
    wanted = torch.from_numpy(goal).to(seen.dtype).expand(len(seen), -1)
    return float(distance(seen, wanted).min())
