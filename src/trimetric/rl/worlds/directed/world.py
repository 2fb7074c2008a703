"""A world whose distances are directed: nine rooms with one-way gates and conveyor belts between them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from trimetric.rl.worlds.directed.exact import ExactDistances
from trimetric.rl.worlds.directed.flow import Flow
from trimetric.rl.worlds.tasks import Task

GATES = """
#############
#   #   #   #
#   >   >   #
#   #   #   #
##^###v###v##
#   #   #   #
#   <   >   #
#   #   #   #
##^###v###v##
#   #   #   #
#   <   <   #
#   #   #   #
#############
"""
"""a ring around the rooms, and a way through the middle; no gate leads back"""
BELTS = """
.............
.....<<<.....
.............
.............
.............
.^.........v.
.^.........v.
.^.........v.
.............
.............
.............
.....>>>.....
.............
"""
"""along the way at the sides, against it in the rooms at the top and at the bottom"""
REACH = 0.3
START_NOISE = 0.4
ROOMS = {(row, column): (2.0 + 4 * column, 2.0 + 4 * row) for row in range(3) for column in range(3)}
TRIPS = (
    ((0, 1), (0, 0)),
    ((0, 2), (0, 1)),
    ((1, 0), (2, 0)),
    ((1, 1), (0, 1)),
    ((1, 2), (1, 1)),
    ((2, 0), (2, 1)),
    ((0, 0), (1, 0)),
    ((2, 2), (1, 2)),
    ((0, 0), (2, 2)),
    ((2, 1), (0, 2)),
)
"""rooms to start in and to reach: eight to a neighbor behind a gate the wrong way, two across"""
VALIDATION_TRIPS = (((2, 2), (0, 0)), ((1, 0), (1, 1)), ((0, 2), (1, 1)), ((2, 1), (1, 1)), ((1, 2), (0, 2)))
"""others, on which settings can be chosen"""


class DirectedPoint:
    """A point that walks through nine rooms whose gates lead one way only, and over conveyor belts.

    The rooms that are nearest in a straight line are often the farthest to reach: a gate carries a point that enters it
    1.5 strides per step, and no action gets through backwards.  A planner that uses straight lines walks against gates.
    Exact distances in steps are known: `ExactDistances` explains how, and `exact` has those of this world.

    Args:
        tasks: starts and goals, as x and y; by default ten trips between rooms.
        gates: map of the walls and gates; see `Flow`.
        belts: map of the belts.

    Attributes:
        flow: walls, gates and belts.
        places: where the instances are (b, 2).

    Examples:
        >>> world = DirectedPoint()
        >>> seen, goals = world.reset(np.array([0, 1]), np.random.default_rng(0))
        >>> there, back = world.exact.between(np.array([[2.0, 2.0], [6.0, 2.0]]), np.array([[6.0, 2.0], [2.0, 2.0]]))
        >>> round(there[0]), round(back[1])  # from the first room to the second, and back through the middle
        (34, 73)
    """

    most_instances: int | None = None
    max_steps: int = 600
    action_shape: tuple[int, ...] | None = (2,)

    def __init__(self, *, tasks: tuple[Task, ...] | None = None, gates: str = GATES, belts: str = BELTS) -> None:
        self.flow = Flow(gates, belts)
        self._tasks = trips() if tasks is None else tasks
        self.places = np.zeros((0, 2))
        self._starts = self._goals = self.places

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The trips between rooms, or those that were given."""
        return self._tasks

    @cached_property
    def exact(self) -> ExactDistances:
        """Exact distances between places, in steps."""
        return ExactDistances(self.flow)

    def reset(
        self, task_numbers: Int[np.ndarray, " b"], generator: np.random.Generator
    ) -> tuple[Float[np.ndarray, "b 2"], Float[np.ndarray, "b 2"]]:
        """Start instances of tasks; starts are drawn from a square around their places, goals are as they are.

        Args:
            task_numbers: which task each instance gets (b,).
            generator: draws the starts.

        Returns:
            Observations and goals (b, 2).
        """
        starts = np.array([self._tasks[number].start for number in task_numbers]).reshape(-1, 2)
        self._goals = np.array([self._tasks[number].goal for number in task_numbers]).reshape(-1, 2)
        self._starts = starts + generator.uniform(-START_NOISE, START_NOISE, starts.shape)
        self.places = self._starts.copy()
        return self.places.astype(np.float32), self._goals.astype(np.float32)

    def step(self, actions: Float[np.ndarray, "b 2"]) -> tuple[Float[np.ndarray, "b 2"], Bool[np.ndarray, " b"]]:
        """Advance every instance by one step.

        Args:
            actions: x and y (b, 2); longer ones than 1 are shortened.

        Returns:
            Observations (b, 2), and whether each instance is at its goal.
        """
        self.places = self.flow.move(self.places, np.asarray(actions, dtype=np.float64))
        return self.places.astype(np.float32), np.linalg.norm(self.places - self._goals, axis=1) <= REACH

    def optimal_costs(self) -> Float[np.ndarray, " b"]:
        """Compute the least numbers of steps of the instances of the last reset, to within reach of their goals."""
        goals, which = np.unique(self._goals, axis=0, return_inverse=True)
        steps = self.exact.between(self._starts, goals, reach=REACH)
        return steps[np.arange(len(steps)), which.reshape(-1)]


def trips(which: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = TRIPS) -> tuple[Task, ...]:
    """Make tasks of pairs of rooms, named by rows and columns."""
    return tuple(Task(f"{a[0]}{a[1]} to {b[0]}{b[1]}", ROOMS[a], ROOMS[b]) for a, b in which)
