"""Planning by the learned distance: a short search, and the learned distance for the rest of the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.distances import ObjectDistance, Siamese
from trimetric.distances.all_pairs import all_pairs
from trimetric.rl.policies.planner import NO_PATH, Planner, planned
from trimetric.rl.trajectories.trajectories import Trajectories

WALKED = 0.25
"""weight of the way up to where the distance is asked: less than 1, as a start is worth leaving"""
NEARLY_BEST = 0.02
"""how many radii worse than the best a waypoint may be that is farther ahead"""
LOOKAHEAD = 5.0


class WaypointPolicy(Planner):
    """Searches a few radii ahead for the logged state w with the smallest d(w, g) + c(s, w) / 4, and walks there.

    c(s, w) is the cost of a path of short distances, and d(w, g) the remaining distance to the goal.  The distance
    has to be accurate for the whole way, except for local minima that the search is long enough to leave.  Distances
    have such minima at walls, behind which there is a place much nearer to the goal; a planner that considers only the
    next waypoint gets stuck there.

    Args:
        model: a learned distance.
        local: the policy that walks to near states.
        states: how many logged states there are to walk to.
        shape: of an observation.
        radius: the largest distance of the next waypoint, and the length of the longest step of a path.
        lookahead: the cost of the longest path between waypoints, in radii; 0 for the next waypoint alone.

    Examples:
        >>> import numpy as np
        >>> from trimetric.rl import goal_model, learn_local_policy
        >>> log = Trajectories(
        ...     observations=np.arange(60.0)[:, None], ends=np.array([59]), actions=np.ones((60, 1), dtype=np.float32)
        ... )
        >>> local = learn_local_policy(log, horizon=5, steps=50, batch_size=16, progress="silent")
        >>> policy = WaypointPolicy.from_log(goal_model(log), log, local=local, states=20, horizon=5)
        >>> policy(torch.zeros(2, 1), torch.full((2, 1), 40.0)).shape
        torch.Size([2, 1])
    """

    def __init__(
        self,
        *,
        model: ObjectDistance,
        local: nn.Module,
        states: int,
        shape: Sequence[int],
        radius: float,
        lookahead: float = LOOKAHEAD,
    ) -> None:
        super().__init__(model=model, local=local, states=states, shape=shape, radius=radius)
        self.lookahead = checks.finite_number("lookahead", lookahead, at_least=0)

    @classmethod
    def from_log(
        cls,
        model: Siamese,
        trajectories: Trajectories,
        *,
        local: nn.Module,
        states: int = 1000,
        horizon: int = 20,
        quantile: float = 0.8,
        lookahead: float = LOOKAHEAD,
        seed: int = 0,
    ) -> Self:
        """Choose waypoints from a log, spread evenly by the learned distance.

        Args:
            model: a learned distance.
            trajectories: the log.
            local: the policy that walks to near states, from `learn_local_policy`.
            states: how many waypoints to choose.
            horizon: how many logged steps away the next waypoint may be.
            quantile: the share of states `horizon` logged steps away that lies within the radius.
            lookahead: the cost of the longest path between waypoints, in radii; 0 for the next waypoint alone.
            seed: of the random draws.

        Returns:
            The policy.
        """
        chosen, radius = planned(model, trajectories, states, horizon=horizon, quantile=quantile, seed=seed)
        policy = cls(
            model=model,
            local=local,
            states=len(chosen),
            shape=tuple(chosen.shape[1:]),
            radius=radius,
            lookahead=lookahead,
        )
        return policy.walking_to(chosen)

    def to_goals(self, goals: Tensor) -> Tensor:
        near = (self.between != NO_PATH) & (self.between <= self.lookahead * self.radius)
        walked = torch.where(near, WALKED * self.between, torch.inf)
        left = all_pairs(self.distance.head, self.points, goals).mT
        return torch.stack([(walked + own).amin(dim=1) for own in left]) if len(left) else left

    def choose(self, reach: Tensor, remaining: Tensor) -> Tensor:
        total = torch.where(reach <= self.radius, remaining + WALKED * reach, torch.inf)
        least = total.amin(dim=1, keepdim=True)
        # Of those that are nearly best the farthest one: the others lie on the way there.
        ahead = torch.where(total <= least + NEARLY_BEST * self.radius, reach, -1.0)
        return torch.where(least.squeeze(1).isfinite(), ahead.argmax(dim=1), -1)
