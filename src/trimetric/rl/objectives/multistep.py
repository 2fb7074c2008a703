"""Multistep quasimetric estimation: backups over many logged steps at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.distances import ObjectDistance
from trimetric.rl.objectives.actions import ActionExtras, acted
from trimetric.rl.objectives.discounts import backup, check_discount, rate_of
from trimetric.rl.objectives.objective import Batch, Extras, Objective
from trimetric.rl.trajectories.sampling import LogSampler
from trimetric.rl.trajectories.trajectories import Trajectories


@dataclass(frozen=True, kw_only=True)
class Multistep(Objective):
    r"""Backups over waypoints some logged steps ahead (MQE).

    With $\psi(s, a)$ for states with actions as in `ActionInvariant`, a waypoint $w$ that was seen $k$ steps later ($k$
    geometric with $\lambda$, and 1 for some of the rows), and the cost $c_k$ of these steps, the loss is the backup
    $e^{x - y} - x$ of $x = \eta\, d(\psi(s, a), \phi(g))$ to $y = \eta\, (c_k + d(\phi(w), \phi(g)))$, half of it for
    goals $g$ of the same episode, half for those of the whole group, plus

    $$\big(e^{-\eta\, d(\phi(s), \psi(s, a))} - 1\big)^2,$$

    which makes choosing an action cost nothing.  Long backups propagate costs across a horizon in fewer steps than
    one-step backups, which have to pass them on from state to state.

    The objective assumes that between a state and its waypoint the log took roughly the cheapest way, because it uses
    the cost of $k$ logged steps as the necessary cost.  If the log wanders, all distances are too large; a smaller
    $\lambda$ helps.

    Args:
        discount: $\gamma$, of a step.
        spread: $\lambda$; waypoints are $1 / (1 - \lambda)$ steps away on average.
        single: the share of rows whose waypoint is the next state.
        group: goals for each state; a batch is cut into groups.

    Examples:
        >>> Multistep(spread=0.9).single
        0.2
    """

    discount: float = 0.99
    spread: float = 0.95
    single: float = 0.2
    group: int = 64
    needs_actions = True

    def __post_init__(self) -> None:
        check_discount("discount", self.discount)
        check_discount("spread", self.spread)
        checks.share("single", self.single)
        checks.positive_int("group", self.group)

    def extras(self, model: ObjectDistance, log: Trajectories) -> Extras:
        return ActionExtras(model, log)

    def draw(self, sampler: LogSampler, shape: tuple[int, int]) -> dict[str, Tensor]:
        here = sampler.steps(shape)
        goal = sampler.later(here, discount=self.discount)
        way = torch.minimum(sampler.later(here, discount=self.spread), goal)
        chosen = torch.rand(shape, generator=sampler.generator) < self.single
        return {"here": here, "way": torch.where(chosen, here + 1, way), "goal": goal}

    def loss(self, batch: Batch, extras: Extras) -> Tensor:
        assert isinstance(extras, ActionExtras)
        rows, rate = batch.rows["here"], rate_of(self.discount, batch.unit)
        group = min(self.group, len(rows))
        after, far, choice, states, goals, _ = acted(batch, extras.encoder, "way", discount=self.discount, group=group)
        paid = rate * batch.log.costs_between(rows, batch.rows["way"])[states]
        losses = backup(far, paid + after)
        return (losses.mean() + losses[states == goals].mean()) / 2 + ((-choice).exp() - 1).square().mean()
