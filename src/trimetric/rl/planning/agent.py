"""An agent that acts in the environment itself, by a learned distance and a log."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from trimetric.distances import ObjectDistance
from trimetric.rl.transitions.embedding import embed_states
from trimetric.rl.transitions.known_moves import KnownMoves
from trimetric.rl.transitions.log import Transitions


class Agent:
    r"""Acts in the environment: takes the action with the smallest mean of $c + d(s', g)$ over its logged steps.

    It replaces each observation by the nearest known state, so it also works if steps are random or states binned.

    Args:
        model: a distance between observations.
        transitions: a log with actions.
        goals: the number of the goal state, or of several states, any of which is a goal.

    Attributes:
        moves: the known moves of the log.
        values: mean cost from each state to the goal by each action (m, actions); infinite for actions never taken.

    Examples:
        >>> from trimetric import NormInduced, Euclidean
        >>> log = Transitions(
        ...     observations=np.array([[0.0], [1.0], [1.0]]),
        ...     next_observations=np.array([[1.0], [0.0], [2.0]]),
        ...     costs=np.ones(3),
        ...     actions=np.array([1, 0, 1]),
        ... )
        >>> agent = Agent(NormInduced(Euclidean(1)), log, goals=2)
        >>> agent(np.array([0.9]))
        1
    """

    def __init__(
        self,
        model: ObjectDistance,
        transitions: Transitions,
        goals: Int[Tensor, " g"] | int,
    ) -> None:
        if transitions.actions is None:
            raise ValueError("transitions: expected a log with actions, got none")
        self.moves = KnownMoves(transitions)
        distance, points = embed_states(model, self.moves)
        ends = torch.atleast_1d(torch.as_tensor(goals))
        with torch.no_grad():
            left = torch.stack([distance(points, points[end]) for end in ends.tolist()]).amin(dim=0).double()
        left[ends] = 0
        before, after = torch.from_numpy(transitions.ends)
        actions = torch.from_numpy(transitions.actions)
        value = torch.from_numpy(transitions.costs) + left[after]
        shape = (self.moves.num_states, int(actions.max()) + 1)
        sums, counts = torch.zeros(2, *shape, dtype=torch.float64)
        sums.index_put_((before, actions), value, accumulate=True)
        counts.index_put_((before, actions), torch.ones_like(value), accumulate=True)
        self.values = torch.where(counts > 0, sums / counts.clamp(min=1), torch.inf)
        self._acting = (counts.sum(dim=1) > 0).nonzero().squeeze(1)
        self._known = self.moves.states.flatten(1)[self._acting]
        spread = self._known.std(dim=0, correction=0)
        self._scale = torch.where(spread > 0, spread, 1)

    def __call__(self, observation: np.ndarray) -> int:
        """Choose an action.

        Args:
            observation: what the agent sees, of the shape that was logged.

        Returns:
            The number of the action.
        """
        seen = torch.as_tensor(observation, dtype=self._known.dtype).flatten()
        nearest = ((self._known - seen) / self._scale).square().sum(dim=1).argmin()
        return int(self.values[self._acting[nearest]].argmin())
