"""Planning over logged states: a learned distance finds paths between them, and a policy for near goals walks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.distances import ObjectDistance, Siamese
from trimetric.distances.all_pairs import all_pairs
from trimetric.rl.policies.policy import Policy, frozen
from trimetric.rl.trajectories.sampling import LogReader, LogSampler
from trimetric.rl.trajectories.trajectories import Trajectories

SAMPLED = 4096
CANDIDATES = 10
REMEMBERED = 4096
"""goals whose distances from the waypoints are kept, as they stay the same for an episode"""
NO_PATH = -1.0
"""instead of infinity, so that files of policies hold finite numbers only"""


class Planner(Policy):
    """Walks to one logged state after another.

    Args:
        model: a learned distance.
        local: the policy that walks to near states.
        states: how many logged states there are to walk to.
        shape: of an observation.
        radius: the largest distance of the next waypoint, and the length of the longest step of a path.
    """

    waypoints: Tensor
    points: Tensor
    between: Tensor
    """costs of the cheapest paths from waypoint to waypoint, -1 where there is none"""

    def __init__(
        self, *, model: ObjectDistance, local: nn.Module, states: int, shape: Sequence[int], radius: float
    ) -> None:
        super().__init__()
        self.model, self.local = frozen(model), frozen(local)
        self.radius = checks.finite_number("radius", radius, above=0)
        self.register_buffer("waypoints", torch.zeros(checks.positive_int("states", states), *shape))
        self.register_buffer("points", torch.zeros(states, self.distance.head.dim))
        self.register_buffer("between", torch.zeros(states, states))
        self._known: dict[bytes, Tensor] = {}

    @classmethod
    def from_log(
        cls,
        model: Siamese,
        trajectories: Trajectories,
        *,
        local: nn.Module,
        states: int = 1000,
        horizon: int = 20,
        quantile: float = 0.8,
        seed: int = 0,
    ) -> Self:
        """Choose waypoints from a log, spread evenly by the learned distance.

        Args:
            model: a learned distance.
            trajectories: the log.
            local: the policy that walks to near states, from `learn_local_policy`.
            states: how many waypoints to choose.
            horizon: how many logged steps away the next waypoint may be; for a graph, how long an edge may be.
            quantile: the share of states `horizon` logged steps away that lies within the radius.
            seed: of the random draws.

        Returns:
            The policy.
        """
        chosen, radius = planned(model, trajectories, states, horizon=horizon, quantile=quantile, seed=seed)
        shape = tuple(chosen.shape[1:])
        policy = cls(model=model, local=local, states=len(chosen), shape=shape, radius=radius)
        return policy.walking_to(chosen)

    def walking_to(self, observations: Tensor) -> Self:
        """Set the logged states to walk to, and move to their device, ready for use.

        Args:
            observations: what was seen there.
        """
        self.to(observations.device).set_waypoints(observations)
        return self.eval()

    @property
    def distance(self) -> ObjectDistance:
        """The learned distance."""
        assert isinstance(self.model, ObjectDistance)
        return self.model

    @torch.no_grad()
    def set_waypoints(self, observations: Tensor) -> None:
        """Set the logged states to walk to, and search for the cheapest paths between them.

        Args:
            observations: what was seen there.
        """
        self.waypoints.copy_(observations)
        self.points.copy_(self.distance.embed(observations))
        lengths = all_pairs(self.distance.head, self.points).double().cpu()
        edges = torch.where(lengths <= self.radius, lengths.clamp(min=1e-9), 0.0).fill_diagonal_(0.0)
        costs = torch.from_numpy(dijkstra(csr_array(edges.numpy())))
        self.between.copy_(torch.where(costs.isfinite(), costs, NO_PATH))
        self._known.clear()

    @abstractmethod
    def to_goals(self, goals: Tensor) -> Tensor:
        """Compute what remains from each waypoint.

        Args:
            goals: points of goals (g, dim).

        Returns:
            Costs (g, waypoints).
        """

    @torch.no_grad()
    def next_states(self, observations: Tensor, goals: Tensor) -> Tensor:
        """Choose the next waypoint of each observation; the goal itself where that is near.

        Args:
            observations: what is seen (b, ...).
            goals: what is to be seen (b, ...).

        Returns:
            Logged states or goals (b, ...).
        """
        here, there = self.distance.embed(observations), self.distance.embed(goals)
        reach = all_pairs(self.distance.head, here, self.points)
        return self.towards(reach, self._remaining(goals, there), self.distance.head(here, there), goals)

    def towards(self, reach: Tensor, remaining: Tensor, direct: Tensor, goals: Tensor) -> Tensor:
        """Choose the next waypoints by distances that are known already.

        Args:
            reach: distances from the observations to the waypoints (b, waypoints).
            remaining: costs from the waypoints to the goals (b, waypoints).
            direct: distances from the observations to the goals (b,).
            goals: what is to be seen (b, ...).

        Returns:
            Logged states or goals (b, ...).
        """
        chosen = self.choose(reach, remaining)
        way = self.waypoints[chosen.clamp(min=0)].to(goals.dtype)
        stay = (direct <= self.radius) | (chosen < 0)
        return torch.where(stay.reshape(-1, *[1] * (goals.ndim - 1)), goals, way)

    @torch.no_grad()
    def ways(self, observations: Tensor, goals: Tensor) -> Ways:
        """Measure all ways from observations to waypoints, and from these to goals, once for many pairs of them.

        Args:
            observations: what is seen (n, ...).
            goals: what is to be seen (m, ...).

        Returns:
            What chooses the next waypoints of pairs.
        """
        here, there = self.distance.embed(observations), self.distance.embed(goals)
        return Ways(self, here, there, all_pairs(self.distance.head, here, self.points), self.to_goals(there))

    @abstractmethod
    def choose(self, reach: Tensor, remaining: Tensor) -> Tensor:
        """Choose a waypoint for each row.

        Args:
            reach: distances from the observations to the waypoints (b, waypoints).
            remaining: costs from the waypoints to the goals (b, waypoints).

        Returns:
            The numbers of waypoints (b,), -1 where none is within the radius.
        """

    def act(self, observations: Tensor, goals: Tensor) -> Tensor:
        return self.local(observations, self.next_states(observations, goals))

    def _remaining(self, goals: Tensor, points: Tensor) -> Tensor:
        """The rows of `to_goals`, computed once for each goal."""
        if not len(goals):
            return points.new_zeros(0, len(self.points))
        keys = [row.tobytes() for row in goals.cpu().numpy()]
        missing = list(dict.fromkeys(key for key in keys if key not in self._known))
        if missing:
            if len(self._known) + len(missing) > REMEMBERED:
                self._known.clear()
                missing = list(dict.fromkeys(keys))
            first = {key: place for place, key in reversed(list(enumerate(keys)))}
            rows = self.to_goals(points[[first[key] for key in missing]])
            self._known.update(zip(missing, rows, strict=True))
        return torch.stack([self._known[key] for key in keys])

    def _apply(self, fn: object, recurse: bool = True) -> Planner:
        self._known.clear()  # on another device
        return super()._apply(fn, recurse)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Ways:
    """The distances of a planner from some observations and to some goals."""

    planner: Planner
    here: Tensor
    there: Tensor
    reach: Tensor
    remaining: Tensor

    def next_states(self, observations: Tensor, goals: Tensor, wanted: Tensor) -> Tensor:
        """Choose the next waypoints of pairs.

        Args:
            observations: numbers of observations (b,).
            goals: numbers of goals (b,).
            wanted: what is to be seen there (b, ...).
        """
        direct = self.planner.distance.head(self.here[observations], self.there[goals])
        return self.planner.towards(self.reach[observations], self.remaining[goals], direct, wanted)


def planned(
    model: Siamese, trajectories: Trajectories, states: int, *, horizon: int, quantile: float, seed: int
) -> tuple[Tensor, float]:
    """Choose the states of a log to walk to, and how far away the next one may be.

    Args:
        model: a learned distance.
        trajectories: the log.
        states: how many states.
        horizon: the number of logged steps to the next one.
        quantile: of the distances of states that are so far away.
        seed: of the random draws.

    Returns:
        What was seen there, and the radius.
    """
    checks.instance("model", model, Siamese)
    checks.instance("trajectories", trajectories, Trajectories)
    radius = radius_of(model, trajectories, horizon=horizon, quantile=quantile, seed=seed)
    return spread_states(model, trajectories, states, seed=seed), radius


@torch.no_grad()
def radius_of(model: Siamese, log: Trajectories, *, horizon: int, quantile: float, seed: int) -> float:
    """Measure how far, by a learned distance, states lie that are some logged steps away.

    Args:
        model: the distance.
        log: the episodes.
        horizon: the number of steps.
        quantile: of these distances.
        seed: of the random draws.
    """
    checks.positive_int("horizon", horizon)
    checks.finite_number("quantile", quantile, above=0, below=1)
    rows = LogSampler(log, torch.Generator().manual_seed(seed)).steps((SAMPLED,))
    rows = rows[torch.from_numpy(log.final_row_of(rows.numpy())) - rows >= horizon]
    if not len(rows):
        raise ValueError(f"horizon: expected episodes of at least {horizon} steps, got none among {SAMPLED} rows")
    reader = LogReader(log, next(model.parameters()))
    model.eval()
    radius = float(model(reader.observations(rows), reader.observations(rows + horizon)).quantile(quantile))
    if not radius > 0:
        raise ValueError(f"model: expected states {horizon} steps away to be away, got a distance of {radius:g}")
    return radius


@torch.no_grad()
def spread_states(model: Siamese, log: Trajectories, count: int, *, seed: int) -> Tensor:
    """Choose logged states, each as far as possible from those before it.

    Args:
        model: a learned distance.
        log: the episodes.
        count: how many to choose; fewer if the log is smaller.
        seed: of the candidates, ten for each state.

    Returns:
        What was seen there.
    """
    generator = torch.Generator().manual_seed(checks.seed("seed", seed))
    rows = torch.randperm(len(log), generator=generator)[: CANDIDATES * checks.positive_int("states", count)]
    model.eval()
    seen = LogReader(log, next(model.parameters())).observations(rows)
    points = model.embed(seen)
    chosen = torch.zeros(min(count, len(rows)), dtype=torch.long)
    everyone = torch.arange(len(rows), device=points.device)
    away = torch.full((len(rows),), torch.inf, device=points.device)
    for i in range(1, len(chosen)):
        last = chosen[i - 1].to(points.device).expand(len(rows))
        away = torch.minimum(away, model.head.between_rows(points, last, everyone))
        chosen[i] = away.argmax().cpu()
    return seen[chosen.to(seen.device)]
