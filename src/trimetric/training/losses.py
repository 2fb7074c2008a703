r"""Losses of a predicted distance against a target, element by element.

A loss is a function of predictions, targets and the settings.  To add one, write the function and give it a name in
`LossName` and `LOSSES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from trimetric._support.moved import renamed

if TYPE_CHECKING:
    from trimetric.training.config import TrainingConfig

LossName = Literal["squared", "absolute", "relative", "huber", "discounted", "lower_bound", "upper_bound"]


@dataclass(frozen=True)
class CustomLoss:
    """A custom loss for `fit`.

    Args:
        of: the function from predictions, targets and the completed fraction of the run (from 0 to below 1) to losses,
            element by element.
        identity: text that names the function and all its settings; a checkpoint with another identity is refused.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> loss = tm.CustomLoss(lambda p, t, done: (p - t).abs() ** (2 - done), "from squared to absolute")
        >>> loss.of(torch.tensor([3.0]), torch.tensor([1.0]), 0.0)
        tensor([4.])
    """

    of: Callable[[Tensor, Tensor, float], Tensor]
    identity: str


def squared(predictions: Tensor, targets: Tensor, config: TrainingConfig) -> Tensor:  # noqa: ARG001
    r"""$(p - t)^2$."""
    return (predictions - targets).square()


def absolute(predictions: Tensor, targets: Tensor, config: TrainingConfig) -> Tensor:  # noqa: ARG001
    r"""$|p - t|$."""
    return (predictions - targets).abs()


def relative(predictions: Tensor, targets: Tensor, config: TrainingConfig) -> Tensor:  # noqa: ARG001
    r"""$|p - t| / t$, for $t > 0$."""
    return (predictions - targets).abs() / targets


def huber(predictions: Tensor, targets: Tensor, config: TrainingConfig) -> Tensor:
    r"""Quadratic up to `config.huber_delta`, then linear."""
    return F.huber_loss(predictions, targets, reduction="none", delta=config.huber_delta)


def discounted(predictions: Tensor, targets: Tensor, config: TrainingConfig) -> Tensor:
    r"""$(\gamma^p - \gamma^t)^2$ with `config.gamma`: finite for unreachable pairs, $t = \infty$."""
    return (torch.pow(config.gamma, predictions) - torch.pow(config.gamma, targets)).square()


def lower_bound(predictions: Tensor, targets: Tensor, config: TrainingConfig) -> Tensor:  # noqa: ARG001
    r"""$\mathrm{relu}(t - p)^2$, where $t$ only bounds the distance from below."""
    return (targets - predictions).relu().square()


def upper_bound(predictions: Tensor, targets: Tensor, config: TrainingConfig) -> Tensor:  # noqa: ARG001
    r"""$\mathrm{relu}(p - t)^2$, where $t$ only bounds the distance from above."""
    return (predictions - targets).relu().square()


LOSSES: dict[LossName, Callable[[Tensor, Tensor, TrainingConfig], Tensor]] = {
    "squared": squared,
    "absolute": absolute,
    "relative": relative,
    "huber": huber,
    "discounted": discounted,
    "lower_bound": lower_bound,
    "upper_bound": upper_bound,
}
FINITE_AT_INFINITY: tuple[LossName, ...] = ("discounted", "upper_bound")
"""losses that are finite where a target is not"""

__getattr__ = renamed(__name__, {"OwnLoss": "trimetric.CustomLoss"})
