"""Planning by a search over logged states: many short distances instead of a single long one."""

from __future__ import annotations

import torch
from torch import Tensor

from trimetric.distances.all_pairs import all_pairs
from trimetric.rl.policies.planner import NO_PATH, Planner

ENTRIES = 8
"""waypoints from which a goal may be reached directly"""
NEARLY_BEST = 1.02


class GraphPolicy(Planner):
    """Walks along cheapest paths over logged states, whose edges are the learned distances up to a radius.

    Only short distances have to be accurate.  In worlds where a straight line to a near state is nearly always free, a
    search over Euclidean edges works as well: compare with it before you credit the learned distance.

    Args:
        model: a learned distance.
        local: the policy that walks to near states.
        states: how many logged states there are to walk to.
        shape: of an observation.
        radius: the length of the longest edge, and the largest distance of the next waypoint.

    Examples:
        >>> import numpy as np
        >>> from trimetric.rl import Trajectories, goal_model, learn_local_policy
        >>> log = Trajectories(
        ...     observations=np.arange(60.0)[:, None], ends=np.array([59]), actions=np.ones((60, 1), dtype=np.float32)
        ... )
        >>> local = learn_local_policy(log, horizon=5, steps=50, batch_size=16, progress="silent")
        >>> policy = GraphPolicy.from_log(goal_model(log), log, local=local, states=20, horizon=5)
        >>> policy(torch.zeros(2, 1), torch.full((2, 1), 40.0)).shape
        torch.Size([2, 1])
    """

    def to_goals(self, goals: Tensor) -> Tensor:
        last = all_pairs(self.distance.head, self.points, goals).mT
        last = torch.where(last <= self.radius, last, torch.inf)
        nearest, entry = last.topk(min(ENTRIES, last.shape[1]), dim=1, largest=False)
        way = self.between[:, entry]
        return torch.where(way == NO_PATH, torch.inf, way + nearest).amin(dim=-1).mT

    def choose(self, reach: Tensor, remaining: Tensor) -> Tensor:
        total = torch.where(reach <= self.radius, remaining + reach, torch.inf)
        least = total.amin(dim=1, keepdim=True)
        # Of the states on a nearly cheapest path the last one: the local policy walks straight to it.
        ahead = torch.where(total <= NEARLY_BEST * least, remaining, torch.inf)
        return torch.where(least.squeeze(1).isfinite(), ahead.argmin(dim=1), -1)
