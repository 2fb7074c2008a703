"""Walls, one-way gates and conveyor belts of a plane made of unit cells, and how a point moves among them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from trimetric.rl.worlds.maps import MOVES, WALL, GridMap, read_map

STRIDE = 0.1
"""length of a step that nothing carries"""
GATE = 1.5
"""speed of a gate, in strides per step: nobody gets through it backwards"""
BELT = 0.5
"""speed of a belt, in strides per step: three times faster along it than against it"""


class Flow:
    """Gates and belts that carry a point, and walls that stop it.

    Cell (row, column) is the unit square around x = column, y = row.  A gate carries a point in its cell 1.5 strides
    per step, a belt half a stride.

    Args:
        gates: a map of `#` (wall), space, and the gates `^ > v <`.
        belts: a map of the same shape with the belts `^ > v <`; everything else in it is ignored.

    Examples:
        >>> flow = Flow("#####\\n# > #\\n#####", "     \\n >   \\n     ")
        >>> flow.carried(np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]))[:, 0].round(3).tolist()
        [0.05, 0.15, 0.0]
        >>> flow.move(np.array([[1.0, 1.0]]), np.array([[0.0, 1.0]])).round(3).tolist()
        [[1.05, 1.1]]
    """

    def __init__(self, gates: GridMap | str, belts: str) -> None:
        self.grid = gates if isinstance(gates, GridMap) else read_map(gates)
        lines = belts.strip("\n").split("\n")
        height, width = self.grid.shape
        if [len(line) for line in lines] != [width] * height:
            raise ValueError(
                f"belts: expected {height} lines of {width} characters, as the map has, "
                f"got {len(lines)} lines of {sorted({len(line) for line in lines})}"
            )
        signs = np.array([list(line) for line in lines])
        self.speed = np.zeros((height, width, 2))
        for sign, (down, right) in MOVES.items():
            self.speed[signs == sign] = BELT * STRIDE * np.array([right, down])
            self.speed[self.grid.signs == sign] = GATE * STRIDE * np.array([right, down])
        self.speed[self.grid.signs == WALL] = 0

    def blocked(self, places: Float[np.ndarray, "*b 2"]) -> Bool[np.ndarray, "*b"]:
        """Tell which places are inside walls or outside the map.

        Args:
            places: x and y (..., 2).

        Returns:
            Truth values (...).
        """
        row, column = self._cells(places)
        height, width = self.grid.shape
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        return ~inside | self.grid.walls[row.clip(0, height - 1), column.clip(0, width - 1)]

    def carried(self, places: Float[np.ndarray, "*b 2"]) -> Float[np.ndarray, "*b 2"]:
        """Give how far a step carries what stays still.

        Args:
            places: x and y (..., 2), inside the map.

        Returns:
            The movement in x and y (..., 2).
        """
        row, column = self._cells(places)
        return self.speed[row, column]

    def move(self, places: Float[np.ndarray, "b 2"], actions: Float[np.ndarray, "b 2"]) -> Float[np.ndarray, "b 2"]:
        """Take a step: the action, no longer than 1, times the stride, and what carries; walls stop x and y separately.

        Args:
            places: x and y (b, 2).
            actions: x and y (b, 2); longer ones are shortened to length 1.

        Returns:
            The places after it (b, 2).
        """
        length = np.linalg.norm(actions, axis=1, keepdims=True)
        wanted = places + STRIDE * actions / np.maximum(length, 1) + self.carried(places)
        sideways = np.stack([wanted[:, 0], places[:, 1]], axis=1)
        x = np.where(self.blocked(sideways), places[:, 0], wanted[:, 0])
        after = np.stack([x, wanted[:, 1]], axis=1)
        after[:, 1] = np.where(self.blocked(after), places[:, 1], wanted[:, 1])
        return after

    @staticmethod
    def _cells(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        whole = np.floor(places + 0.5).astype(int)
        return whole[..., 1], whole[..., 0]
