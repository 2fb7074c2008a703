"""What planning gives: walks, and how good they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Plan:
    """Greedy walks from states to goals: `follow` takes them in a world, `plan` over the known moves of a log.

    Attributes:
        reached: whether each walk reached its goal.
        cost: cost of each walk, up to its goal or its last step.
        paths: states of each walk by number, the last one repeated to the end; None if they were not recorded.

    Examples:
        >>> walks = Plan(torch.tensor([True, False]), torch.tensor([4.0, 9.0]), torch.tensor([[0, 2, 2], [1, 0, 1]]))
        >>> walks.path(0).tolist()
        [0, 2]
        >>> walks.spl(torch.tensor([3.0, 3.0])).tolist()
        [0.75, 0.0]
    """

    reached: Bool[Tensor, "*walks"]
    cost: Float[Tensor, "*walks"]
    paths: Int[Tensor, "*walks steps"] | None = None

    def path(self, walk: int) -> Int[Tensor, " steps"]:
        """Return the states that one walk visits, in order.

        Args:
            walk: index along the first axis.

        Returns:
            Numbers of states, without the repetitions at the end.
        """
        if self.paths is None:
            raise ValueError("path: expected walks whose paths were recorded, as plan() does, got none")
        states = self.paths[walk]
        last = (states != states[-1]).nonzero()
        return states[: int(last[-1]) + 2] if len(last) else states[:1]

    def spl(self, cheapest: Float[Tensor, "*walks"]) -> Float[Tensor, "*walks"]:
        """Compute the success weighted by path length (SPL) of each walk.

        Args:
            cheapest: cost of a cheapest path for each walk.

        Returns:
            The cheapest cost divided by the cost of the walk, 0 where the goal was not reached: 1 for a cheapest path
            and for a walk that starts at its goal.
        """
        ratio = cheapest / torch.maximum(self.cost, cheapest).clamp(min=torch.finfo(torch.float64).tiny)
        return torch.where(self.reached, ratio.masked_fill(cheapest == 0, 1), 0)


@dataclass(frozen=True)
class Score:
    """Means over pairs of a state and a goal.

    Attributes:
        success: share of walks that reach their goal.
        spl: success weighted by path length, as `Plan.spl` computes it.
        pairs: number of pairs.
        mse: mean squared error of the values against the exact ones; NaN where the exact ones are not known.

    Examples:
        >>> Score(success=1.0, spl=0.75, pairs=2).success
        1.0
    """

    success: float
    spl: float
    pairs: int
    mse: float = math.nan
