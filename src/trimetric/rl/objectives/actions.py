"""Points of states with actions, for objectives that say how far a goal is after an action."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from trimetric._support.described import Described
from trimetric.distances import ObjectDistance
from trimetric.models.encoders import MLP
from trimetric.rl.objectives.objective import Extras
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
