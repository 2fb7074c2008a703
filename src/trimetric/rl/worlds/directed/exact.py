"""Exact directed distances among gates and belts: least numbers of steps, on a fine grid of places."""

from __future__ import annotations

from functools import cached_property
from math import gcd

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

from trimetric._support import checks
from trimetric.rl.worlds.directed.flow import STRIDE, Flow

REACH = 5
"""edges lead to all grid places in direct sight at most this many rows and columns away: 80 directions"""
SAMPLES_PER_SPACING = 2


class ExactDistances:
    r"""Least times between places of a `Flow`, in steps.

    The places of a grid are joined by straight edges.  Where the flow is $w$ and the stride $v$, a point advances along
    a unit vector $u$ by $s = u \cdot w + \sqrt{(u \cdot w)^2 - |w|^2 + v^2}$ per step, the largest $s$ that some action
    allows; an edge that the flow forbids is left out.  The cheapest ways are then those of Dijkstra's algorithm.  Ends
    are moved to the nearest grid place.

    Args:
        flow: the walls, gates and belts.
        spacing: of the grid.

    Examples:
        >>> exact = ExactDistances(Flow("#####\n#   #\n#####", "     \n     \n     "))
        >>> exact.between(np.array([[1.0, 1.0]]), np.array([[3.0, 1.0]])).round(3).tolist()  # 2 units, .1 per step
        [[20.0]]
    """

    def __init__(self, flow: Flow, *, spacing: float = 0.1) -> None:
        self.flow = flow
        self.spacing = checks.finite_number("spacing", spacing, above=0)
        height, width = flow.grid.shape
        x, y = (np.arange(-0.5 + spacing / 2, size - 0.5, spacing) for size in (width, height))
        grid = np.stack(np.meshgrid(x, y), axis=-1)
        self._open = ~flow.blocked(grid)
        self.places = grid[self._open]
        self._tree = KDTree(self.places)
        self._number = np.full(self._open.shape, -1)
        self._number[self._open] = np.arange(len(self.places))

    def between(
        self, starts: Float[np.ndarray, "m 2"], goals: Float[np.ndarray, "n 2"], *, reach: float = 0.0
    ) -> Float[np.ndarray, "m n"]:
        """Compute the least numbers of steps from every start to every goal.

        Args:
            starts: x and y (m, 2).
            goals: x and y (n, 2).
            reach: a goal counts as reached within this distance; with 0, only at the grid place nearest to it.

        Returns:
            Steps (m, n); infinite where there is no way.
        """
        begin = self._tree.query(starts)[1]
        found = np.empty((len(starts), len(goals)))
        for number, goal in enumerate(goals):
            found[:, number] = self.to(goal, reach=reach)[begin]
        return found

    def to(self, goal: Float[np.ndarray, 2], *, reach: float = 0.0) -> Float[np.ndarray, " p"]:
        """Compute the least numbers of steps from all `places` to a goal.

        Args:
            goal: x and y.
            reach: as for `between`.

        Returns:
            Steps from each place (p,).
        """
        ends = self._tree.query_ball_point(goal, reach) if reach else []
        return dijkstra(self._reversed, indices=ends or [int(self._tree.query(goal)[1])], min_only=True)

    @cached_property
    def _reversed(self) -> csr_array:
        """The cost of each edge, [to, from]."""
        tails, heads, costs = [], [], []
        for down in range(-REACH, REACH + 1):
            for right in range(-REACH, REACH + 1):
                if gcd(down, right) == 1:
                    tail, head, cost = self._edges(down, right)
                    tails.append(tail)
                    heads.append(head)
                    costs.append(cost)
        n = len(self.places)
        return csr_array((np.concatenate(costs), (np.concatenate(heads), np.concatenate(tails))), shape=(n, n))

    def _edges(self, down: int, right: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The edges by one offset: their ends and costs."""
        rows, columns = np.nonzero(self._open)
        height, width = self._open.shape
        to_row, to_column = rows + down, columns + right
        inside = (to_row >= 0) & (to_row < height) & (to_column >= 0) & (to_column < width)
        tail = np.nonzero(inside)[0]
        head = self._number[to_row[inside], to_column[inside]]
        tail, head = tail[head >= 0], head[head >= 0]
        offset = self.spacing * np.array([right, down])
        length = float(np.hypot(*offset))
        pieces = max(1, SAMPLES_PER_SPACING * max(abs(down), abs(right)))
        cost = np.zeros(len(tail))
        for piece in range(pieces):
            here = self.places[tail] + offset * (piece + 0.5) / pieces
            with np.errstate(divide="ignore"):
                cost += length / pieces / self._advance(here, offset / length)
        cost[~np.isfinite(cost)] = np.inf
        possible = np.isfinite(cost)
        return tail[possible], head[possible], cost[possible]

    def _advance(self, places: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """How far a step can lead from places in a direction; 0 in walls and where the flow is too strong."""
        blocked = self.flow.blocked(places)
        carried = np.where(blocked[:, None], 0, self.flow.carried(np.where(blocked[:, None], self.places[0], places)))
        along = carried @ direction
        room = along**2 - (carried**2).sum(axis=1) + STRIDE**2
        return np.where(blocked | (room < 0), 0, np.maximum(along + np.sqrt(np.maximum(room, 0)), 0))
