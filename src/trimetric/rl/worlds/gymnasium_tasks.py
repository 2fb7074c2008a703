"""A goal environment of Gymnasium as a world to evaluate policies in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from trimetric._support import checks
from trimetric.rl.worlds.tasks import Task


class GymnasiumTasks:
    """The tasks of a Gymnasium environment, one instance at a time.

    Goals are `info["goal"]` of `reset`, as in OGBench, or "desired_goal" of observations that are dictionaries.  A goal
    is reached if `info["success"]` or `info["is_success"]` is true or, without these entries, if the episode
    terminates.  An episode that the environment ends without success, by termination or at its time limit, has failed.

    Args:
        environment: a Gymnasium environment.
        options: the argument of `reset(options=...)` for each task; by default OGBench's five tasks if the environment
            has `task_infos`, otherwise a single task without options.
        max_steps: steps after which an episode has failed (default: the limit with which it was registered).

    Attributes:
        is_over: whether the environment has ended the episode without success.

    Examples:
        >>> from trimetric.rl import GridEnvironment
        >>> grid = GridEnvironment("Maze", observations="cells")
        >>> world = GymnasiumTasks(grid, options=[{"state": 0, "goal": 2}], max_steps=50)
        >>> seen, goals = world.reset(np.array([0]), np.random.default_rng(0))
        >>> seen.tolist(), goals.tolist()
        ([[1.0, 1.0]], [[1.0, 3.0]])
        >>> world.step(np.array([1]))[1].tolist(), world.step(np.array([1]))[1].tolist()
        ([False], [True])
    """

    most_instances: int | None = 1

    def __init__(
        self,
        environment: Any,
        *,
        options: Sequence[dict[str, Any] | None] | None = None,
        max_steps: int | None = None,
    ) -> None:
        self.environment = environment
        if options is None:
            infos = getattr(environment.unwrapped, "task_infos", None)
            options = [None] if infos is None else [{"task_id": number + 1} for number in range(len(infos))]
        self.options = tuple(options)
        if not self.options:
            raise ValueError("options: expected those of at least one task, got none")
        limit = getattr(getattr(environment, "spec", None), "max_episode_steps", None)
        if max_steps is None and limit is None:
            raise ValueError("max_steps: expected a number of steps, because the environment has no limit of its own")
        self.max_steps: int = checks.positive_int("max_steps", limit if max_steps is None else max_steps)
        self.is_over = False
        self._drawn = np.random.RandomState(0).get_state()

    @property
    def tasks(self) -> tuple[Task, ...]:
        """One task for each of `options`; their starts and goals are known to the environment alone."""
        return tuple(Task(f"task{number + 1}", (), ()) for number in range(len(self.options)))

    @property
    def action_shape(self) -> tuple[int, ...] | None:
        """The shape of an action: (A,) for vectors, () for numbers; None if the environment does not tell."""
        return getattr(getattr(self.environment, "action_space", None), "shape", None)

    @property
    def num_actions(self) -> int | None:
        """The number of actions, if they are numbers from 0."""
        space = getattr(self.environment, "action_space", None)
        count = getattr(space, "n", None)
        return None if count is None or self.action_shape != () or getattr(space, "start", 0) else int(count)

    def reset(
        self, task_numbers: Int[np.ndarray, " b"], generator: np.random.Generator
    ) -> tuple[Float[np.ndarray, "b ..."], Float[np.ndarray, "b ..."]]:
        """Start one task.

        Args:
            task_numbers: the number of the task (1,).
            generator: draws the seed of the environment.

        Returns:
            The observation and the goal, each with a first axis of 1.
        """
        if len(task_numbers) != 1:
            raise ValueError(
                f"task_numbers: expected one, since the environment is a single one, got {len(task_numbers)}"
            )
        seed = int(generator.integers(1 << 31))
        self._drawn = np.random.RandomState(seed).get_state()
        with self._own_numbers():
            seen, info = self.environment.reset(seed=seed, options=self.options[int(task_numbers[0])])
        self.is_over = False
        if isinstance(seen, dict):
            goal = seen["desired_goal"]
        elif "goal" in info:
            goal = info["goal"]
        else:
            raise ValueError(
                'environment: expected info["goal"] from reset, or observations with "desired_goal", got neither'
            )
        return _single(seen), np.asarray(goal)[None]

    def step(self, actions: np.ndarray) -> tuple[Float[np.ndarray, "b ..."], Bool[np.ndarray, " b"]]:
        """Take one step.

        Args:
            actions: the action (1, ...).

        Returns:
            The observation, and whether the goal is reached, each with a first axis of 1.
        """
        if self.is_over:
            raise ValueError("actions: expected none, because the environment has ended this episode")
        action = np.asarray(actions)[0]
        with self._own_numbers():
            seen, _, terminated, truncated, info = self.environment.step(int(action) if action.ndim == 0 else action)
        success = info.get("success", info.get("is_success", terminated))
        self.is_over = bool(terminated or truncated) and not success
        return _single(seen), np.array([bool(success)])

    def optimal_costs(self) -> None:
        """No exact costs are known here."""
        return

    @contextmanager
    def _own_numbers(self) -> Iterator[None]:
        """Give the environment NumPy's global random numbers to itself: OGBench draws noise and jumps from them."""
        others = np.random.get_state()
        np.random.set_state(self._drawn)
        try:
            yield
        finally:
            self._drawn = np.random.get_state()
            np.random.set_state(others)


def _single(seen: Any) -> np.ndarray:
    return np.asarray(seen["observation"] if isinstance(seen, dict) else seen)[None]
