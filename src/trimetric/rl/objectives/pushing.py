"""How much a distance counts for an objective that pushes states apart."""

from __future__ import annotations

from typing import Literal, get_args

from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks

Push = Literal["log", "sqrt", "linear", "softplus"]
SOFTNESS = 5.0


def check_push(push: object, reach: object) -> None:
    """Check the settings of `push_apart`.

    Args:
        push: one of the names.
        reach: a number with "softplus", and None otherwise.
    """
    checks.one_of("push", push, get_args(Push))
    if (push == "softplus") != (reach is not None):
        raise ValueError(f"reach: expected a number with push='softplus' and only there, got {reach!r}")
    if reach is not None:
        checks.finite_number("reach", reach, above=0)


def push_apart(far: Tensor, push: Push, reach: float | None) -> Tensor:
    r"""Compute a loss that falls as distances grow: minus $\log(1 + x)$, $2 \sqrt{1 + x}$ or $x$, or a softplus.

    Args:
        far: distances of random pairs, in units of the mean cost.
        push: which one.
        reach: how far "softplus" pushes, in the same unit.
    """
    if push == "log":
        return -far.log1p().mean()
    if push == "sqrt":
        return -2 * (1 + far).sqrt().mean()
    if push == "linear":
        return -far.mean()
    assert reach is not None
    return F.softplus(reach - far, beta=SOFTNESS / reach).mean()
