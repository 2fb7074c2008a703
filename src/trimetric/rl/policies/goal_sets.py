"""Goals that are sets: reach any of these."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.distances import ObjectDistance, Siamese
from trimetric.rl.policies.policy import Policy, frozen


class NearestGoalPolicy(Policy):
    """Walks to the member of a set of goals that is nearest by a learned distance.

    Args:
        model: the learned distance.
        policy: the policy that walks to one goal.

    Examples:
        >>> import trimetric as tm
        >>> from trimetric.rl import ActorPolicy
        >>> model = tm.Siamese(tm.MLP(2, 4), tm.Euclidean(4))
        >>> policy = NearestGoalPolicy(model=model, policy=ActorPolicy(features=2, actions=1))
        >>> policy(torch.zeros(5, 2), torch.ones(5, 3, 2)).shape
        torch.Size([5, 1])
    """

    def __init__(self, *, model: Siamese, policy: Policy) -> None:
        super().__init__()
        checks.instance("policy", policy, Policy)
        self.model, self.policy = frozen(model), policy

    def act(self, observations: Tensor, goals: Tensor) -> Tensor:
        nearest = nearest_members(self.model, observations, goals)
        return self.policy(observations, goals[torch.arange(len(goals), device=goals.device), nearest])

    @torch.no_grad()
    def forward(self, observations: Tensor, goals: Tensor) -> Tensor:
        """Choose an action for each observation and set of goals.

        Args:
            observations: what is seen (b, ...).
            goals: what is to be seen, k of them for each observation (b, k, ...).

        Returns:
            Actions (b, A), or their numbers (b,).
        """
        if goals.ndim != observations.ndim + 1 or len(goals) != len(observations):
            raise ValueError(
                f"goals: expected sets (b, k, ...) for observations of shape {tuple(observations.shape)}, got shape "
                f"{tuple(goals.shape)}"
            )
        return self.act(observations, goals)


def nearest_members(model: nn.Module, observations: Tensor, goals: Tensor) -> Tensor:
    """Find the nearest member of each set of goals.

    Args:
        model: a learned distance.
        observations: what is seen (b, ...).
        goals: sets (b, k, ...).

    Returns:
        The number of a member for each observation (b,).
    """
    assert isinstance(model, ObjectDistance)
    like = next(model.parameters())
    wanted = goals.flatten(0, 1)
    there = model.embed(wanted.to(like.device, like.dtype if wanted.ndim > 1 else torch.long))
    here = model.embed(observations.to(like.device, like.dtype if observations.ndim > 1 else torch.long))
    far = model.head(here.unsqueeze(1), there.unflatten(0, goals.shape[:2]))
    return far.argmin(dim=1).to(goals.device)
