"""Grid maps from text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimetric._support.moved import warn

WALL, FREE = "#", " ."
MOVES = {"^": (-1, 0), ">": (0, 1), "v": (1, 0), "<": (0, -1)}
"""north, east, south, west: the sign of a one-way door in each direction, and the step (down, right)"""
ACTIONS = ("north", "east", "south", "west")

FOUR_ROOM = """
###########
#    #    #
#    #    #
#         #
#    #    #
## #### ###
#    #    #
#    #    #
#         #
#    #    #
###########
"""
"""four rooms of 4 x 4 and four doors: 68 cells"""

MAZE = """
###########
#         #
### # # ###
#   # #   #
# ##### # #
# #   # # #
# # # ### #
#   # #   #
##### # # #
#       # #
###########
"""
"""25 cells, the 24 passages of a tree, and one more that makes a loop: 50 cells"""


@dataclass(frozen=True)
class GridMap:
    r"""A map, as `read_map` reads it.

    Args:
        signs: one character per cell (height, width).
        cells: row and column of each state (n, 2), numbered in reading order.

    Examples:
        >>> grid = read_map("####\n#  #\n####")
        >>> grid.shape, grid.cells.tolist(), grid.neighbors().tolist()
        ((3, 4), [[1, 1], [1, 2]], [[-1, 1, -1, -1], [-1, -1, -1, 0]])
    """

    signs: np.ndarray
    cells: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width, in cells."""
        return self.signs.shape[0], self.signs.shape[1]

    @property
    def walls(self) -> np.ndarray:
        """Whether each cell is a wall (height, width)."""
        return self.signs == WALL

    def neighbors(self) -> np.ndarray:
        """Find the state that each action leads to.

        A one-way door is entered and left in its own direction only.

        Returns:
            Numbers of states (n, 4), -1 where the action cannot be taken.
        """
        height, width = self.shape
        number = np.full((height + 2, width + 2), -1)  # a frame: nobody leaves a map without an outer wall
        number[self.cells[:, 0] + 1, self.cells[:, 1] + 1] = np.arange(len(self.cells))
        signs = np.full((height + 2, width + 2), WALL)
        signs[1:-1, 1:-1] = self.signs
        found = np.full((len(self.cells), 4), -1)
        for action, (door, (down, right)) in enumerate(MOVES.items()):
            row, column = self.cells[:, 0] + 1, self.cells[:, 1] + 1
            here, there = signs[row, column], signs[row + down, column + right]
            others = [sign for sign in MOVES if sign != door]
            barred = np.isin(here, others) | np.isin(there, others)
            found[:, action] = np.where(barred, -1, number[row + down, column + right])
        return found

    def neighbours(self) -> np.ndarray:
        """The old name of `neighbors`."""
        warn("GridMap.neighbours", "GridMap.neighbors")
        return self.neighbors()

    def __str__(self) -> str:
        return "\n".join("".join(row) for row in self.signs)


def read_map(text: str | Sequence[str]) -> GridMap:
    """Read a map from lines of `#` (wall), space or `.` (free), and the one-way doors `^ > v <`.

    Args:
        text: the map, or its lines; all lines have the same length.

    Returns:
        The map.

    Examples:
        >>> len(read_map(FOUR_ROOM).cells), len(read_map(MAZE).cells)
        (68, 50)
    """
    lines = text.strip("\n").split("\n") if isinstance(text, str) else list(text)
    if len({len(line) for line in lines}) > 1:
        number, line = next((i, line) for i, line in enumerate(lines, start=1) if len(line) != len(lines[0]))
        raise ValueError(f"map: expected lines of {len(lines[0])} characters, got {len(line)} in line {number}")
    known = WALL + FREE + "".join(MOVES)
    for number, line in enumerate(lines, start=1):
        for column, sign in enumerate(line, start=1):
            if sign not in known:
                raise ValueError(
                    f"map: expected '#' (wall), space or '.' (free) and the one-way doors ^ > v <, "
                    f"got {sign!r} in line {number}, column {column}"
                )
    signs = np.array([list(line) for line in lines])
    cells = np.argwhere(signs != WALL) if signs.size else np.empty((0, 2), dtype=int)
    if len(cells) < 2:
        raise ValueError(f"map: expected at least two free cells, a state and a goal, got {len(cells)}")
    return GridMap(signs, cells)


def random_maze(size: int = 11, *, seed: int, loops: int = 1) -> GridMap:
    """Make a random maze: a tree over the cells with odd coordinates, and `loops` more passages.

    Args:
        size: height and width, an odd number from 5 on.
        seed: seed of the maze.
        loops: number of passages beyond the tree.

    Returns:
        The map.

    Examples:
        >>> len(random_maze(7, seed=0, loops=0).cells)  # 9 cells and 8 passages
        17
    """
    if size < 5 or size % 2 == 0:
        raise ValueError(f"size: expected an odd number from 5 on, got {size}")
    generator = np.random.default_rng(seed)
    signs = np.full((size, size), WALL)
    signs[1::2, 1::2] = " "
    seen, stack = {(1, 1)}, [(1, 1)]
    while stack:
        row, column = stack[-1]
        steps = [
            (down, right)
            for down, right in MOVES.values()
            if 0 < row + 2 * down < size
            and 0 < column + 2 * right < size
            and (row + 2 * down, column + 2 * right) not in seen
        ]
        if not steps:
            stack.pop()
            continue
        down, right = steps[generator.integers(len(steps))]
        signs[row + down, column + right] = " "
        seen.add((row + 2 * down, column + 2 * right))
        stack.append((row + 2 * down, column + 2 * right))
    closed = [
        (row, column)
        for row in range(1, size - 1)
        for column in range(1, size - 1)
        if (row + column) % 2 and signs[row, column] == WALL
    ]
    for place in generator.permutation(len(closed))[:loops]:
        signs[closed[place]] = " "
    return read_map(["".join(row) for row in signs])
