"""Temporal differences: a distance is the cheapest logged step plus what remains after it."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.distances import ObjectDistance
from trimetric.rl.objectives.objective import Batch, Extras, Objective
from trimetric.rl.trajectories.sampling import LogSampler
from trimetric.rl.trajectories.trajectories import Trajectories

MOST_MOVES = 64


class Target(Extras):
    """A slowly following copy of the model, and the moves that were seen from equal observations.

    Args:
        model: what is trained.
        log: the log.
    """

    number: Tensor
    row: Tensor
    following: Tensor
    cost: Tensor

    def __init__(self, model: ObjectDistance, log: Trajectories) -> None:
        super().__init__()
        self.model = copy.deepcopy(model).requires_grad_(False)
        number, first = _numbers(log)
        rows = log.transition_rows
        costs = np.ones(len(rows)) if log.costs is None else log.costs[rows]
        before, after = number[rows], number[rows + 1]
        moving = before != after
        edges, place = np.unique(before[moving] * len(first) + after[moving], return_inverse=True)
        cheapest = np.full(len(edges), np.inf)
        np.minimum.at(cheapest, place.ravel(), costs[moving])
        start, end = np.divmod(edges, len(first))
        counts = np.bincount(start, minlength=len(first))
        most = int(counts.max(initial=0))
        if not 0 < most <= MOST_MOVES:
            raise ValueError(
                f"trajectories: expected states with 1 to {MOST_MOVES} different successors at most, got one with "
                f"{most}; TemporalDifference takes the minimum over all of them"
            )
        column = np.arange(len(edges)) - (counts.cumsum() - counts)[start]
        following, cost = np.full((len(first), most), -1), np.full((len(first), most), np.inf)
        following[start, column], cost[start, column] = end, cheapest
        arrays = {"number": number, "row": first, "following": following, "cost": cost.astype(np.float32)}
        for name, array in arrays.items():
            self.register_buffer(name, torch.from_numpy(array), persistent=False)

    @torch.no_grad()
    def follow(self, model: ObjectDistance, decay: float) -> None:
        """Move the copy a little towards the model."""
        for own, its in zip(self.model.parameters(), model.parameters(), strict=True):
            own.lerp_(its.detach(), 1 - decay)


def _numbers(log: Trajectories) -> tuple[np.ndarray, np.ndarray]:
    """The number of the state in each row, and a row of each state."""
    seen = np.ascontiguousarray(np.asarray(log.observations).reshape(len(log), -1)) + 0  # -0 is 0
    keys = seen.view(np.dtype((np.void, seen.dtype.itemsize * seen.shape[1]))).ravel()
    _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
    return numbers.ravel().astype(np.int64), first.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class TemporalDifference(Objective):
    r"""Temporal differences over the moves that were seen, as in the paper.

    $$\big(d(s, g) - y\big)^2, \qquad y = \min_{(s, s', c)} c + \bar d(s', g), \qquad \bar d(g, g) = 0,$$

    with the minimum over all moves that were seen from observations equal to $s$, and $\bar d$ a slowly following copy
    of the model.  Costs are measured in units of the mean cost.

    The objective assumes that states recur, so that it can compare different moves from equal observations.  If no
    state is seen twice there is nothing to compare, and it learns the cost of the logged walk itself, detours included.
    In random worlds the minimum mistakes luck for choice.

    Args:
        decay: the factor by which the weights of the copy are kept in each step.
        random_goals: the share of goals that are random states; the others were seen later in the episode.

    Examples:
        >>> TemporalDifference(decay=0.99).random_goals
        0.5
    """

    decay: float = 0.99
    random_goals: float = 0.5

    def __post_init__(self) -> None:
        checks.finite_number("decay", self.decay, above=0, below=1)
        checks.share("random_goals", self.random_goals)

    def extras(self, model: ObjectDistance, log: Trajectories) -> Extras:
        return Target(model, log)

    def draw(self, sampler: LogSampler, shape: tuple[int, int]) -> dict[str, Tensor]:
        here = sampler.steps(shape)
        return {"here": here, "goal": sampler.mixed(here, self.random_goals)}

    def loss(self, batch: Batch, extras: Extras) -> Tensor:
        assert isinstance(extras, Target)
        here, goal = (extras.number[batch.rows[name].to(extras.number.device)] for name in ("here", "goal"))
        known = extras.cost[here, 0].isfinite() & (here != goal)
        extras.follow(batch.model, self.decay)
        target = self._targets(batch, extras, here, goal)
        points, each = batch.embed("here", "goal"), torch.arange(len(here))
        (found,) = batch.distances(points, (each, len(here) + each))
        error = torch.where(known, (found - target) / batch.unit, 0)
        return error.square().sum() / known.sum().clamp(min=1)

    @torch.no_grad()
    def _targets(self, batch: Batch, extras: Target, here: Tensor, goal: Tensor) -> Tensor:
        following, cost = extras.following[here], extras.cost[here]
        count, most = following.shape
        states, places = torch.unique(torch.cat([following.clamp(min=0).flatten(), goal]), return_inverse=True)
        points = extras.model.embed(batch.log.observations(extras.row[states].cpu()))  # type: ignore[operator]
        goals = places[count * most :].repeat_interleave(most)
        rest = extras.model.head.between_rows(points, places[: count * most], goals)  # type: ignore[union-attr]
        rest = torch.where(following == goal.unsqueeze(1), 0, rest.view(count, most))
        least = torch.where(cost.isfinite(), cost + rest, torch.inf).amin(dim=1)
        return torch.where(least.isfinite(), least, 0)
