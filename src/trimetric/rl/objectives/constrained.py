"""Quasimetric reinforcement learning: push states apart, as far as the logged steps allow."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from trimetric._support import checks
from trimetric.distances import ObjectDistance
from trimetric.rl.objectives.multiplier import Multiplier
from trimetric.rl.objectives.objective import Batch, Extras, Objective, places
from trimetric.rl.objectives.pushing import Push, check_push, push_apart
from trimetric.rl.trajectories.sampling import LogSampler
from trimetric.rl.trajectories.trajectories import Trajectories


@dataclass(frozen=True, kw_only=True)
class Constrained(Objective):
    r"""Push states and goals apart, subject to the costs of the logged steps (QRL).

    $$\max_\theta\; \mathbb{E}_{s, g}\, \phi(d(s, g)) \quad\text{subject to}\quad
        \mathbb{E}_{(s, s')} \big[(d(s, s') - c(s, s'))^+ / \bar c\big]^2 \le \epsilon,$$

    with the mean cost $\bar c$, goals drawn from the log independently of the states, and a Lagrange multiplier.
    $\phi$ sets how much a distance counts, see `push`.  The cost of a cheapest path is the largest quasimetric that
    satisfies the constraints, so a head with the triangle inequality finds it even between states that no step joins.

    The objective assumes that the world is deterministic.  If a step leads to several states at random, each observed
    outcome is treated as if it could be chosen: distances are then those of the luckiest course (optimism).

    Args:
        push: with $x = d / \bar c$, "log" is $\log(1 + x)$, "sqrt" is $2 \sqrt{1 + x}$, "linear" is $x$, and "softplus"
            is $-\mathrm{softplus}(r - x)$, as published, which stops pushing at the reach $r$.  The flatter the
            function becomes, the less far goals affect the distances of near ones.
        reach: how far "softplus" pushes, about the largest distance; required for "softplus", and not allowed
            otherwise.
        tolerance: $\epsilon$, the mean squared excess that is accepted.
        multiplier: the initial value of the multiplier.
        speed: of the logarithm of the multiplier, in units of the learning rate.

    Examples:
        >>> Constrained().push
        'sqrt'
        >>> Constrained(push="softplus", reach=500.0).reach
        500.0
    """

    push: Push = "sqrt"
    reach: float | None = None
    tolerance: float = 0.05
    multiplier: float = 1.0
    speed: float = 3.0
    least_batch = 2

    def __post_init__(self) -> None:
        check_push(self.push, self.reach)
        for name in ("tolerance", "multiplier", "speed"):
            checks.finite_number(name, getattr(self, name), above=0)

    def extras(self, model: ObjectDistance, log: Trajectories) -> Extras:  # noqa: ARG002
        return Multiplier(self.multiplier, self.speed)

    def draw(self, sampler: LogSampler, shape: tuple[int, int]) -> dict[str, Tensor]:
        here = sampler.steps(shape)
        return {"here": here, "next": here + 1, "goal": sampler.others(shape)}

    def loss(self, batch: Batch, extras: Extras) -> Tensor:
        assert isinstance(extras, Multiplier)
        here, count = places(batch.rows), len(batch.rows["here"])
        points = batch.embed("here", "next")
        step, far = batch.distances(points, (here, count + here), (here, count + batch.rows["goal"]))
        over = (step - batch.log.costs(batch.rows["here"])) / batch.unit
        pushed = push_apart(far / batch.unit, self.push, None if self.reach is None else self.reach / batch.unit)
        return pushed + extras.constrain(over.relu().square().mean(), self.tolerance)
