"""The interface of worlds with goals to reach: named tasks, and steps of many instances at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True)
class Task:
    """A start and a goal by name; a world may add noise to both.

    Args:
        name: the name that tables print.
        start: the starting place, in the world's own coordinates.
        goal: the goal, in the same coordinates.

    Examples:
        >>> Task("across", (0.0, 0.0), (4.0, 8.0)).goal
        (4.0, 8.0)
    """

    name: str
    start: tuple[float, ...]
    goal: tuple[float, ...]


class TaskWorld(Protocol):
    """A world whose instances run together, for `evaluate`.

    An instance that has arrived may be stepped further; the caller ignores its results.

    A world may also have `action_shape`, the shape of an action ((A,) for vectors, () for numbers), and `num_actions`:
    `evaluate` then refuses policies whose actions do not fit.

    Examples:
        >>> from trimetric.rl import DirectedPoint
        >>> world: TaskWorld = DirectedPoint()
        >>> len(world.tasks), world.max_steps
        (10, 600)
    """

    max_steps: int
    """number of steps after which an instance has failed"""
    most_instances: int | None
    """how many instances it can advance at once; None for any number"""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, in the order in which tables print them."""
        ...

    def reset(
        self, task_numbers: Int[np.ndarray, " b"], generator: np.random.Generator
    ) -> tuple[Float[np.ndarray, "b ..."], Float[np.ndarray, "b ..."]]:
        """Start an instance of each given task.

        Args:
            task_numbers: which task each instance gets (b,).
            generator: draws what is random, now and in later steps.

        Returns:
            Observations, and goals (b, ...) or sets of goals (b, k, ...), of which any member counts.
        """
        ...

    def step(self, actions: np.ndarray) -> tuple[Float[np.ndarray, "b ..."], Bool[np.ndarray, " b"]]:
        """Advance every instance by one step.

        Args:
            actions: vectors (b, A) or numbers of actions (b,).

        Returns:
            Observations, and whether each instance is at its goal (b,).
        """
        ...

    def optimal_costs(self) -> Float[np.ndarray, " b"] | None:
        """The least costs from the starts of the last reset to their goals; None if they are not known."""
        ...
