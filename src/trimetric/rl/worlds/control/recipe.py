"""Data of the control worlds: random actions, each kept for some steps, from random states."""

from __future__ import annotations

import numpy as np

from trimetric._support import checks
from trimetric.rl.trajectories import Trajectories
from trimetric.rl.worlds.control.mountain_car import MountainCar
from trimetric.rl.worlds.control.pendulum import TOP_TORQUE, Pendulum

HOLD = 8
HELD_OUT = 10


def random_trajectories(
    world: MountainCar | Pendulum, *, seed: int = 0, episodes: int = 500, rows: int = 201
) -> tuple[Trajectories, Trajectories]:
    """Log random actions, each taken eight times in a row, from states drawn uniformly.

    Args:
        world: the world to act in; its present instances are replaced.
        seed: of states and actions.
        episodes: how many to learn from.
        rows: observations per episode.

    Returns:
        Episodes to learn from, and a tenth as many to measure on.

    Examples:
        >>> train, held_out = random_trajectories(MountainCar(), episodes=20)
        >>> len(train), held_out.num_episodes, train.num_actions
        (4020, 2, 3)
    """
    count, rows = checks.positive_int("episodes", episodes), checks.positive_int("rows", rows)
    total = count + max(1, count // HELD_OUT)
    generator = np.random.default_rng(checks.seed("seed", seed))
    seen = world.scatter(total, generator)
    action = world.random_actions(total, generator)
    observations = np.empty((total, rows, seen.shape[1]), dtype=np.float32)
    actions = np.empty((total, rows, *action.shape[1:]), dtype=action.dtype)
    for row in range(rows):
        if row % HOLD == 0:
            action = world.random_actions(total, generator)
        observations[:, row], actions[:, row] = seen, action
        seen, _ = world.step(action)
    discrete = isinstance(world, MountainCar)
    train, held_out = (
        Trajectories(
            observations=observations[part].reshape(-1, observations.shape[2]),
            actions=actions[part].reshape(-1, *actions.shape[2:]),
            ends=np.arange(1, len(observations[part]) + 1) * rows - 1,
            action_range=None if discrete else (-TOP_TORQUE, TOP_TORQUE),
            num_actions=world.num_actions if isinstance(world, MountainCar) else None,
        )
        for part in (slice(None, count), slice(count, None))
    )
    return train, held_out
