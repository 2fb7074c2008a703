"""The numbers of a map model: chosen from landmarks, trained, and kept only where they are better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimetric._support.progress import Shown
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.learning.choosing import choose_potentials_for, potentials_at
from trimetric.graphs.learning.junctions import Junctions, contract_chains
from trimetric.graphs.learning.potential_training import (
    RATE,
    Points,
    extend_potentials,
    predict_trips,
    train_potentials,
)
from trimetric.graphs.learning.rounding import Precision, Rounded, round_potentials
from trimetric.graphs.learning.trips import Trips, draw_nearby_trips, draw_trips, join_trips

SMALL = 20_000  # nodes up to which the whole graph is trained at once
SETTLED = 100_000_000  # nodes of all trees to train on: a minute on one core
TRIPS_PER_NODE, FEWEST_TRIPS, MOST_TRIPS = 2000, 100_000, 16_000_000
FINE_TRIPS = 8_000_000
CHOSEN_FOR = 10_000  # trips to choose landmarks by
PASSES = 3
SLACK = 0.02
LIKE_QUERIES = "like the queries"
TOLERANCE = 1e-4  # of a relative error: what is no worse


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """What to train, and how much.

    Attributes:
        graph: the graph.
        count: numbers per node.
        directed: whether differences of potentials count in one direction only.
        like: distances whose distribution the trips should have; None for all scales.
        without: `(pairs, 2)` nodes of trips that are held out.
        trees: number of shortest-path trees to draw trips from; None for as many as a minute allows.
        passes: how many times to go through the trips.
        rate: the first step, see `train_potentials`.
        seed: for all that is random.
        progress: "auto" shows progress bars, "silent" shows nothing.
    """

    graph: Graph
    count: int
    directed: bool
    like: NDArray[np.floating] | None
    without: Nodes
    trees: int | None = None
    passes: int = PASSES
    rate: float = RATE
    seed: int = 0
    progress: Shown = "silent"


@dataclass(frozen=True, eq=False)
class Choice:
    """Potentials that could be the model.

    Attributes:
        name: how they came about.
        points: `(n, k)` potentials.
        slack: how much too far a distance may be at most, relative to itself; 0 for a lower bound.
        errors: relative errors of the validation trips, by the name of the set.
    """

    name: str
    points: Points
    slack: float
    errors: dict[str, NDArray[np.float64]]

    def is_no_worse_than(self, other: Choice) -> bool:
        """Whether the mean error is no larger on any set, with a margin of two standard errors of the difference."""
        return self is other or all(
            _largest_mean(mine - other.errors[name]) <= TOLERANCE for name, mine in self.errors.items()
        )


def choose_start(plan: Plan, small: Junctions) -> Points:
    """Choose landmarks for trips like those to train on, and compute their potentials of all nodes."""
    trips = _draw(plan, small.graph, CHOSEN_FOR, trees=400, seed=plan.seed + 1)
    nodes, to = choose_potentials_for(
        small.graph, plan.count, trips, directed=plan.directed, seed=plan.seed, progress=plan.progress
    )
    return potentials_at(plan.graph, small.nodes[nodes], to).astype(np.float32)


def train_map(
    plan: Plan, validation: dict[str, Trips], *, slacks: tuple[float, ...], say: Callable[[str], object]
) -> list[Choice]:
    """Choose landmarks, train their potentials with each slack in turn, and measure the errors of all of them.

    A large graph is trained on its junctions first, whose potentials are then extended to all nodes and trained on
    short trips.

    Args:
        plan: what to train.
        validation: sets of trips by name; the first is what matters most.
        slacks: how much too far distances may be, ascending, as a first training without any makes the next one easy.
        say: called with a line of text before each stage.

    Returns:
        The chosen landmarks, then what each training has made of them.
    """
    graph = plan.graph
    small = contract_chains(graph) if graph.num_nodes > SMALL else Junctions(graph, np.arange(graph.num_nodes))
    start = choose_start(plan, small)

    def measured(name: str, points: Points, slack: float) -> Choice:
        return Choice(name, points, slack, measure(points, validation, directed=plan.directed))

    choices = [measured("chosen landmarks", start, 0.0)]
    wanted = min(max(TRIPS_PER_NODE * small.graph.num_nodes, FEWEST_TRIPS), MOST_TRIPS)
    trips = _trips(plan, small, wanted)
    say(f"{len(trips):,} trips of {small.graph.num_nodes:,} nodes to train on")
    if not len(trips):  # all pairs of a tiny graph are held out
        return choices
    fine = _fine_trips(plan, small, trips) if small.graph is not graph else None
    points, rate, passes = start, plan.rate, plan.passes
    for slack in slacks:
        name = "trained potentials" if slack == 0 else f"trained potentials, up to {slack:.0%} too far"
        common = {"slack": slack, "directed": plan.directed, "progress": plan.progress}
        inner = train_potentials(small.graph, points[small.nodes], trips, rate=rate, passes=passes, **common)
        points = inner
        if fine is not None:
            points = extend_potentials(graph, small.nodes, inner, slack=slack)
            points = train_potentials(graph, points, fine, rate=rate / 4, passes=1, **common)
        choices.append(measured(name, points, slack))
        rate, passes = plan.rate / 2, max(1, plan.passes - 1)
    return choices


def measure(points: Points, validation: dict[str, Trips], *, directed: bool) -> dict[str, NDArray[np.float64]]:
    """Compute the relative errors on sets of trips.

    Args:
        points: `(n, k)` potentials.
        validation: the sets by name.
        directed: whether differences count in one direction only.
    """
    return {
        name: np.abs(predict_trips(points, trips, directed=directed) / trips.lengths - 1)
        for name, trips in validation.items()
    }


def rescaled(choice: Choice, validation: dict[str, Trips], *, directed: bool) -> Choice:
    """Multiply potentials so that half of the first set's trips are too far; a multiple of a quasimetric is one."""
    trips = next(iter(validation.values()))
    predicted = predict_trips(choice.points, trips, directed=directed)
    factor = float(np.median(trips.lengths / np.maximum(predicted, 1e-30)))
    factor = max(1.0, factor) if np.isfinite(factor) and factor < 2 else 1.0
    points = choice.points * np.float32(factor)
    return Choice(
        f"{choice.name}, times {factor:.3f}",
        points,
        (1 + choice.slack) * factor - 1,
        measure(points, validation, directed=directed),
    )


