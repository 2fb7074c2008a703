"""Plan with nothing but logged transitions: from a state, the steps that were seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.distances import Distance
from trimetric.distances.siamese import Siamese
from trimetric.rl.transitions.log import Transitions

EMBEDDED_AT_ONCE = 8192


class KnownMoves:
    """The graph of a log: its distinct states, and the cheapest step that was seen between each two of them.

    Steps that led nowhere are no moves.

    Attributes:
        states: the distinct observations (m, ...).
        edges: the states before and after each move (k, 2), by number, in order of the first.
        costs: of each move (k,).
    """

    def __init__(self, transitions: Transitions) -> None:
        self.states = torch.from_numpy(transitions.states)
        m = len(self.states)
        before, after = transitions.ends
        moving = before != after
        keys, numbers = np.unique(before[moving] * m + after[moving], return_inverse=True)
        if not len(keys):
            raise ValueError("transitions: expected some that lead from one state to another, got none")
        costs = np.full(len(keys), np.inf)
        np.minimum.at(costs, numbers.ravel(), transitions.costs[moving])
        self.edges: Int[Tensor, "k 2"] = torch.from_numpy(np.stack([keys // m, keys % m], axis=1))
        self.costs: Float[Tensor, " k"] = torch.from_numpy(costs)
        counts = torch.bincount(self.edges[:, 0], minlength=m)
        starts = counts.cumsum(0) - counts
        place = torch.arange(len(keys)) - starts[self.edges[:, 0]]
        self.next_state: Int[Tensor, "m most"] = torch.full((m, int(counts.max())), -1)
        """where the moves of each state lead (m, most moves of one), -1 where there are fewer"""
        self.next_state[self.edges[:, 0], place] = self.edges[:, 1]
        self.cost: Float[Tensor, "m most"] = torch.full(self.next_state.shape, torch.inf, dtype=torch.float64)
        """of these moves, infinite where there are fewer"""
        self.cost[self.edges[:, 0], place] = self.costs

    @property
    def num_states(self) -> int:
        return len(self.states)

    def distances_from(self, states: Int[Tensor, " k"], *, limit: float = np.inf) -> Float[Tensor, "k m"]:
        """The cost of a cheapest path over known moves to each state, infinite where there is none up to `limit`."""
        m = self.num_states
        graph = csr_array((self.costs.numpy(), tuple(self.edges.numpy().T)), shape=(m, m))
        return torch.from_numpy(dijkstra(graph, indices=states.numpy(), limit=limit))


@dataclass(frozen=True)
class Plan:
    """Greedy walks from some states to as many goals."""

    reached: Bool[Tensor, " k"]
    cost: Float[Tensor, " k"]
    """of each walk, up to its goal or its last step"""
    paths: Int[Tensor, "k steps"]
    """the states of each walk by number, its goal repeated to the end"""


@dataclass(frozen=True)
class PlanScore:
    """Means over pairs of a state and a goal that known moves can reach."""

    success: float
    spl: float
    """success weighted by path length: the cheapest cost over known moves by the cost of the walk, 0 without success"""
    pairs: int


def objects_of(model: Siamese | Distance, moves: KnownMoves) -> Tensor | None:
    """What the model reads for each state: its observation; None for a table of points, which reads its number."""
    encoder = model.encoder if isinstance(model, Siamese) else None
    if isinstance(encoder, nn.Embedding):
        if encoder.num_embeddings != moves.num_states:
            raise ValueError(
                f"model: expected a table of the {moves.num_states} states of the log, got {encoder.num_embeddings}"
            )
        return None
    dtype = next((p.dtype for p in model.parameters()), moves.states.dtype)
    return moves.states.to(dtype)


@torch.no_grad()
def embed(model: Siamese | Distance, moves: KnownMoves) -> tuple[Distance, Tensor]:
    """The distance of a model, and the points of all states in it."""
    model.eval()
    objects = objects_of(model, moves)
    objects = torch.arange(moves.num_states) if objects is None else objects
    if not isinstance(model, Siamese):
        return model, objects
    return model.distance, torch.cat([model.encoder(part) for part in objects.split(EMBEDDED_AT_ONCE)])


@torch.no_grad()
def plan(
    model: Siamese | Distance,
    moves: KnownMoves,
    pairs: Int[Tensor, "k 2"],
    *,
    max_steps: int = 500,
) -> Plan:
    r"""Walk from each state to its goal by $\arg\min_{s'}\, c(s, s') + d(s', g)$ over the known moves, d(g, g) being 0.

    Args:
        model: a distance between observations, or of a table of points.
        moves: those that can be taken.
        pairs: states and goals by number (k, 2).
        max_steps: after which a walk is given up.
    """
    checks.positive_int("max_steps", max_steps)
    distance, points = embed(model, moves)
    state, goal = pairs.unbind(1)
    there, cost = points[goal].unsqueeze(1), torch.zeros(len(pairs), dtype=torch.float64)
    paths, stuck = [state], torch.zeros(len(pairs), dtype=torch.bool)
    for _ in range(max_steps):
        walking = ((state != goal) & ~stuck).nonzero().squeeze(1)
        if not len(walking):
            break
        ahead, price = moves.next_state[state[walking]], moves.cost[state[walking]]
        left = distance(points[ahead.clamp(min=0)], there[walking]).double()
        left = left.masked_fill(ahead == goal[walking].unsqueeze(1), 0)
        best = (price + left).argmin(dim=1, keepdim=True)
        dead = ahead.gather(1, best).squeeze(1) < 0
        stuck[walking[dead]] = True
        walking, ahead, price, best = (part[~dead] for part in (walking, ahead, price, best))
        state = state.index_copy(0, walking, ahead.gather(1, best).squeeze(1))
        cost[walking] += price.gather(1, best).squeeze(1)
        paths.append(state)
    return Plan(state == goal, cost, torch.stack(paths, dim=1))


def judge(moves: KnownMoves, pairs: Int[Tensor, "k 2"], plan: Plan) -> PlanScore:
    """How well walks did, among the pairs whose goal can be reached by known moves."""
    starts, row = pairs[:, 0].unique(return_inverse=True)
    best = moves.distances_from(starts)[row, pairs[:, 1]]
    possible = best.isfinite() & (best > 0)
    if not possible.any():
        raise ValueError("pairs: expected some whose goal known moves can reach, got none")
    ratio = torch.where(plan.reached, best / torch.maximum(plan.cost, best), 0)[possible]
    return PlanScore(
        success=plan.reached[possible].double().mean().item(), spl=ratio.mean().item(), pairs=int(possible.sum())
    )


def goal_pairs(moves: KnownMoves, goals: Int[Tensor, " g"], count: int, *, seed: int) -> Int[Tensor, "count 2"]:
    """Pairs of a random state and a random one of these goals."""
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(moves.num_states, (count,), generator=generator)
    return torch.stack([starts, goals[torch.randint(len(goals), (count,), generator=generator)]], dim=1)


class Agent:
    r"""Acts in the world itself: the action that minimises the mean of $c + d(s', g)$ over what was logged of it.

    From an observation it goes to the nearest known state, so it also acts where steps are random or states are binned.

    Args:
        model: a distance between observations.
        transitions: a log with actions.
        goals: the number of the state to go to, or of several, any of which will do.
    """

    def __init__(
        self,
        model: Siamese | Distance,
        transitions: Transitions,
        goals: Int[Tensor, " g"] | int,
    ) -> None:
        if transitions.actions is None:
            raise ValueError("transitions: expected a log with actions, got none")
        self.moves = KnownMoves(transitions)
        distance, points = embed(model, self.moves)
        ends = torch.atleast_1d(torch.as_tensor(goals))
        with torch.no_grad():
            left = torch.stack([distance(points, points[end]) for end in ends.tolist()]).amin(dim=0).double()
        left[ends] = 0
        before, after = torch.from_numpy(transitions.ends)
        actions = torch.from_numpy(transitions.actions)
        value = torch.from_numpy(transitions.costs) + left[after]
        shape = (self.moves.num_states, int(actions.max()) + 1)
        sums, counts = torch.zeros(2, *shape, dtype=torch.float64)
        sums.index_put_((before, actions), value, accumulate=True)
        counts.index_put_((before, actions), torch.ones_like(value), accumulate=True)
        self.values = torch.where(counts > 0, sums / counts.clamp(min=1), torch.inf)
        """the mean cost of each action in each state, to the goal; infinite where it was never taken"""
        self._acting = (counts.sum(dim=1) > 0).nonzero().squeeze(1)
        self._known = self.moves.states.flatten(1)[self._acting]
        spread = self._known.std(dim=0, correction=0)
        self._scale = torch.where(spread > 0, spread, 1)

    def __call__(self, observation: np.ndarray) -> int:
        seen = torch.as_tensor(observation, dtype=self._known.dtype).flatten()
        nearest = ((self._known - seen) / self._scale).square().sum(dim=1).argmin()
        return int(self.values[self._acting[nearest]].argmin())
