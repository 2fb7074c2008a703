"""The eikonal equation: how fast a distance may decrease, for continuous states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.distances import ObjectDistance
from trimetric.rl.objectives.multiplier import Multiplier
from trimetric.rl.objectives.objective import Batch, Extras, Objective
from trimetric.rl.objectives.pushing import Push, check_push, push_apart
from trimetric.rl.trajectories.sampling import LogSampler
from trimetric.rl.trajectories.trajectories import Trajectories

MEASURED = 20_000
QUANTILE = 0.99
TINY = 1e-12


class EikonalExtras(Multiplier):
    """A multiplier, and how far a unit of cost moves each coordinate at most."""

    speeds: Tensor

    def __init__(self, start: float, rate: float, speeds: Tensor) -> None:
        super().__init__(start, rate)
        self.register_buffer("speeds", speeds)


@dataclass(frozen=True, kw_only=True)
class Eikonal(Objective):
    r"""Push states and goals apart, as far as the speed of movement allows (Eikonal QRL).

    $$\max_\theta\; \mathbb{E}_{s, g}\, \phi(d(s, g)) \quad\text{subject to}\quad
        \mathbb{E}_{s, g} \big[(v\, \|\nabla_s d(s, g)\| - 1)^+\big]^2 \le \epsilon$$

    with the speed $v$: a unit of cost moves a state by $v$, so a distance cannot decrease faster.  The objective needs
    no steps, only states, and constrains every direction instead of the logged ones.

    It assumes that observations are continuous, that a state can move in all directions with the same speed, and that
    there are no obstacles between neighboring states of the log: it cannot see a wall that is thinner than the gaps
    between states.  If the speed is wrong by a factor, all distances are wrong by that factor; if the speed
    depends on the place or the direction (wind, gates, momentum), no $v$ is right.

    Args:
        speed: $v$, in units of the observations per cost; None to measure it: the 99th percentile of the logged steps.
        moves: "ball" uses the Euclidean norm of the gradient; "box", for actions whose values each move one coordinate,
            uses the sum of the absolute values, with a speed for each coordinate.
        push: how much a distance counts, see `Constrained`.
        reach: as in `Constrained`.
        tolerance: $\epsilon$.
        multiplier: its first value.
        rate: of the logarithm of the multiplier, in units of the learning rate.

    Examples:
        >>> Eikonal(speed=0.2, moves="box").push
        'sqrt'
    """

    speed: float | None = None
    moves: Literal["ball", "box"] = "ball"
    push: Push = "sqrt"
    reach: float | None = None
    tolerance: float = 0.05
    multiplier: float = 1.0
    rate: float = 3.0
    least_batch = 2

    def __post_init__(self) -> None:
        checks.one_of("moves", self.moves, ("ball", "box"))
        check_push(self.push, self.reach)
        if self.speed is not None:
            checks.finite_number("speed", self.speed, above=0)
        for name in ("tolerance", "multiplier", "rate"):
            checks.finite_number(name, getattr(self, name), above=0)

    def extras(self, model: ObjectDistance, log: Trajectories) -> Extras:  # noqa: ARG002
        if log.observations.ndim < 2 or log.observations.dtype.kind != "f":
            raise ValueError(
                f"trajectories: expected continuous observations for Eikonal, got shape {log.observations.shape} and "
                f"dtype {log.observations.dtype}"
            )
        if self.speed is not None:
            return EikonalExtras(self.multiplier, self.rate, torch.tensor(self.speed))
        picked = np.unique(np.linspace(0, log.num_transitions - 1, num=MEASURED).astype(np.int64))
        rows = log.rows_of_transitions(picked)
        moved = (log.observations[rows + 1] - log.observations[rows]).reshape(len(rows), -1)
        costs = np.ones(len(rows)) if log.costs is None else log.costs[rows]
        share = np.abs(moved) if self.moves == "box" else np.linalg.norm(moved, axis=1, keepdims=True)
        speeds = np.quantile(share / costs[:, None], QUANTILE, axis=0)
        if not (speeds > 0).all():
            raise ValueError("trajectories: expected steps that move every coordinate, to measure the speed by")
        return EikonalExtras(self.multiplier, self.rate, torch.tensor(speeds, dtype=torch.float32))

    def draw(self, sampler: LogSampler, shape: tuple[int, int]) -> dict[str, Tensor]:
        return {"here": sampler.states(shape), "goal": sampler.others(shape)}

    def loss(self, batch: Batch, extras: Extras) -> Tensor:
        assert isinstance(extras, EikonalExtras)
        rows, goals = batch.rows["here"], batch.rows["goal"]
        seen = batch.log.observations(rows).requires_grad_()
        points = batch.model.embed(seen)
        # At its goal a distance has a kink, and no slope.
        apart = (seen.detach() != seen.detach()[goals.to(seen.device)]).flatten(1).any(dim=1).cpu().nonzero().squeeze(1)
        if not len(apart):  # every state is its own goal: there is nothing to push, and no slope
            return 0 * (points.sum() + extras.value)
        # Only the state moves: the goal is a constant of the slope, though not of the push.
        table = torch.cat([points, points.detach()])
        far, near = batch.distances(table, (apart, goals[apart]), (apart, len(rows) + goals[apart]))
        (slope,) = torch.autograd.grad(near.sum(), seen, create_graph=True)
        slope = slope.flatten(1)[apart.to(slope.device)]
        if self.moves == "box":
            steepness = (slope.abs() * extras.speeds).sum(dim=1)
        else:
            steepness = (slope.square().sum(dim=1) + TINY).sqrt() * extras.speeds
        over = (steepness - 1).relu().square().mean()
        reach = None if self.reach is None else self.reach / batch.unit
        return push_apart(far / batch.unit, self.push, reach) + extras.constrain(over, self.tolerance)
