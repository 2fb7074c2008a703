"""Grid worlds with their model: where each move leads, its cost, and the exact values."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor

from trimetric._support import checks
from trimetric.rl.worlds.maps import FOUR_ROOM, MAZE, GridMap, read_map

NOISE = 5.0
NOISY_ACTIONS = (2, 3)  # south, west
MAPS = {"FourRoom": FOUR_ROOM, "Maze": MAZE}


class World:
    r"""The states of a map and the cost of each move; the value of $(s, g)$ is minus the cost of a cheapest path.

    Costs are positive, so the exact distance $d(s, g) = -V(s, g)$ is a quasimetric.

    Args:
        grid: a map, its text, or the name of one: "FourRoom" or "Maze".
        asymmetric: every move costs 1; in an asymmetric world moves south and west cost up to 5 more, drawn uniformly
            once for each move (the paper's asymmetric worlds).
        seed: seed of those costs.

    Attributes:
        grid: the map.
        num_states: number of free cells, n.
        next_state: where each action leads (n, 4); -1 where it cannot be taken.
        cost: cost of each action (n, 4), infinite where it cannot be taken; the reward is minus this.

    Examples:
        >>> world = World("FourRoom")
        >>> world
        World(11 x 11, 68 states, symmetric)
        >>> world.distances[world.state_at(1, 1), world.state_at(3, 3)].item()
        4.0
    """

    def __init__(self, grid: GridMap | str, *, asymmetric: bool = False, seed: int = 0) -> None:
        if isinstance(grid, str):
            if grid not in MAPS and "\n" not in grid and not set(grid) <= set("# .^>v<"):
                raise ValueError(f"grid: expected a map, its text, or one of {', '.join(MAPS)}, got {grid!r}")
            grid = read_map(MAPS.get(grid, grid))
        checks.instance("grid", grid, GridMap)
        self.grid, self.asymmetric, self.seed = grid, bool(asymmetric), seed
        self.num_states = len(grid.cells)
        self.next_state = torch.from_numpy(grid.neighbors())
        cost = np.ones((self.num_states, 4))
        if asymmetric:
            noise = np.random.default_rng(seed).uniform(0, NOISE, (self.num_states, len(NOISY_ACTIONS)))
            cost[:, NOISY_ACTIONS] += noise
        self.cost = torch.from_numpy(cost).where(self.next_state >= 0, torch.inf)
        self._check_connected()

    @cached_property
    def distances(self) -> Float[Tensor, "n n"]:
        """The cost of a cheapest path from each state to each goal (n, n), by Dijkstra's algorithm."""
        return torch.from_numpy(dijkstra(self._graph()))

    @property
    def values(self) -> Float[Tensor, "n n"]:
        """The exact values V(s, g) (n, n): minus the distances."""
        return -self.distances

    @cached_property
    def observations(self) -> Float[Tensor, "n 3 height width"]:
        """What the agent sees in each state: each cell of the map is empty, wall or agent, one plane each."""
        walls = torch.from_numpy(self.grid.walls)
        seen = torch.stack([~walls, walls, torch.zeros_like(walls)]).float().repeat(self.num_states, 1, 1, 1)
        states, (rows, columns) = torch.arange(self.num_states), torch.from_numpy(self.grid.cells.T)
        seen[states, 0, rows, columns] = 0
        seen[states, 2, rows, columns] = 1
        return seen

    def pairs(self) -> Int[Tensor, "pairs 2"]:
        """List all pairs of a state and another state as its goal, by number."""
        return (~torch.eye(self.num_states, dtype=torch.bool)).nonzero()

    def state_at(self, row: int, column: int) -> int:
        """Find the state at a cell.

        Args:
            row: of a free cell.
            column: of the same cell.

        Returns:
            The number of the state.
        """
        found = np.flatnonzero((self.grid.cells == (row, column)).all(axis=1))
        if not len(found):
            raise ValueError(f"row, column: expected a free cell, got ({row}, {column})")
        return int(found[0])

    def _graph(self) -> csr_array:
        state, action = np.nonzero(self.next_state.numpy() >= 0)
        ends = self.next_state.numpy()[state, action]
        return csr_array((self.cost.numpy()[state, action], (state, ends)), shape=(self.num_states,) * 2)

    def _check_connected(self) -> None:
        unreachable = torch.isinf(self.distances).nonzero()
        if len(unreachable):
            start, goal = (tuple(self.grid.cells[end].tolist()) for end in unreachable[0].tolist())
            raise ValueError(
                f"map: expected every free cell to be reachable from every other, got no way from {start} to {goal} "
                f"(row, column), nor for {len(unreachable) - 1} other pairs"
            )

    def __repr__(self) -> str:
        height, width = self.grid.shape
        kind = f"asymmetric, seed {self.seed}" if self.asymmetric else "symmetric"
        return f"World({height} x {width}, {self.num_states} states, {kind})"
