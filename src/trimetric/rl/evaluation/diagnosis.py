"""The errors of a learned distance, before any policy uses it: on steps, along episodes, and between random states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.distances import Siamese
from trimetric.rl.learning.distance import LearnedDistance
from trimetric.rl.trajectories import Trajectories
from trimetric.rl.trajectories.sampling import LogReader, LogSampler

AHEAD = (1, 2, 5, 10, 20, 50, 100, 200)
NEARER, GOAL_AHEAD = 10, 100
TOO_LONG = 1.1
FLAT, STRETCHED = 0.55, 1.5
"""monotonicity and one-step ratio beyond which a warning is printed"""
ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class StepRatio:
    """The learned distance of logged steps, divided by their costs.

    Args:
        mean: about 1 if the distance fits the steps.
        over: share of the steps that are more than a tenth too long.
        highest: the 99 % quantile.

    Examples:
        >>> str(StepRatio(mean=0.97, over=0.46, highest=1.5))
        '0.97 on average, 46 % above 1.1, 99 % below 1.50'
    """

    mean: float
    over: float
    highest: float

    def __str__(self) -> str:
        over = f"{100 * self.over:.0f} % above {TOO_LONG}"
        return f"{self.mean:.2f} on average, {over}, 99 % below {self.highest:.2f}"


@dataclass(frozen=True)
class Along:
    """Learned distances of states that are some steps apart in one episode, in units of the mean cost.

    Args:
        steps: how many steps apart.
        cost: mean cost that was paid between them; no distance may be larger.
        mean: mean distance.
        low: its 10 % quantile.
        high: its 90 % quantile.

    Examples:
        >>> Along(steps=10, cost=10.0, mean=7.5, low=4.0, high=9.9).mean
        7.5
    """

    steps: int
    cost: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What `diagnose` found; printing it shows all of it, with warnings.

    Args:
        steps: the steps of the log.
        training_steps: those of the log that was learned from; None if it was not given.
        along: distances along episodes.
        nearer: share of the states from which ten logged steps came nearer to the state seen 100 steps later (or at the
            end of the episode, if that is more than ten steps later); equal distances count half, so a constant
            distance has .5.  None if no episode has more than ten steps.
        far: mean distance of random pairs.
        asymmetry: mean difference between there and back, divided by the mean distance.
        multiplier: the last multiplier of a constrained objective; None if there is none.

    Examples:
        >>> found = Diagnosis(
        ...     steps=StepRatio(9.1, 0.9, 20.0), training_steps=StepRatio(1.0, 0.4, 1.5), along=(), nearer=0.5,
        ...     far=100.0, asymmetry=0.1, multiplier=None,
        ... )
        >>> for warning in found.warnings():
        ...     print(warning)
        held-out steps are 9.1 times as long as those that were learned: the distance does not generalize
        ten steps towards what was seen later bring the distance down in 50 % of the cases: no policy can follow it
    """

    steps: StepRatio
    training_steps: StepRatio | None
    along: tuple[Along, ...]
    nearer: float | None
    far: float
    asymmetry: float
    multiplier: float | None

    def warnings(self) -> list[str]:
        """List the problems that would keep a policy from following the distance.

        Returns:
            One sentence per problem; empty if there are none.
        """
        found = []
        if self.training_steps is not None and self.steps.mean > STRETCHED * self.training_steps.mean:
            times = self.steps.mean / self.training_steps.mean
            found.append(
                f"held-out steps are {times:.1f} times as long as those that were learned: "
                "the distance does not generalize"
            )
        elif self.steps.mean > STRETCHED:
            found.append(f"a step is {self.steps.mean:.1f} times as long as it costs: the constraints are not kept")
        elif self.steps.mean < 1 / STRETCHED:
            found.append(f"a step is only {self.steps.mean:.2f} times as long as it costs: nothing pushes states apart")
        if self.nearer is not None and self.nearer < FLAT:
            found.append(
                f"ten steps towards what was seen later bring the distance down in {100 * self.nearer:.0f} % "
                "of the cases: no policy can follow it"
            )
        return found

    def __str__(self) -> str:
        lines = [f"one step: {self.steps}"]
        if self.training_steps is not None:
            lines.append(f"one step, learned from: {self.training_steps}")
        lines += [
            f"{one.steps} steps apart: {one.mean:.1f} ({one.low:.1f} to {one.high:.1f}) for a cost of {one.cost:.1f}"
            for one in self.along
        ]
        nearer = (
            "not measured (no goal is more than ten steps ahead)"
            if self.nearer is None
            else f"{100 * self.nearer:.1f} %"
        )
        lines.append(f"ten steps towards what was seen later come nearer: {nearer}")
        lines.append(f"random pairs: {self.far:.1f} on average, there and back differ by {100 * self.asymmetry:.0f} %")
        if self.multiplier is not None:
            lines.append(f"multiplier: {self.multiplier:.3g}")
        return "\n".join(lines + [f"warning: {text}" for text in self.warnings()])


