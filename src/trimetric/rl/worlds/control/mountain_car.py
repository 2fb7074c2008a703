"""Gymnasium's MountainCar with goals to reach, many cars at once."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from trimetric.rl.worlds.tasks import Task

FORCE, GRAVITY, TOP_SPEED = 0.001, 0.0025, 0.07
LEFT_END, RIGHT_END = -1.2, 0.6
BOTTOM = -np.pi / 6
TOLERANCE = np.array([0.05, 0.01])
"""how near a goal must be, in position and in velocity"""
START_NOISE = 0.1
SPEEDS = np.array([0.01, 0.03, 0.05, 0.07])
SETS = {
    "top": np.stack([np.full(4, 0.55), SPEEDS], axis=1),
    "left end": np.stack([np.full(4, -1.15), -SPEEDS], axis=1),
    "rest": np.tile([BOTTOM, 0.0], (4, 1)),
}
"""the members of each goal; a goal is reached within `TOLERANCE` of any of them"""


class MountainCar:
    """A car too weak for its hill, whose goals are sets: "the top at any speed" has four members.

    The dynamics are those of Gymnasium's MountainCar-v0, and "top" is its goal.  Observations are position and
    velocity; actions are 0 (push left), 1 (nothing) and 2 (push right).  Each start is drawn from a tenth of a unit
    around its position.

    Attributes:
        states: position and velocity of each car (b, 2).

    Examples:
        >>> world = MountainCar()
        >>> seen, goals = world.reset(np.array([0]), np.random.default_rng(0))
        >>> seen.shape, goals.shape, [task.name for task in world.tasks]
        ((1, 2), (1, 4, 2), ['to the top', 'to the left end', 'to rest'])
        >>> after, arrived = world.step(np.array([2]))
        >>> arrived.tolist()
        [False]
    """

    most_instances: int | None = None
    max_steps: int = 200
    action_shape: tuple[int, ...] | None = ()
    num_actions = 3

    def __init__(self) -> None:
        self.states = np.zeros((0, 2))
        self._goals = np.zeros((0, 4, 2))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """To the top, to the left end, and from a place on the right to rest at the bottom."""
        starts = {"top": (-0.5, 0.0), "left end": (-0.5, 0.0), "rest": (0.3, 0.0)}
        return tuple(
            Task(f"to {name}" if name == "rest" else f"to the {name}", starts[name], tuple(members.ravel().tolist()))
            for name, members in SETS.items()
        )

    def reset(
        self, task_numbers: Int[np.ndarray, " b"], generator: np.random.Generator
    ) -> tuple[Float[np.ndarray, "b 2"], Float[np.ndarray, "b 4 2"]]:
        """Start instances of tasks.

        Args:
            task_numbers: which task each car gets (b,).
            generator: draws the positions.

        Returns:
            Observations (b, 2), and sets of goals (b, 4, 2).
        """
        tasks = self.tasks
        self.states = np.array([tasks[number].start for number in task_numbers]).reshape(-1, 2)
        self.states[:, 0] += generator.uniform(-START_NOISE, START_NOISE, len(self.states))
        self._goals = np.array([tasks[number].goal for number in task_numbers]).reshape(-1, 4, 2)
        return self.states.astype(np.float32), self._goals.astype(np.float32)

    def scatter(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "b 2"]:
        """Put cars anywhere at any speed, without goals.

        Args:
            count: how many.
            generator: draws them.

        Returns:
            Observations (b, 2).
        """
        low, high = np.array([LEFT_END, -TOP_SPEED]), np.array([RIGHT_END, TOP_SPEED])
        self.states = generator.uniform(low, high, (count, 2))
        self._goals = np.full((count, 1, 2), np.inf)
        return self.states.astype(np.float32)

    def random_actions(self, count: int, generator: np.random.Generator) -> Int[np.ndarray, " b"]:
        """Draw actions.

        Args:
            count: how many.
            generator: draws them.

        Returns:
            Numbers of actions (b,).
        """
        return generator.integers(self.num_actions, size=count)

    def step(self, actions: Int[np.ndarray, " b"]) -> tuple[Float[np.ndarray, "b 2"], Bool[np.ndarray, " b"]]:
        """Advance every car by one step.

        Args:
            actions: numbers of actions (b,).

        Returns:
            Observations (b, 2), and whether each car is at its goal.
        """
        position, velocity = self.states.T
        velocity = velocity + ((np.asarray(actions) - 1) * FORCE + np.cos(3 * position) * -GRAVITY)
        velocity = np.clip(velocity, -TOP_SPEED, TOP_SPEED)
        position = np.clip(position + velocity, LEFT_END, RIGHT_END)
        velocity = np.where((position == LEFT_END) & (velocity < 0), 0.0, velocity)
        self.states = np.stack([position, velocity], axis=1)
        near = np.all(np.abs(self.states[:, None] - self._goals) <= TOLERANCE, axis=2)
        return self.states.astype(np.float32), np.any(near, axis=1)

    def optimal_costs(self) -> None:
        """No exact costs are known here."""
        return
