"""Contrastive successor distances: how soon the logged behavior reaches a goal."""

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
    r"""Distinguish the states that follow a state from those that follow other states (CMD, InfoNCE).

    With states $s_i$, goals $g_i$ seen $k$ steps later with probability proportional to $\gamma^k$, and scores
    $f_{ij} = c(g_j) - \eta\, d(s_i, g_j)$, $\eta = -\log \gamma$ for each mean cost, the loss is the cross entropy of
    identifying $g_i$ among the goals of its group, given $s_i$, and $s_i$ among the states of its group, given $g_i$.
    Its optimum is the contrastive successor distance

    $$d(s, g) = \frac{1}{\eta} \log \frac{p_\gamma(g \mid g)}{p_\gamma(g \mid s)},$$

    where $p_\gamma$ is the discounted occupancy of the logged behavior.  It is a quasimetric, in random worlds too.

    The objective assumes that the behavior is worth imitating: if it seldom takes the cheapest way, the distance of
    that way is too large.  Goals must follow in the same episode, so only the triangle inequality joins parts of
    different episodes.

    Args:
        discount: $\gamma$, of a step.
        group: number of goals that are distinguished from each other; a batch is cut into groups.

    Examples:
        >>> Contrastive(discount=0.95).group
        64
    """

    discount: float = 0.99
    group: int = 64
    least_batch = 2

    def __post_init__(self) -> None:
        check_discount("discount", self.discount)
        if checks.positive_int("group", self.group) < 2:
            raise ValueError(f"group: expected at least 2 goals to tell apart, got {self.group}")

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
