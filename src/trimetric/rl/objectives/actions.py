"""Points of states with actions, for objectives that say how far a goal is after an action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from trimetric._support.described import Described
from trimetric.distances import ObjectDistance
from trimetric.models.encoders import MLP
from trimetric.rl.objectives.discounts import grid, rate_of
from trimetric.rl.objectives.objective import Batch, Extras
from trimetric.rl.trajectories.trajectories import Trajectories


class ActionEncoder(Described):
    """The point of a state with an action: the point of the state, moved by a network of both.

    Args:
        dim: of points.
        actions: the size of an action, or the number of actions.
        discrete: whether actions are numbers.
        widths: hidden layers.
    """

    def __init__(self, *, dim: int, actions: int, discrete: bool, widths: Sequence[int] = (128, 128)) -> None:
        super().__init__()
        self.discrete, self.num_actions = discrete, actions
        self.network = MLP(dim + actions, dim, widths=tuple(widths), activation="gelu", layer_norm=True)

    def forward(self, points: Tensor, actions: Tensor) -> Tensor:
        """Compute the points of states with actions.

        Args:
            points: of states (n, dim).
            actions: vectors (n, A), or numbers (n,).
        """
        done = F.one_hot(actions, self.num_actions).to(points.dtype) if self.discrete else actions
        return points + self.network(torch.cat([points, done], dim=-1))


class ActionExtras(Extras):
    """An encoder of actions.

    Args:
        model: whose points it moves.
        log: whose actions it reads.
    """

    def __init__(self, model: ObjectDistance, log: Trajectories) -> None:
        super().__init__()
        assert log.actions is not None
        self.encoder = ActionEncoder(
            dim=model.head.dim,
            actions=int(log.num_actions or log.actions.shape[-1]),
            discrete=log.actions.ndim == 1,
        )


class Acted(NamedTuple):
    r"""Discounted distances of a batch whose rows are states, what followed, and goals, all times $\eta$."""

    after: Tensor
    """from what followed to the goals, for each pair of `states` and `goals`"""
    far: Tensor
    """from states with actions to the goals, for each of these pairs"""
    choice: Tensor
    """from each state to itself with its action: what choosing it costs"""
    states: Tensor
    goals: Tensor
    """places in the batch; `group` pairs for each state, row by row"""
    goal_points: Tensor


def acted(batch: Batch, encoder: ActionEncoder, following: str, *, discount: float, group: int) -> Acted:
    """Measure how far the goals of a group are after each logged action, and after what followed.

    Args:
        batch: with columns "here" and "goal".
        encoder: of states with actions.
        following: the column of what followed.
        discount: of a step.
        group: how many goals each state is measured to, at most the size of the batch.
    """
    points, rows = batch.embed("here", following, "goal"), batch.rows["here"]
    count, rate = len(rows), rate_of(discount, batch.unit)
    table = torch.cat([points, encoder(points[:count], batch.log.actions(rows))])
    states, goals = grid(count, group)
    each = torch.arange(count)
    after, far, choice = (
        rate * d
        for d in batch.distances(
            table,
            (count + states, 2 * count + goals),
            (3 * count + states, 2 * count + goals),
            (each, 3 * count + each),
        )
    )
    return Acted(after, far, choice, states.to(points.device), goals.to(points.device), points[2 * count :])
