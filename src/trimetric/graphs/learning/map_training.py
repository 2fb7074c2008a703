"""The numbers of a map model: chosen from landmarks, and trained."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimetric._support.progress import Shown
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.learning.choosing import choose_potentials_for, potentials_at
from trimetric.graphs.learning.junctions import Junctions, contract_chains
from trimetric.graphs.learning.map_choices import LANDMARKS, Choice, measure
from trimetric.graphs.learning.potential_training import (
    RATE,
    Points,
    extend_potentials,
    train_potentials,
)
from trimetric.graphs.learning.stages import Stages
from trimetric.graphs.learning.trips import Trips, draw_nearby_trips, draw_trips, join_trips

SMALL = 20_000  # nodes up to which the whole graph is trained at once
SETTLED = 100_000_000  # nodes of all trees to train on: a minute on one core
TRIPS_PER_NODE, FEWEST_TRIPS, MOST_TRIPS = 2000, 100_000, 16_000_000
FINE_TRIPS = 8_000_000
CHOSEN_FOR = 10_000  # trips to choose landmarks by
PASSES = 3
SLACK = 0.02


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


def choose_start(plan: Plan, small: Junctions) -> Points:
    """Choose landmarks for trips like those to train on, and compute their potentials of all nodes."""
    trips = _draw(plan, small.graph, CHOSEN_FOR, trees=400, seed=plan.seed + 1)
    nodes, to = choose_potentials_for(
        small.graph, plan.count, trips, directed=plan.directed, seed=plan.seed, progress=plan.progress
    )
    return potentials_at(plan.graph, small.nodes[nodes], to).astype(np.float32)


def junctions_of(graph: Graph) -> Junctions:
    """Return the junctions of a large graph; a small one is trained as it is."""
    return contract_chains(graph) if graph.num_nodes > SMALL else Junctions(graph, np.arange(graph.num_nodes))


def train_map(
    plan: Plan,
    small: Junctions,
    start: Points,
    validation: dict[str, Trips],
    *,
    slacks: tuple[float, ...],
    stages: Stages,
    say: Callable[[str], object],
) -> list[Choice]:
    """Train potentials with each slack in turn, and measure the errors of all of them.

    A large graph is trained on its junctions first, whose potentials are then extended to all nodes and trained on
    short trips.

    Args:
        plan: what to train.
        small: the junctions of its graph.
        start: the potentials of the chosen landmarks.
        validation: sets of trips by name; the first is what matters most.
        slacks: how much too far distances may be, ascending, as a first training without any makes the next one easy.
        stages: keep the potentials of each slack, so that a run that was killed resumes.
        say: called with a line of text before each stage.

    Returns:
        The chosen landmarks, then what each training has made of them.
    """
    graph = plan.graph

    def measured(name: str, points: Points, slack: float) -> Choice:
        return Choice(name, points, slack, measure(points, validation, directed=plan.directed))

    @functools.cache
    def drawn() -> tuple[Trips, Trips | None]:
        wanted = min(max(TRIPS_PER_NODE * small.graph.num_nodes, FEWEST_TRIPS), MOST_TRIPS)
        trips = _trips(plan, small, wanted)
        say(f"{len(trips):,} trips of {small.graph.num_nodes:,} nodes to train on")
        fine = _fine_trips(plan, small, trips) if small.graph is not graph and len(trips) else None
        return trips, fine

    def trained(points: Points, slack: float, rate: float, passes: int) -> Points:
        trips, fine = drawn()
        if not len(trips):  # all pairs of a tiny graph are held out
            return np.empty((0, 0), np.float32)
        common = {"slack": slack, "directed": plan.directed, "progress": plan.progress}
        inner = train_potentials(small.graph, points[small.nodes], trips, rate=rate, passes=passes, **common)
        if fine is None:
            return inner
        extended = extend_potentials(graph, small.nodes, inner, slack=slack)
        return train_potentials(graph, extended, fine, rate=rate / 4, passes=1, **common)

    choices = [measured(LANDMARKS, start, 0.0)]
    points, rate, passes = start, plan.rate, plan.passes
    for slack in slacks:
        name = "trained potentials" if slack == 0 else f"trained potentials, up to {slack:.0%} too far"
        points = stages.get(name, functools.partial(trained, points, slack, rate, passes))
        if not len(points):
            break
        choices.append(measured(name, points, slack))
        rate, passes = plan.rate / 2, max(1, plan.passes - 1)
    return choices


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