@torch.no_grad()
def diagnose(
    model: Siamese | LearnedDistance,
    trajectories: Trajectories,
    *,
    train: Trajectories | None = None,
    samples: int = 2000,
    seed: int = 0,
) -> Diagnosis:
    """Measure the errors of a learned distance on a log, preferably on a log that was not used for training.

    Args:
        model: the distance, or the result of `learn_distance`, which has the multiplier as well.
        trajectories: the log to measure on.
        train: the training log, to compare its steps.
        samples: states or pairs for each number.
        seed: of the choice.

    Returns:
        The measurements, in units of the mean cost of a step.

    Examples:
        >>> import trimetric as tm
        >>> line = tm.Siamese(torch.nn.Linear(1, 1, bias=False), tm.NormInduced(tm.Euclidean(1)))
        >>> _ = torch.nn.init.ones_(line.encoder.weight)
        >>> log = Trajectories(observations=np.arange(50.0)[:, None], ends=np.array([49]))
        >>> found = diagnose(line, log)
        >>> found.steps.mean, found.nearer, [one.mean for one in found.along[:3]], found.warnings()
        (1.0, 1.0, [1.0, 2.0, 5.0], [])
    """
    multiplier = None
    if isinstance(model, LearnedDistance):
        epochs = model.history.epochs
        multiplier = epochs[-1].watched.get("multiplier") if epochs else None
        model = model.model
    checks.instance("model", model, Siamese, hint="what learn_distance returned, or its model")
    checks.instance("trajectories", trajectories, Trajectories)
    if train is not None:
        checks.instance("train", train, Trajectories)
    samples = checks.positive_int("samples", samples)
    was_training = model.training
    model.eval()
    try:
        probe = _Probe(model, trajectories, samples, seed)
        return Diagnosis(
            steps=probe.steps(),
            training_steps=None if train is None else _Probe(model, train, samples, seed).steps(),
            along=tuple(one for steps in AHEAD if (one := probe.along(steps)) is not None),
            nearer=probe.nearer(),
            far=(pairs := probe.pairs())[0],
            asymmetry=pairs[1],
            multiplier=None if multiplier is None else float(multiplier),
        )
    finally:
        model.train(was_training)


class _Probe:
    """A model, and random rows of one log."""

    def __init__(self, model: Siamese, log: Trajectories, samples: int, seed: int) -> None:
        self.model, self.log, self.unit = model, log, log.mean_cost
        self.reader = LogReader(log, next(p for p in model.parameters() if p.is_floating_point()))
        self.sampler = LogSampler(log, torch.Generator().manual_seed(checks.seed("seed", seed)))
        self.samples = samples

    def distances(self, here: Tensor, there: Tensor) -> np.ndarray:
        """Learned distances between rows, in units of the mean cost."""
        parts = zip(here.split(ROWS_AT_ONCE), there.split(ROWS_AT_ONCE), strict=True)
        found = [self.model(*(self.reader.observations(rows) for rows in part)) for part in parts]
        return torch.cat(found).double().cpu().numpy() / self.unit

    def steps(self) -> StepRatio:
        rows = self.sampler.steps((self.samples,))
        costs = self.log.cost_between(rows.numpy(), rows.numpy() + 1) / self.unit
        ratio = self.distances(rows, rows + 1) / costs
        return StepRatio(float(ratio.mean()), float((ratio > TOO_LONG).mean()), float(np.quantile(ratio, 0.99)))

    def along(self, steps: int) -> Along | None:
        rows = self.sampler.steps((self.samples,))
        rows = rows[self.sampler.final(rows) - rows >= steps]
        if not len(rows):
            return None
        found = self.distances(rows, rows + steps)
        cost = self.log.cost_between(rows.numpy(), rows.numpy() + steps).mean() / self.unit
        low, high = np.quantile(found, [0.1, 0.9])
        return Along(steps, float(cost), float(found.mean()), float(low), float(high))

    def nearer(self) -> float | None:
        rows = self.sampler.steps((self.samples,))
        goals = torch.minimum(rows + GOAL_AHEAD, self.sampler.final(rows))
        ahead = goals - rows > NEARER  # otherwise the state ten steps later would be the goal, and nearer by any model
        if not ahead.any():
            return None
        rows, goals = rows[ahead], goals[ahead]
        gain = self.distances(rows, goals) - self.distances(rows + NEARER, goals)
        return float(np.where(gain == 0, 0.5, gain > 0).mean())

    def pairs(self) -> tuple[float, float]:
        here, there = self.sampler.states((self.samples,)), self.sampler.states((self.samples,))
        one, other = self.distances(here, there), self.distances(there, here)
        mean = float((one + other).mean() / 2)
        return mean, float(np.abs(one - other).mean() / max(mean, 1e-12))
