"""Gymnasium's Pendulum with goals to reach, many pendulums at once."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from trimetric.rl.worlds.tasks import Task

GRAVITY, DURATION, TOP_SPEED, TOP_TORQUE = 10.0, 0.05, 8.0, 2.0
TOLERANCE = np.array([0.2, 0.5])
"""how near a goal must be, in angle and in speed"""
START_NOISE = 0.1
PLACES = {"up": (0.0, 0.0), "down": (np.pi, 0.0), "left": (np.pi / 2, 0.0)}
"""angles from the upright, and speeds"""


class Pendulum:
    """A pendulum with a weak motor: it must swing to get up, and to stop at the bottom or at the side.

    The dynamics are those of Gymnasium's Pendulum-v1.  Observations are cosine and sine of the angle from the upright,
    and the speed; an action is a torque from -2 to 2.  A goal is reached within 0.2 in angle and 0.5 in speed.

    Attributes:
        states: angle and speed of each pendulum (b, 2).

    Examples:
        >>> world = Pendulum()
        >>> seen, goals = world.reset(np.array([0]), np.random.default_rng(0))
        >>> goals.tolist(), [task.name for task in world.tasks]
        ([[1.0, 0.0, 0.0]], ['swing up', 'come to rest', 'stop at the side'])
        >>> after, arrived = world.step(np.array([[2.0]]))
        >>> after.shape, arrived.tolist()
        ((1, 3), [False])
    """

    most_instances: int | None = None
    max_steps: int = 200
    action_shape: tuple[int, ...] | None = (1,)

    def __init__(self) -> None:
        self.states = np.zeros((0, 2))
        self._goals = np.zeros((0, 2))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """From hanging to upright, from upright to hanging at rest, and from hanging to rest at the side."""
        return (
            Task("swing up", PLACES["down"], PLACES["up"]),
            Task("come to rest", PLACES["up"], PLACES["down"]),
            Task("stop at the side", PLACES["down"], PLACES["left"]),
        )

    def reset(
        self, task_numbers: Int[np.ndarray, " b"], generator: np.random.Generator
    ) -> tuple[Float[np.ndarray, "b 3"], Float[np.ndarray, "b 3"]]:
        """Start instances of tasks, with some noise on the angle and the speed.

        Args:
            task_numbers: which task each pendulum gets (b,).
            generator: draws the noise.

        Returns:
            Observations and goals (b, 3).
        """
        tasks = self.tasks
        starts = np.array([tasks[number].start for number in task_numbers]).reshape(-1, 2)
        self.states = starts + generator.uniform(-START_NOISE, START_NOISE, starts.shape)
        self._goals = np.array([tasks[number].goal for number in task_numbers]).reshape(-1, 2)
        return _observe(self.states), _observe(self._goals)

    def scatter(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "b 3"]:
        """Put pendulums at any angle and speed, without goals.

        Args:
            count: how many.
            generator: draws them.

        Returns:
            Observations (b, 3).
        """
        self.states = generator.uniform([-np.pi, -TOP_SPEED], [np.pi, TOP_SPEED], (count, 2))
        self._goals = np.full((count, 2), np.inf)
        return _observe(self.states)

    def random_actions(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "b 1"]:
        """Draw torques.

        Args:
            count: how many.
            generator: draws them.

        Returns:
            Torques (b, 1).
        """
        return generator.uniform(-TOP_TORQUE, TOP_TORQUE, (count, 1))

    def step(self, actions: Float[np.ndarray, "b 1"]) -> tuple[Float[np.ndarray, "b 3"], Bool[np.ndarray, " b"]]:
        """Advance every pendulum by one step.

        Args:
            actions: torques (b, 1); larger ones than 2 are reduced to 2.

        Returns:
            Observations (b, 3), and whether each pendulum is at its goal.
        """
        angle, speed = self.states.T
        torque = np.clip(np.asarray(actions), -TOP_TORQUE, TOP_TORQUE)[:, 0]
        speed = speed + (1.5 * GRAVITY * np.sin(angle) + 3.0 * torque) * DURATION
        speed = np.clip(speed, -TOP_SPEED, TOP_SPEED)
        angle = angle + speed * DURATION
        self.states = np.stack([angle, speed], axis=1)
        with np.errstate(invalid="ignore"):  # no goal is infinitely far
            off = np.abs(np.stack([_turned(angle - self._goals[:, 0]), speed - self._goals[:, 1]], axis=1))
        return _observe(self.states), np.all(off <= TOLERANCE, axis=1)

    def optimal_costs(self) -> None:
        """No exact costs are known here."""
        return


def _observe(states: np.ndarray) -> np.ndarray:
    angle, speed = states.T
    return np.stack([np.cos(angle), np.sin(angle), speed], axis=1).astype(np.float32)


def _turned(angle: np.ndarray) -> np.ndarray:
    return (angle + np.pi) % (2 * np.pi) - np.pi
