"""OGBench's pointmaze, many instances at once: free flight in closed form, MuJoCo only near walls."""

from __future__ import annotations

from typing import get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from trimetric._support import checks
from trimetric.rl.worlds.pointmaze.environment import Maze, load_environment, mujoco
from trimetric.rl.worlds.pointmaze.maze_map import MazeMap
from trimetric.rl.worlds.tasks import Task

STRIDE = 0.2
"""length of a step per unit of action"""
RADIUS = 0.7
"""of the ball; farther from all walls it touches nothing"""
SUBSTEPS = 5
START_NOISE = 1.0
"""starts and goals are drawn from a square of twice this side around the center of their cell"""
REACH = 1.0
"""distance at which a goal is reached"""


class PointMaze:
    """OGBench's pointmaze: a ball that moves by 0.2 times its action, in a maze with solid walls.

    A ball that touches no wall before and after its step moves by exactly 0.2 times the action: its velocity is set to
    zero at each step and no force acts on it.  All others are handed to MuJoCo with the model of OGBench's own
    environment.  Actions are clipped to [-1, 1]; OGBench clips in its agents.

    In the maze "teleport" two places send the ball to one of three others at random.  As in OGBench the observation of
    that step is still the place before the jump.

    Args:
        maze: "medium", "large", "giant" or "teleport".
        tasks: starts and goals, as x and y, instead of OGBench's five.

    Attributes:
        map: the walls.
        places: where the instances are (b, 2).
        contacts: how many single steps have needed MuJoCo so far.

    Examples:
        >>> world = PointMaze("medium")
        >>> seen, goals = world.reset(np.array([0, 0, 1]), np.random.default_rng(0))
        >>> seen.shape, goals.shape, [task.name for task in world.tasks][:2]
        ((3, 2), (3, 2), ['task1', 'task2'])
        >>> after, arrived = world.step(np.ones((3, 2)))
        >>> arrived.tolist()
        [False, False, False]
    """

    most_instances: int | None = None
    max_steps: int = 1000
    action_shape: tuple[int, ...] | None = (2,)

    def __init__(self, maze: Maze, *, tasks: tuple[Task, ...] | None = None) -> None:
        checks.one_of("maze", maze, get_args(Maze))
        self.maze: Maze = maze
        self._environment = load_environment(maze)
        self.map = MazeMap(self._environment.maze_map == 1)
        self._tasks = tasks
        self.places = np.zeros((0, 2))
        self.goals = np.zeros((0, 2))
        self.contacts = 0
        self._warm_starts = np.zeros((0, 2))
        self._generator = np.random.default_rng(0)
        jumps = self._environment._teleport_info
        self._doors = np.array(jumps["teleport_in_xys"] if jumps else np.zeros((0, 2)), dtype=float)
        self._exits = np.array(jumps["teleport_out_xys"] if jumps else np.zeros((0, 2)), dtype=float)
        self._door_radius = 1.5 * jumps["teleport_radius"] if jumps else 0.0

    @property
    def tasks(self) -> tuple[Task, ...]:
        """OGBench's five tasks, or those that were given."""
        if self._tasks is not None:
            return self._tasks
        found = self._environment.task_infos
        return tuple(Task(info["task_name"], tuple(info["init_xy"]), tuple(info["goal_xy"])) for info in found)

    def reset(
        self, task_numbers: Int[np.ndarray, " b"], generator: np.random.Generator
    ) -> tuple[Float[np.ndarray, "b 2"], Float[np.ndarray, "b 2"]]:
        """Start instances of tasks, with OGBench's noise on starts and goals.

        Args:
            task_numbers: which task each instance gets (b,).
            generator: draws the noise, and the jumps of later steps.

        Returns:
            Observations and goals (b, 2).
        """
        tasks = self.tasks
        noise = generator.uniform(-START_NOISE, START_NOISE, (2, len(task_numbers), 2))
        starts = np.array([tasks[number].start for number in task_numbers]).reshape(-1, 2)
        goals = np.array([tasks[number].goal for number in task_numbers]).reshape(-1, 2)
        self.place(starts + noise[0], generator)
        self.goals = goals + noise[1]
        return self.places.astype(np.float32), self.goals.astype(np.float32)

    def place(self, places: Float[np.ndarray, "b 2"], generator: np.random.Generator) -> None:
        """Put instances at given places, without goals.

        Args:
            places: x and y of each (b, 2).
            generator: draws the jumps of later steps.
        """
        self.places = np.array(places, dtype=np.float64)
        self.goals = np.full_like(self.places, np.inf)
        self._warm_starts = np.zeros_like(self.places)
        self._generator = generator

    def step(self, actions: Float[np.ndarray, "b 2"]) -> tuple[Float[np.ndarray, "b 2"], Bool[np.ndarray, " b"]]:
        """Advance every instance by one step.

        Args:
            actions: x and y from -1 to 1 (b, 2).

        Returns:
            Observations (b, 2), and whether each instance is at its goal.
        """
        wanted = self.places + STRIDE * np.clip(np.asarray(actions, dtype=np.float64), -1, 1)
        near = np.nonzero(self.map.clearance(wanted) <= RADIUS + 1e-6)[0]
        self.contacts += len(near)
        free = np.ones(len(wanted), dtype=bool)
        free[near] = False
        self._warm_starts[free] = 0
        for row in near:
            wanted[row] = self._collide(wanted[row], self._warm_starts[row])
        arrived = np.linalg.norm(wanted - self.goals, axis=1) <= REACH
        self.places = self._jump(wanted) if len(self._doors) else wanted
        return wanted.astype(np.float32), arrived

    def optimal_costs(self) -> None:
        """No exact costs are known here."""
        return

    def _collide(self, place: np.ndarray, warm_start: np.ndarray) -> np.ndarray:
        """Let MuJoCo advance one ball; writes the solver's result into `warm_start` for its next step."""
        data = self._environment.data
        mujoco.mj_resetData(self._environment.model, data)
        data.qpos[:] = place
        data.qacc_warmstart[:] = warm_start
        mujoco.mj_step(self._environment.model, data, nstep=SUBSTEPS)
        warm_start[:] = data.qacc_warmstart
        return data.qpos.copy()

    def _jump(self, places: np.ndarray) -> np.ndarray:
        inside = (np.linalg.norm(places[:, None] - self._doors, axis=2) <= self._door_radius).any(axis=1)
        exits = self._exits[self._generator.integers(len(self._exits), size=len(places))]
        return np.where(inside[:, None], exits, places)
