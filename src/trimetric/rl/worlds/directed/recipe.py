"""Data of the directed world: noisy walks to random cells, and random walks that run into gates and walls."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from trimetric._support import checks
from trimetric.rl.trajectories import Trajectories
from trimetric.rl.worlds.directed.world import DirectedPoint

ROWS = 501
ACTION_NOISE = 0.5
RANDOM_SHARE = 0.2
"""of the episodes are random walks"""
HOLD = 10
"""steps for which a random walk keeps its direction"""
HELD_OUT = 10
NEAR = 0.5


def directed_trajectories(
    world: DirectedPoint | None = None, *, seed: int = 0, episodes: int = 500
) -> tuple[Trajectories, Trajectories]:
    """Log walks in the directed world: 500 episodes of 501 rows take a second.

    Four of five episodes walk along cells to random cells, by ways that the gates allow, with Gaussian noise of 0.5 on
    the direction; the others keep a random direction for ten steps at a time, even against obstacles.

    Args:
        world: the world to walk in; by default a `DirectedPoint` with its default arguments.
        seed: of starts, goals, noise and directions.
        episodes: how many to learn from.

    Returns:
        Episodes to learn from, and a tenth as many to measure on.

    Examples:
        >>> train, held_out = directed_trajectories(episodes=20)
        >>> train.num_episodes, held_out.num_episodes, train.observations.shape
        (20, 2, (10020, 2))
    """
    world = DirectedPoint() if world is None else world
    count = checks.positive_int("episodes", episodes)
    total = count + max(1, count // HELD_OUT)
    generator = np.random.default_rng(checks.seed("seed", seed))
    flow = world.flow
    cells = flow.grid.cells[:, ::-1].astype(float)
    row_of = np.full(flow.grid.shape, -1)
    row_of[tuple(flow.grid.cells.T)] = np.arange(len(cells))
    next_cell = _next_cells(flow.grid.neighbors())
    wandering = generator.random(total) < RANDOM_SHARE
    goals = generator.integers(len(cells), size=total)
    places = cells[generator.integers(len(cells), size=total)] + generator.uniform(-0.45, 0.45, (total, 2))
    headings = np.zeros((total, 2))
    observations = np.empty((total, ROWS, 2), dtype=np.float32)
    actions = np.empty((total, ROWS, 2), dtype=np.float32)
    for row in range(ROWS):
        if row % HOLD == 0:
            angle = generator.uniform(0, 2 * np.pi, total)
            headings = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        column, line = np.floor(places + 0.5).astype(int).T
        way = cells[next_cell[row_of[line, column], goals]] - places
        direction = way / (np.linalg.norm(way, axis=1, keepdims=True) + 1e-6)
        noisy = direction + generator.normal(0, ACTION_NOISE, (total, 2))
        action = np.where(wandering[:, None], headings, noisy)
        action /= np.maximum(np.linalg.norm(action, axis=1, keepdims=True), 1)
        observations[:, row], actions[:, row] = places, action
        places = flow.move(places, action)
        arrived = np.linalg.norm(places - cells[goals], axis=1) <= NEAR
        goals[arrived] = generator.integers(len(cells), size=int(arrived.sum()))
    parts = slice(None, count), slice(count, None)
    train, held_out = (
        Trajectories(
            observations=observations[part].reshape(-1, 2),
            actions=actions[part].reshape(-1, 2),
            ends=np.arange(1, len(observations[part]) + 1) * ROWS - 1,
            action_range=(-1.0, 1.0),
        )
        for part in parts
    )
    return train, held_out


def _next_cells(neighbors: np.ndarray) -> np.ndarray:
    """The cell after each on a way with the fewest cells, [from, to]; a cell itself where there is no way."""
    n = len(neighbors)
    here, action = np.nonzero(neighbors >= 0)
    moves = csr_array((np.ones(len(here)), (here, neighbors[here, action])), shape=(n, n))
    left = dijkstra(moves, unweighted=True)
    ahead = np.where((neighbors >= 0)[:, :, None], left[neighbors], np.inf)
    best = np.take_along_axis(neighbors[:, :, None], ahead.argmin(axis=1)[:, None], axis=1)[:, 0]
    stay = ~np.isfinite(ahead.min(axis=1)) | (left == 0)
    return np.where(stay, np.arange(n)[:, None], best)
