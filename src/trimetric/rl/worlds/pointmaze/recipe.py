"""Data of pointmaze by OGBench's public recipe: an oracle over cells, noise on its actions, and no download."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from trimetric._support import checks
from trimetric.rl.trajectories import Trajectories
from trimetric.rl.worlds.pointmaze.simulator import REACH, START_NOISE, PointMaze

PointMazeData = Literal[
    "medium-navigate",
    "large-navigate",
    "giant-navigate",
    "teleport-navigate",
    "medium-stitch",
    "large-stitch",
    "giant-stitch",
    "teleport-stitch",
]
ACTION_NOISE = 0.5
"""standard deviation, in each coordinate"""
STITCH_CELLS = 4
"""how far away the goals of stitch are"""
HELD_OUT = 10
"""one episode is held out for each of these"""


def pointmaze_trajectories(
    name: PointMazeData, *, seed: int = 0, episodes: int | None = None
) -> tuple[Trajectories, Trajectories]:
    """Log what OGBench's oracle does in a pointmaze; a million steps take some seconds.

    The oracle walks to the next cell of a shortest way, with Gaussian noise of 0.5 on its direction, clipped to
    [-1, 1].  In "navigate" it gets a new goal, at a random junction, whenever it reaches one; in "stitch" its goal is
    four cells away and it stays there.  The random numbers are not those of the published files.

    Args:
        name: maze and kind, such as "large-stitch".
        seed: of starts, goals, noise and jumps.
        episodes: how many to learn from (default: as published, 1000 of 1001 rows, in the giant maze 500 of 2001;
            "stitch" 5000 of 201).

    Returns:
        Episodes to learn from, and a tenth as many to measure on.

    Examples:
        >>> train, held_out = pointmaze_trajectories("medium-stitch", episodes=20)
        >>> train.num_episodes, held_out.num_episodes, len(train), train.observations.shape[1]
        (20, 2, 4020, 2)
    """
    checks.one_of("name", name, get_args(PointMazeData))
    maze, kind = name.split("-")
    stitch = kind == "stitch"
    rows = 201 if stitch else 2001 if maze == "giant" else 1001
    count = checks.positive_int("episodes", episodes or (5000 if stitch else 500 if maze == "giant" else 1000))
    total = count + max(1, count // HELD_OUT)
    generator = np.random.default_rng(checks.seed("seed", seed))
    world = PointMaze(maze)  # type: ignore[arg-type]
    cells = world.map

    def near(numbers: np.ndarray) -> np.ndarray:
        return cells.centers(cells.cells[numbers]) + generator.uniform(-START_NOISE, START_NOISE, (len(numbers), 2))

    starts = generator.integers(len(cells.cells), size=total)
    goals = _goals_four_away(world, starts, generator) if stitch else generator.choice(cells.junctions, total)
    targets = near(goals)
    world.place(near(starts), generator)
    observations = np.empty((total, rows, 2), dtype=np.float32)
    actions = np.empty((total, rows, 2), dtype=np.float32)
    observations[:, 0] = world.places
    for row in range(rows):
        here = cells.numbers_at(world.places)
        way = cells.centers(cells.cells[cells.next_cell[here, goals]]) - world.places
        direction = way / (np.linalg.norm(way, axis=1, keepdims=True) + 1e-6)
        actions[:, row] = np.clip(direction + generator.normal(0, ACTION_NOISE, (total, 2)), -1, 1)
        if row == rows - 1:
            break
        observations[:, row + 1], _ = world.step(actions[:, row])
        if not stitch:
            reached = np.linalg.norm(observations[:, row + 1] - targets, axis=1) <= REACH
            goals[reached] = generator.choice(cells.junctions, int(reached.sum()))
            targets[reached] = near(goals[reached])
    return _log(observations[:count], actions[:count]), _log(observations[count:], actions[count:])


def _goals_four_away(world: PointMaze, starts: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """For each start a random cell four cells away, or the start itself where there is none."""
    away = world.map.steps_between[starts] == STITCH_CELLS
    drawn = np.where(away, generator.random(away.shape), -1).argmax(axis=1)
    return np.where(away.any(axis=1), drawn, starts)


def _log(observations: np.ndarray, actions: np.ndarray) -> Trajectories:
    count, rows, _ = observations.shape
    ends = np.arange(1, count + 1) * rows - 1
    return Trajectories(
        observations=observations.reshape(-1, 2), actions=actions.reshape(-1, 2), ends=ends, action_range=(-1.0, 1.0)
    )
