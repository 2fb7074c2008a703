"""Temporal metric distillation: contrastive distances, made those of the best actions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.distances import ObjectDistance
from trimetric.rl.objectives.actions import ActionExtras, acted
from trimetric.rl.objectives.contrastive import GoalPotential
from trimetric.rl.objectives.discounts import backup, check_discount, contrast, rate_of
from trimetric.rl.objectives.objective import Batch, Extras, Objective
from trimetric.rl.trajectories.sampling import LogSampler
from trimetric.rl.trajectories.trajectories import Trajectories


class InvariantExtras(ActionExtras):
    """An encoder of actions and a potential of goals."""

    def __init__(self, model: ObjectDistance, log: Trajectories) -> None:
        super().__init__(model, log)
        self.potential = GoalPotential(model.head.dim)


@dataclass(frozen=True, kw_only=True)
class ActionInvariant(Objective):
    r"""Contrastive distances that are pulled towards those of the best actions (TMD).

    Besides points $\phi(s)$ of states, points $\psi(s, a)$ of states with actions are learned.  The loss is that of
    `Contrastive`, from $\psi(s, a)$ to $\phi(g)$, plus $\zeta$ times the sum of

    - action invariance, $\eta\, d(\phi(s), \psi(s, a))$: choosing an action costs nothing, so by the triangle
      inequality $d(\phi(s), \phi(g)) \le d(\psi(s, a), \phi(g))$ for every logged action;
    - the backup $e^{x - y} - x$ of $x = \eta\, d(\psi(s, a), \phi(g))$ to $y = \eta\, (c + d(\phi(s'), \phi(g)))$, for
      all goals of a group: $e^{-\eta d}$ becomes its discounted mean over what follows, so that luck is not mistaken
      for choice.

    The objective assumes logged actions, and that every action was tried in similar states: for an action that was
    never taken, $\psi$ depends on how its network generalizes.  The contrastive term keeps pulling towards the logged
    behavior: the distance of a way that the log seldom takes stays too large, at every $\zeta$ that was tried.

    Args:
        discount: $\gamma$, of a step.
        strength: $\zeta$.
        group: number of goals that are distinguished from each other; a batch is cut into groups.

    Examples:
        >>> ActionInvariant(strength=0.5).needs_actions
        True
    """

    discount: float = 0.99
    strength: float = 1.0
    group: int = 64
    needs_actions = True
    least_batch = 2

    def __post_init__(self) -> None:
        check_discount("discount", self.discount)
        checks.finite_number("strength", self.strength, above=0)
        if checks.positive_int("group", self.group) < 2:
            raise ValueError(f"group: expected at least 2 goals to tell apart, got {self.group}")

    def extras(self, model: ObjectDistance, log: Trajectories) -> Extras:
        return InvariantExtras(model, log)

    def draw(self, sampler: LogSampler, shape: tuple[int, int]) -> dict[str, Tensor]:
        here = sampler.steps(shape)
        return {"here": here, "next": here + 1, "goal": sampler.later(here, discount=self.discount)}

    def loss(self, batch: Batch, extras: Extras) -> Tensor:
        assert isinstance(extras, InvariantExtras)
        rows, rate = batch.rows["here"], rate_of(self.discount, batch.unit)
        group = min(self.group, len(rows))
        after, far, choice, states, goals, points = acted(
            batch, extras.encoder, "next", discount=self.discount, group=group
        )
        scores = extras.potential(points)[goals] - far
        own = torch.nonzero((states == goals).view(-1, group))[:, 1]
        told_apart = contrast(scores.view(-1, group), own)
        paid = rate * batch.log.costs(rows)[states]
        return told_apart + self.strength * (choice.mean() + backup(far, paid + after).mean())
