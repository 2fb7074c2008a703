"""Contrastive successor distances: how soon the logged behavior comes to a goal."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.distances import ObjectDistance
from trimetric.rl.objectives.discounts import check_discount, contrast, grid, rate_of
from trimetric.rl.objectives.objective import Batch, Extras, Objective
from trimetric.rl.trajectories.sampling import LogSampler
from trimetric.rl.trajectories.trajectories import Trajectories


class GoalPotential(Extras):
    """A number for each goal: how often it is visited, whatever the state.

    Args:
        dim: of points.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.network = nn.Sequential(nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, 1))

    def forward(self, points: Tensor) -> Tensor:
        return self.network(points).squeeze(-1)


@dataclass(frozen=True, kw_only=True)
class Contrastive(Objective):
    r"""Tell the states that follow from those that others are followed by (CMD, InfoNCE).

    With states $s_i$, goals $g_i$ seen $k$ steps later with probability proportional to $\gamma^k$, and scores
    $f_{ij} = c(g_j) - \eta\, d(s_i, g_j)$, $\eta = -\log \gamma$ for each mean cost, the loss is the cross entropy of
    telling $g_i$ from the goals of its group, given $s_i$, and $s_i$ from the states of its group, given $g_i$.  Its
    optimum is the contrastive successor distance

    $$d(s, g) = \frac{1}{\eta} \log \frac{p_\gamma(g \mid g)}{p_\gamma(g \mid s)},$$

    where $p_\gamma$ is the discounted occupancy of the logged behavior: a quasimetric, also in random worlds.

    It assumes that the behavior is worth imitating: where it seldom takes the cheapest way, that way is far.  Goals
    must follow in the same episode, so parts of different episodes are joined by the triangle inequality alone.

    Args:
        discount: $\gamma$, of a step.
        group: goals that are told apart; a batch is cut into groups.

    Examples:
        >>> Contrastive(discount=0.95).group
        64
    """

    discount: float = 0.99
    group: int = 64

    def __post_init__(self) -> None:
        check_discount("discount", self.discount)
        checks.positive_int("group", self.group)

    def extras(self, model: ObjectDistance, log: Trajectories) -> Extras:  # noqa: ARG002
        return GoalPotential(model.head.dim)

    def draw(self, sampler: LogSampler, shape: tuple[int, int]) -> dict[str, Tensor]:
        here = sampler.steps(shape)
        return {"here": here, "goal": sampler.later(here, discount=self.discount)}

    def loss(self, batch: Batch, extras: Extras) -> Tensor:
        assert isinstance(extras, GoalPotential)
        points, count = batch.embed("here", "goal"), len(batch.rows["here"])
        group = min(self.group, count)
        states, goals = grid(count, group)
        (far,) = batch.distances(points, (states, count + goals))
        scores = extras(points[count:])[goals.to(points.device)] - rate_of(self.discount, batch.unit) * far
        own = torch.nonzero((states == goals).view(count, group))[:, 1]
        return contrast(scores.view(count, group), own.to(points.device))
