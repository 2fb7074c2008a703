"""A Lagrange multiplier that is trained by the same optimizer as the model."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from trimetric.rl.objectives.objective import Extras


class Multiplier(Extras):
    """A Lagrange multiplier above 0, in log space, that one optimizer trains together with the model.

    It rises while a constraint is violated: its loss is the negative of that of the model.  Its parameter is
    $\\log \\lambda$ divided by `speed`, so that Adam moves it `speed` times as fast as the weights.

    Args:
        start: its first value.
        speed: of its logarithm, in units of the learning rate.
    """

    def __init__(self, start: float, speed: float) -> None:
        super().__init__()
        self.speed = speed
        self.raw = nn.Parameter(torch.tensor(start).log() / speed)

    @property
    def value(self) -> Tensor:
        """The multiplier."""
        return (self.speed * self.raw).exp()

    def constrain(self, violation: Tensor, tolerance: float) -> Tensor:
        """Make the part of the loss that keeps a violation at its tolerance.

        Args:
            violation: how much the constraint is violated; its gradient goes to the model.
            tolerance: what is accepted.
        """
        value = self.value
        return value.detach() * violation + value * (tolerance - violation.detach())

    def numbers(self) -> dict[str, float]:
        return {"multiplier": self.value.item()}
