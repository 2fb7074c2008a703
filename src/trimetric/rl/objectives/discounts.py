"""Losses of discounted distances: what contrastive and backup objectives share."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks

STEEPEST = 5.0
"""where the exponential of a backup becomes linear, so that a bad start does not overflow"""


def check_discount(name: str, value: object) -> None:
    checks.finite_number(name, value, above=0, below=1)


def rate_of(discount: float, unit: float) -> float:
    r"""Compute $\eta$, by which $e^{-\eta d}$ is the discount over a cost of d.

    Args:
        discount: of a step.
        unit: the mean cost of a step.
    """
    return -math.log(discount) / unit


def grid(count: int, group: int) -> tuple[Int[Tensor, " n"], Int[Tensor, " n"]]:
    """List all pairs of places in each group of a batch.

    Args:
        count: places of the batch.
        group: places of a group; the last group may be smaller only by being merged into the one before.

    Returns:
        The first and the second place of each pair, row by row: `group` pairs for each first place.
    """
    first = torch.arange(count)
    start = (first // group * group).clamp(max=count - group)
    return first.repeat_interleave(group), (start.unsqueeze(1) + torch.arange(group)).flatten()


def contrast(scores: Float[Tensor, "n group"], own: Int[Tensor, " n"]) -> Tensor:
    """Compute the cross entropy of telling each goal from those of its group, and each state likewise.

    Args:
        scores: of each state with the goals of its group; groups follow one another.
        own: the column of the goal that belongs to each state.
    """
    group = scores.shape[1]
    forward = F.cross_entropy(scores, own)
    whole = len(scores) // group * group
    squares = scores[:whole].unflatten(0, (-1, group))  # states x goals of each group
    labels = torch.arange(group, device=scores.device).expand(len(squares), group)
    backward = F.cross_entropy(squares.mT.flatten(0, 1), labels.flatten())
    return (forward + backward) / 2


def backup(found: Tensor, target: Tensor) -> Tensor:
    r"""Compute the divergence $e^{x - y} - x$ for $x$ = `found` and $y$ = `target`, element by element.

    Its expectation is least where $e^{-x}$ is the mean of $e^{-y}$: discounted distances are averaged, as the values of
    random outcomes have to be.  From a difference of 5 on, it continues as a straight line.

    Args:
        found: discounted distances.
        target: what they should be; no gradient flows there.
    """
    difference = found - target.detach()
    steep = (difference - STEEPEST).relu()
    return difference.clamp(max=STEEPEST).exp() + math.exp(STEEPEST) * steep - found
