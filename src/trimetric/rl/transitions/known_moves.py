"""The graph of a log: its states, and the moves between them that were seen."""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor

from trimetric.rl.transitions.log import Transitions


class KnownMoves:
    """The graph of a log: its distinct states, and the cheapest step seen between each two of them.

    Steps that lead back to the same state are not moves.

    Args:
        transitions: the log; at least one step must lead from one state to another.

    Attributes:
        states: distinct observations (m, ...), numbered in the order in which they were first seen.
        edges: states before and after each move (k, 2), by number, ordered by the first.
        costs: cost of each move (k,).
        next_state: where the moves of each state lead (m, most), padded with -1; `most` is the largest number of moves
            of one state.
        cost: cost of each of these moves (m, most), padded with infinity.

    Examples:
        >>> log = Transitions(
        ...     observations=np.array([[0.0], [0.0], [1.0]]),
        ...     next_observations=np.array([[1.0], [1.0], [2.0]]),
        ...     costs=np.array([3.0, 2.0, 1.0]),
        ... )
        >>> moves = KnownMoves(log)
        >>> moves.num_states, moves.edges.tolist(), moves.costs.tolist()
        (3, [[0, 1], [1, 2]], [2.0, 1.0])
        >>> moves.distances_from(torch.tensor([0])).tolist()
        [[0.0, 2.0, 3.0]]
    """

    def __init__(self, transitions: Transitions) -> None:
        self.states = torch.from_numpy(transitions.states)
        m = len(self.states)
        before, after = transitions.ends
        moving = before != after
        keys, numbers = np.unique(before[moving] * m + after[moving], return_inverse=True)
        if not len(keys):
            raise ValueError("transitions: expected some that lead from one state to another, got none")
        costs = np.full(len(keys), np.inf)
        np.minimum.at(costs, numbers.ravel(), transitions.costs[moving])
        self.edges: Int[Tensor, "k 2"] = torch.from_numpy(np.stack([keys // m, keys % m], axis=1))
        self.costs: Float[Tensor, " k"] = torch.from_numpy(costs)
        counts = torch.bincount(self.edges[:, 0], minlength=m)
        starts = counts.cumsum(0) - counts
        place = torch.arange(len(keys)) - starts[self.edges[:, 0]]
        self.next_state: Int[Tensor, "m most"] = torch.full((m, int(counts.max())), -1)
        self.next_state[self.edges[:, 0], place] = self.edges[:, 1]
        self.cost: Float[Tensor, "m most"] = torch.full(self.next_state.shape, torch.inf, dtype=torch.float64)
        self.cost[self.edges[:, 0], place] = self.costs

    @property
    def num_states(self) -> int:
        """The number of distinct states."""
        return len(self.states)

    def digest(self) -> str:
        """Compute a digest that tells these states and moves, with their costs, from those of another log.

        Returns:
            Hexadecimal digits.
        """
        found = hashlib.sha256()
        for tensor in (self.states, self.edges, self.costs):
            found.update(f"{tuple(tensor.shape)} {tensor.dtype}".encode())
            found.update(np.ascontiguousarray(tensor.numpy()).tobytes())
        return found.hexdigest()

    def distances_from(self, states: Int[Tensor, " k"], *, limit: float = np.inf) -> Float[Tensor, "k m"]:
        """Compute the cost of a cheapest path over known moves to every state, by Dijkstra's algorithm.

        Args:
            states: where the paths start, by number (k,).
            limit: paths that cost more are not searched for.

        Returns:
            Costs (k, m), infinite where no path within `limit` exists.
        """
        m = self.num_states
        graph = csr_array((self.costs.numpy(), tuple(self.edges.numpy().T)), shape=(m, m))
        return torch.from_numpy(dijkstra(graph, indices=states.numpy(), limit=limit))