def rounded_choice(
    choice: Choice, validation: dict[str, Trips], precision: Precision, *, below: Graph | None, directed: bool
) -> tuple[Choice, Rounded]:
    """Round potentials, and measure what that leaves of them.

    Args:
        choice: the potentials.
        validation: sets of trips by name.
        precision: how to store them.
        below: the graph whose distances they must not exceed; None for no such promise.
        directed: whether differences count in one direction only.
    """
    rounded = round_potentials(choice.points, precision, below=below, directed=directed)
    points = rounded.values()
    errors = measure(points, validation, directed=directed)
    return Choice(choice.name, points, choice.slack, errors), rounded


def best_choice(choices: list[Choice]) -> Choice:
    """Return the choice of the least error among those that are no worse than the first one on any set.

    The error is that on trips like the queries or, without queries, the mean of all sets.

    Args:
        choices: with errors on the same sets; the first is what must not be worse.
    """
    first = choices[0]
    allowed = [choice for choice in choices if choice.is_no_worse_than(first)]
    main = [LIKE_QUERIES] if LIKE_QUERIES in first.errors else list(first.errors)
    return min(allowed, key=lambda choice: sum(float(choice.errors[name].mean()) for name in main))


def _largest_mean(differences: NDArray[np.float64]) -> float:
    """An upper bound of the mean that random trips rarely exceed."""
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return float(differences.mean()) + 2 * spread / np.sqrt(len(differences))


def _draw(plan: Plan, graph: Graph, count: int, *, trees: int, seed: int, without: Nodes | None = None) -> Trips:
    return draw_trips(
        graph,
        count,
        trees=trees,
        like=plan.like,
        without=without,
        symmetric=not plan.directed,
        seed=seed,
        progress=plan.progress,
    )


def _trips(plan: Plan, small: Junctions, count: int) -> Trips:
    """Half of the trips from whole trees, and half to neighborhoods; all from trees where their lengths are given."""
    graph = small.graph
    without = _renumbered(plan.without, small, plan.graph.num_nodes)
    trees = plan.trees or max(1, min(graph.num_nodes, SETTLED // graph.num_nodes))
    if plan.like is not None:
        return _draw(plan, graph, count, trees=trees, seed=plan.seed + 2, without=without)
    whole = _draw(plan, graph, -(-count // 2), trees=trees, seed=plan.seed + 2, without=without)
    near = draw_nearby_trips(
        graph,
        -(-count // 2),
        most=max(graph.num_nodes // 4, 2),
        without=without,
        symmetric=not plan.directed,
        seed=plan.seed + 3,
    )
    return join_trips([whole, near], seed=plan.seed)


def _fine_trips(plan: Plan, small: Junctions, trips: Trips) -> Trips:
    """Short trips between all nodes, and some of the trips between junctions, so that these are not forgotten."""
    near = draw_nearby_trips(
        plan.graph,
        FINE_TRIPS // 2,
        most=5000,
        without=plan.without,
        symmetric=not plan.directed,
        seed=plan.seed + 4,
    )
    part = trips[slice(0, FINE_TRIPS // 2)]
    nodes = small.nodes.astype(np.int32)
    return join_trips([near, Trips(nodes[part.starts], nodes[part.ends], part.lengths)], seed=plan.seed)


def _renumbered(pairs: Nodes, small: Junctions, num_nodes: int) -> Nodes:
    """Number pairs of nodes as in the smaller graph, leaving out those that it does not have."""
    number = np.full(num_nodes, -1)
    number[small.nodes] = np.arange(len(small.nodes))
    renumbered = number[np.asarray(pairs, np.int64).reshape(-1, 2)]
    return renumbered[(renumbered >= 0).all(axis=1)]
