"""The walls of a maze of square cells: places, distances to walls, and ways along cells."""

from __future__ import annotations

from collections import deque
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

UNIT = 4.0
"""side of a cell; the center of cell (1, 1) is the origin"""
STEPS = ((-1, 0), (0, -1), (1, 0), (0, 1))
"""in the order in which OGBench's oracle prefers neighbors"""
AROUND = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])


class MazeMap:
    """A map of walls (height, width) whose outermost cells are walls, as OGBench lays it out.

    Args:
        walls: True where a cell is a wall.

    Examples:
        >>> maze = MazeMap(np.array([[1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 1]], dtype=bool))
        >>> maze.cells.tolist(), maze.centers(maze.cells).tolist()
        ([[1, 1], [1, 2]], [[0.0, 0.0], [4.0, 0.0]])
        >>> maze.clearance(np.array([[0.0, 0.0], [1.5, 0.5]])).tolist()
        [2.0, 1.5]
    """

    def __init__(self, walls: Bool[np.ndarray, "height width"]) -> None:
        self.walls = np.asarray(walls, dtype=bool)
        edge = np.ones_like(self.walls)
        edge[1:-1, 1:-1] = False
        if self.walls.ndim != 2 or not self.walls[edge].all():
            raise ValueError(
                f"walls: expected a matrix whose border is wall, got shape {self.walls.shape} "
                f"with {int((~self.walls[edge]).sum()) if self.walls.ndim == 2 else 'no'} open border cells"
            )
        self.cells = np.argwhere(~self.walls)
        self._number = np.full(self.walls.shape, -1)
        self._number[tuple(self.cells.T)] = np.arange(len(self.cells))

    def centers(self, cells: Int[np.ndarray, "*b 2"]) -> Float[np.ndarray, "*b 2"]:
        """Give the places of the centers of cells.

        Args:
            cells: row and column (..., 2).

        Returns:
            x and y (..., 2).
        """
        return np.stack([cells[..., 1] * UNIT - UNIT, cells[..., 0] * UNIT - UNIT], axis=-1)

    def cells_at(self, places: Float[np.ndarray, "*b 2"]) -> Int[np.ndarray, "*b 2"]:
        """Find the cells that contain places.

        Args:
            places: x and y (..., 2).

        Returns:
            Row and column (..., 2).
        """
        return ((places[..., ::-1] + 1.5 * UNIT) / UNIT).astype(int)

    def numbers_at(self, places: Float[np.ndarray, "*b 2"]) -> Int[np.ndarray, "*b"]:
        """Find the numbers of the free cells that contain places, -1 inside walls.

        Args:
            places: x and y (..., 2).

        Returns:
            Numbers, in the order of `cells`.
        """
        cells = self.cells_at(places)
        return self._number[cells[..., 0], cells[..., 1]]

    def clearance(self, places: Float[np.ndarray, "b 2"]) -> Float[np.ndarray, " b"]:
        """Measure how far places are from the nearest wall, exactly up to one unit and at least that beyond.

        Args:
            places: x and y (b, 2).

        Returns:
            Distances (b,), 0 inside walls.
        """
        near = self.cells_at(places)[:, None] + AROUND
        near = np.clip(near, 0, np.array(self.walls.shape) - 1)
        outside = np.maximum(np.abs(places[:, None] - self.centers(near)) - UNIT / 2, 0)
        gaps = np.where(self.walls[near[..., 0], near[..., 1]], np.hypot(outside[..., 0], outside[..., 1]), UNIT)
        return gaps.min(axis=1)

    @cached_property
    def steps_between(self) -> Int[np.ndarray, "n n"]:
        """How many cells apart free cells are, [from, to]; -1 where there is no way."""
        found = np.full((len(self.cells), len(self.cells)), -1)
        for goal in range(len(self.cells)):
            found[goal, goal] = 0
            queue = deque([goal])
            while queue:
                here = queue.popleft()
                for step in STEPS:
                    there = int(self._number[tuple(self.cells[here] + step)])
                    if there >= 0 and found[there, goal] < 0:
                        found[there, goal] = found[here, goal] + 1
                        queue.append(there)
        return found

    @cached_property
    def next_cell(self) -> Int[np.ndarray, "n n"]:
        """The cell after each on a shortest way, [from, to], as OGBench's oracle chooses among several."""
        best = np.tile(np.arange(len(self.cells))[:, None], (1, len(self.cells)))
        least = self.steps_between.copy()
        for step in STEPS:
            there = self._number[tuple((self.cells + step).T)]
            ahead = np.where((there >= 0)[:, None], self.steps_between[there], len(self.cells))
            better = (ahead < least) & (ahead >= 0)
            best, least = np.where(better, there[:, None], best), np.where(better, ahead, least)
        return best

    @cached_property
    def junctions(self) -> Int[np.ndarray, " k"]:
        """Numbers of the free cells that are not inside a straight corridor."""
        row, column = self.cells.T
        north, south = self.walls[row - 1, column], self.walls[row + 1, column]
        west, east = self.walls[row, column - 1], self.walls[row, column + 1]
        corridor = (~north & ~south & west & east) | (~west & ~east & north & south)
        return np.nonzero(~corridor)[0]
