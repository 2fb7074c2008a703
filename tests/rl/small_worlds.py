"""Small worlds whose exact distances are known, and logs of walks in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse.csgraph import shortest_path
from torch import Tensor

from trimetric import rl


@dataclass(frozen=True)
class Graph:
    """States with a number each; action a leads from s to `moves[s, a]`."""

    moves: np.ndarray
    features: np.ndarray

    @property
    def distances(self) -> np.ndarray:
        """The smallest number of steps between any two states."""
        count = len(self.moves)
        edges = np.zeros((count, count))
        edges[np.arange(count).repeat(self.moves.shape[1]), self.moves.ravel()] = 1
        np.fill_diagonal(edges, 0)
        return shortest_path(edges)

    def walks(self, episodes: int, steps: int, seed: int = 0, weights: np.ndarray | None = None) -> rl.Trajectories:
        """Random walks from random states.

        Args:
            episodes: how many.
            steps: of each.
            seed: of everything.
            weights: how likely each action is in each state; all the same by default.
        """
        random = np.random.default_rng(seed)
        count, choices = self.moves.shape
        shares = np.full((count, choices), 1 / choices) if weights is None else weights
        totals = shares.cumsum(axis=1)
        here = random.integers(count, size=episodes)
        seen, done = [here], []
        for _ in range(steps):
            action = (random.random((episodes, 1)) > totals[here]).sum(axis=1).clip(max=choices - 1)
            here = self.moves[here, action]
            seen.append(here)
            done.append(action)
        done.append(np.zeros(episodes, dtype=np.int64))
        return rl.Trajectories(
            observations=self.features[np.stack(seen, axis=1).ravel()],
            ends=np.arange(1, episodes + 1) * (steps + 1) - 1,
            actions=np.stack(done, axis=1).ravel(),
            num_actions=choices,
        )

    def journeys(self, episodes: int, steps: int, seed: int = 0, noise: float = 0.3) -> rl.Trajectories:
        """Walks along cheapest paths to random goals, a new one after each arrival, with random actions in between.

        Args:
            episodes: how many.
            steps: of each.
            seed: of everything.
            noise: the part of the actions that are random.
        """
        random = np.random.default_rng(seed)
        count, choices = self.moves.shape
        best = self.distances[self.moves].argmin(axis=1)  # (states, goals)
        here, goal = random.integers(count, size=(2, episodes))
        seen, done = [here], []
        for _ in range(steps):
            goal = np.where(here == goal, random.integers(count, size=episodes), goal)
            chance = random.random(episodes) < noise
            action = np.where(chance, random.integers(choices, size=episodes), best[here, goal])
            here = self.moves[here, action]
            seen.append(here)
            done.append(action)
        done.append(np.zeros(episodes, dtype=np.int64))
        return rl.Trajectories(
            observations=self.features[np.stack(seen, axis=1).ravel()],
            ends=np.arange(1, episodes + 1) * (steps + 1) - 1,
            actions=np.stack(done, axis=1).ravel(),
            num_actions=choices,
        )

    def learned(self, model: torch.nn.Module) -> np.ndarray:
        """The distances between all states that a model has learned."""
        from trimetric import all_pairs

        with torch.no_grad():
            return all_pairs(model, torch.from_numpy(self.features)).numpy()  # type: ignore[arg-type]

    def greedy_return(self, found: np.ndarray, most: int = 200) -> float:
        """The mean of cheapest over paid cost, 0 where the goal is not reached, of one-step greedy walks by `found`."""
        exact, count = self.distances, len(self.moves)
        here = np.repeat(np.arange(count), count)
        goal = np.tile(np.arange(count), count)
        far = np.isfinite(exact[here, goal]) & (here != goal)
        here, goal = here[far], goal[far]
        start, paid = here.copy(), np.zeros(len(here))
        to_goal = found - np.diag(np.full(count, np.inf))
        for _ in range(most):
            walking = here != goal
            following = self.moves[here]
            best = to_goal[following, goal[:, None]].argmin(axis=1)
            here = np.where(walking, following[np.arange(len(here)), best], here)
            paid += walking
        return float(np.where(here == goal, exact[start, goal] / paid, 0).mean())


def one_way_rooms() -> Graph:
    """A 5 x 5 grid with a wall down the middle: one passage at the top leads east, one at the bottom leads west."""
    size = 5
    moves = np.zeros((size * size, 4), dtype=np.int64)
    for row in range(size):
        for column in range(size):
            for action, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
                to = row + down, column + right
                blocked = not (0 <= to[0] < size and 0 <= to[1] < size)
                blocked |= column == 2 and right == 1 and row != 0  # east only at the top
                blocked |= column == 3 and right == -1 and row != size - 1  # west only at the bottom
                moves[row * size + column, action] = row * size + column if blocked else to[0] * size + to[1]
    places = np.stack(np.divmod(np.arange(size * size), size), axis=1).astype(np.float32)
    return Graph(moves, places)


def box_walks(episodes: int = 200, steps: int = 50, seed: int = 0) -> rl.Trajectories:
    """Random walks of a point in the unit square that moves at most 0.05 in a step, in a direction of its choice."""
    random = np.random.default_rng(seed)
    here = random.random((episodes, 2))
    seen, done = [here], []
    angle = random.random(episodes) * 2 * np.pi
    for _ in range(steps):
        angle = angle + random.normal(size=episodes) * 0.5
        action = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        here = np.clip(here + 0.05 * action, 0, 1)
        seen.append(here)
        done.append(action)
    done.append(np.zeros((episodes, 2)))
    return rl.Trajectories(
        observations=np.stack(seen, axis=1).reshape(-1, 2).astype(np.float32),
        ends=np.arange(1, episodes + 1) * (steps + 1) - 1,
        actions=np.stack(done, axis=1).reshape(-1, 2).astype(np.float32),
        action_range=(-1.0, 1.0),
    )


def tensors(*arrays: np.ndarray) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(np.asarray(array)) for array in arrays)


def gated_ring(size: int = 12) -> Graph:
    """A ring: forward everywhere, back everywhere but through a gate before state 0; the third action stays."""
    here = np.arange(size)
    back = np.where(here == 0, 0, here - 1)
    angle = here * 2 * np.pi / size
    features = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    return Graph(np.stack([(here + 1) % size, back, here], axis=1), features)
