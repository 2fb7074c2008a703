"""Losses of a predicted distance against a target, element by element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks

LossName = Literal["squared", "absolute", "relative", "huber", "discounted", "lower_bound", "upper_bound"]
Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class CustomLoss:
    """A loss of one's own for `fit`."""

    of: Callable[[Tensor, Tensor, float], Tensor]
    """from predictions, targets and how far the run is (from 0 to below 1), element by element"""
    identity: str
    """of all its settings: a checkpoint is refused where it differs"""


def make_loss(name: LossName, *, huber_delta: float = 1.0, gamma: float = 0.9) -> Loss:
    r"""The loss of that name.

    - `squared` $(p - t)^2$, `absolute` $|p - t|$, `relative` $|p - t| / t$ (for $t > 0$),
      `huber` (quadratic up to `huber_delta`, then linear);
    - `discounted` $(\gamma^p - \gamma^t)^2$: finite for unreachable pairs, $t = \infty$;
    - `lower_bound` $\mathrm{relu}(t - p)^2$ and `upper_bound` $\mathrm{relu}(p - t)^2$, where t only bounds d.
    """
    checks.one_of("loss", name, LOSSES)
    checks.finite_number("huber_delta", huber_delta, above=0)
    checks.finite_number("gamma", gamma, above=0, below=1)
    return LOSSES[name](huber_delta, gamma)


LOSSES: dict[LossName, Callable[[float, float], Loss]] = {
    "squared": lambda *_: lambda p, t: (p - t).square(),
    "absolute": lambda *_: lambda p, t: (p - t).abs(),
    "relative": lambda *_: lambda p, t: (p - t).abs() / t,
    "huber": lambda delta, _: lambda p, t: F.huber_loss(p, t, reduction="none", delta=delta),
    "discounted": lambda _, gamma: lambda p, t: (torch.pow(gamma, p) - torch.pow(gamma, t)).square(),
    "lower_bound": lambda *_: lambda p, t: (t - p).relu().square(),
    "upper_bound": lambda *_: lambda p, t: (p - t).relu().square(),
}
