"""Logged episodes: observations, actions, the cost of each step, and where episodes end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from trimetric._support import checks
from trimetric._support.memory import as_gib, available_memory
from trimetric.rl.trajectories import sources
from trimetric.rl.trajectories.checking import (
    action_bounds,
    action_count,
    checked_actions,
    checked_costs,
    checked_ends,
    checked_observations,
    checked_terminated,
)
from trimetric.rl.trajectories.files import write_arrays
from trimetric.rl.transitions.log import Transitions


@dataclass(frozen=True, kw_only=True, eq=False)
class Trajectories:
    """Episodes of observations, one after another, with the actions between them.

    An episode of T steps has T + 1 rows: the last row holds the final observation.  No step starts there, so its
    action and its cost have no meaning.

    Args:
        observations: the observations (N, ...): vectors or images of finite numbers, or (N,) state numbers.  A memory
            map is not loaded into memory.
        ends: the row of the last observation of each episode (E,), ascending; the last one is N - 1.
        actions: the action in each row: vectors (N, A), or (N,) action numbers; None if they are not known.
        terminated: whether each episode ended in a terminal state (E,), rather than being cut off; False by default.
        costs: cost of the step from each row to the next one (N,), above 0; 1 by default.
        action_range: the lowest and the highest value of an action, numbers or vectors (A,).
        num_actions: how many actions there are, if they are numbers; by default one more than the largest number.

    Examples:
        >>> log = Trajectories(observations=np.array([[0.0], [1.0], [5.0], [4.0], [3.0]]), ends=np.array([1, 4]))
        >>> len(log), log.num_episodes, log.transition_rows.tolist(), log.final_row_of(np.array([0, 3])).tolist()
        (5, 2, [0, 2, 3], [1, 4])
    """

    observations: np.ndarray
    ends: np.ndarray
    actions: np.ndarray | None = None
    terminated: np.ndarray | None = None
    costs: np.ndarray | None = None
    action_range: tuple[Any, Any] | None = None
    num_actions: int | None = None

    def __post_init__(self) -> None:
        observations = checked_observations(self.observations)
        rows = len(observations)
        ends = checked_ends(self.ends, rows)
        if self.actions is None and (self.action_range is not None or self.num_actions is not None):
            name = "num_actions" if self.action_range is None else "action_range"
            raise ValueError(f"{name}: expected None where no actions are known, got {getattr(self, name)!r}")
        actions = None if self.actions is None else checked_actions(self.actions, rows, ends)
        values = {
            "observations": observations,
            "ends": ends,
            "actions": actions,
            "terminated": checked_terminated(self.terminated, len(ends)),
            "costs": None if self.costs is None else checked_costs(self.costs, rows, ends),
            "action_range": None if actions is None else action_bounds(self.action_range, actions, ends),
            "num_actions": None if actions is None else action_count(self.num_actions, actions, ends),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_ogbench(cls, data: Any, *, action_range: tuple[Any, Any] | None = (-1.0, 1.0)) -> Trajectories:
        """Take the arrays of a data set of OGBench, as `ogbench.make_env_and_datasets` returns them.

        Args:
            data: a mapping with `observations`, `actions` and `terminals`, with or without `next_observations`; if it
                also has `timeouts`, `terminals` are terminal states, as in D4RL.
            action_range: the lowest and the highest value of an action; None if it is not known.

        Returns:
            The log.
        """
        return cls(**sources.from_ogbench(data, action_range=action_range))

    @classmethod
    def from_minari(cls, dataset: Any) -> Trajectories:
        """Take the episodes of a Minari data set.

        Args:
            dataset: from `minari.load_dataset`.  If observations are dictionaries, their "observation" is used.

        Returns:
            The log.  Its costs are minus the rewards if all rewards are below 0, otherwise 1 per step.
        """
        return cls(**sources.from_minari(dataset))

    @classmethod
    def from_episodes(
        cls, episodes: Any, *, action_range: tuple[Any, Any] | None = None, num_actions: int | None = None
    ) -> Trajectories:
        """Join episodes.

        Args:
            episodes: mappings with `observations` (T + 1, ...) and, where they are known, `actions` (T, ...), `costs`
                (T,) and `terminated`.
            action_range: as in `Trajectories`.
            num_actions: as in `Trajectories`.

        Returns:
            The log.
        """
        return cls(**sources.from_episodes(episodes), action_range=action_range, num_actions=num_actions)

    @classmethod
    def from_transitions(cls, transitions: Transitions) -> Trajectories:
        """Chain the steps of a log of transitions to episodes.

        A step belongs to the episode of the previous step if it starts with the observation after that step.

        Args:
            transitions: the log.

        Returns:
            The log.
        """
        return cls(**sources.from_transitions(transitions))

    def __len__(self) -> int:
        return len(self.observations)

    @property
    def num_episodes(self) -> int:
        """The number of episodes."""
        return len(self.ends)

    @property
    def num_transitions(self) -> int:
        """The number of steps of all episodes."""
        return len(self) - len(self.ends)

    @cached_property
    def starts(self) -> Int[np.ndarray, " E"]:
        """The first row of each episode."""
        return np.concatenate([[0], self.ends[:-1] + 1])

    @property
    def transition_rows(self) -> Int[np.ndarray, " T"]:
        """The rows where a step starts: all but the last row of each episode."""
        return np.delete(np.arange(len(self)), self.ends)

    def rows_of_transitions(self, numbers: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        """Look up `transition_rows[numbers]`, without making a list of them all.

        Args:
            numbers: of transitions, from 0 to `num_transitions - 1`.

        Returns:
            The rows where they start.
        """
        return numbers + np.searchsorted(self._steps_up_to_end, numbers, side="right")

    @cached_property
    def _steps_up_to_end(self) -> np.ndarray:
        return self.ends - np.arange(len(self.ends))

    def final_row_of(self, rows: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        """Find the last row of the episodes that rows are in.

        Args:
            rows: row numbers.

        Returns:
            A row for each of them.
        """
        return self.ends[np.searchsorted(self.ends, rows)]

    def cost_between(self, start: Int[np.ndarray, " n"], end: Int[np.ndarray, " n"]) -> np.ndarray:
        """Compute the cost that was paid between two rows of one episode.

        Args:
            start: earlier rows.
            end: as many rows of the same episodes, not before `start`.

        Returns:
            The summed costs of the steps between them (n,).
        """
        if self.costs is None:
            return (end - start).astype(np.float64)
        return self._paid_before[end] - self._paid_before[start]

    @cached_property
    def _paid_before(self) -> np.ndarray:
        assert self.costs is not None
        return np.concatenate([[0.0], np.cumsum(self.costs)[:-1]])

    @property
    def mean_cost(self) -> float:
        """The mean cost of a step."""
        return 1.0 if self.costs is None else float(self.costs.sum() / self.num_transitions)

    def episodes(self, numbers: Int[np.ndarray, " k"]) -> Trajectories:
        """Take some of the episodes, in the given order.

        Args:
            numbers: which ones.

        Returns:
            A log of them; its arrays are copies, in memory.
        """
        chosen = np.asarray(numbers)
        if chosen.ndim != 1 or not len(chosen) or not np.issubdtype(chosen.dtype, np.integer):
            raise ValueError(f"numbers: expected whole numbers of episodes (k,), got {numbers!r}")
        if chosen.min() < 0 or chosen.max() >= self.num_episodes:
            raise ValueError(f"numbers: expected episodes from 0 to {self.num_episodes - 1}, got {chosen.tolist()}")
        lengths = (self.ends - self.starts + 1)[chosen]
        ends = np.cumsum(lengths) - 1
        needed = int(lengths.sum()) * (self.observations.nbytes // len(self))
        if needed > available_memory():
            raise ValueError(f"numbers: expected episodes that fit in memory, got {as_gib(needed)} of observations")
        rows = np.arange(int(lengths.sum())) + np.repeat(self.starts[chosen] - ends + lengths - 1, lengths)
        return Trajectories(
            observations=np.asarray(self.observations[rows]),
            ends=ends,
            actions=None if self.actions is None else np.asarray(self.actions[rows]),
            terminated=None if self.terminated is None else self.terminated[chosen],
            costs=None if self.costs is None else self.costs[rows],
            action_range=self.action_range,
            num_actions=self.num_actions,
        )

    def split(self, fraction: float, seed: int) -> tuple[Trajectories, Trajectories]:
        """Hold out whole episodes, at random.

        Args:
            fraction: the share of episodes to hold out, between 0 and 1; at least one episode is held out.
            seed: of the choice.

        Returns:
            The log to learn from, and the log that is held out.
        """
        checks.finite_number("fraction", fraction, above=0, below=1)
        if self.num_episodes < 2:
            raise ValueError("fraction: expected a log of at least two episodes to split, got one")
        order = np.random.default_rng(checks.seed("seed", seed)).permutation(self.num_episodes)
        held = min(max(1, round(fraction * self.num_episodes)), self.num_episodes - 1)
        return self.episodes(np.sort(order[held:])), self.episodes(np.sort(order[:held]))

    def write(self, path: Path | str) -> Path:
        """Write the log to an .npz file, or to a folder of .npy files that `read_trajectories` maps into memory.

        Args:
            path: a file whose name ends in .npz, or a folder.

        Returns:
            The path.
        """
        low, high = (None, None) if self.action_range is None else self.action_range
        arrays = {
            "observations": self.observations,
            "ends": self.ends,
            "actions": self.actions,
            "terminated": self.terminated,
            "costs": self.costs,
            "action_low": low,
            "action_high": high,
            "num_actions": None if self.num_actions is None else np.array(self.num_actions),
        }
        known = {name: array for name, array in arrays.items() if array is not None}
        return write_arrays(checks.path("path", path), known)
