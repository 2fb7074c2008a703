"""One run: learn a distance from a log, make policies of it, and let them act."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import nn

import trimetric as tm
from reproduction.experiments.rl.cells import DIRECTED, NONE, Cell
from reproduction.experiments.rl.exact import recovered
from reproduction.experiments.rl.field import field_of, walks_of
from reproduction.experiments.rl.heads import DIM, HEADS
from reproduction.experiments.rl.objectives import make_objective
from reproduction.frame.experiment import Result
from trimetric import rl

WAVES = 4
HORIZON = 20
WAYPOINTS = 500
LOCAL_STEPS = 1500
ACTOR_STEPS, ACTOR_BATCH = 3000, 256
PLANNERS = ("waypoints", "graph")
QUICK = 5
"""runs with fewer episodes are only tried"""


class Clock:
    """CPU seconds of the parts of a run."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what happens inside to a part."""
        start = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start


def run_cell(cell: Cell) -> list[Result]:
    """Do one run; every random number comes from the seed of the cell."""
    clock = Clock()
    quick = cell.planner_episodes < QUICK
    with clock.part("data"):
        world, train, held_out = data_of(cell.world, cell.seed, quick=quick)
    with clock.part("distance"):
        model = straight_lines(train) if cell.head == NONE else learned(cell, train)
    numbers: dict[str, float] = {}
    if cell.head != NONE:
        numbers |= one_steps(model, held_out)
    if isinstance(world, rl.DirectedPoint):
        numbers |= recovered(model, world)
    results = [Result(name, value, cell.steps) for name, value in numbers.items()]
    drawn = cell.seed == 0
    if drawn:
        results.append(Result("field", field_of(model, world), cell.steps))
    for name, policy in policies(cell, model, train, clock, quick=quick):
        with clock.part("episodes"):
            episodes = cell.planner_episodes if name in PLANNERS else cell.episodes
            found = rl.evaluate(world, policy, episodes=episodes, seed=1000 + cell.seed, record=drawn)
            if drawn:
                results.append(Result(f"{name} walks", walks_of(found), cell.steps))
        values = {"success": found.success, "steps": found.mean_steps, "spl": found.spl}
        values |= {"tasks": list(found.per_task().values()), "us": 1e6 * found.seconds_per_action}
        known = {key: value for key, value in values.items() if value is not None and value == value}
        results += [Result(f"{name} {key}", value, cell.steps) for key, value in known.items()]
    return [*results, *(Result(f"seconds {name}", value, cell.steps) for name, value in clock.seconds.items())]


@cache
def data_of(name: str, seed: int, *, quick: bool) -> tuple[rl.TaskWorld, rl.Trajectories, rl.Trajectories]:
    """Make a world and its data.

    Args:
        name: a data set of pointmaze, or "directed".
        seed: of the data.
        quick: whether a few episodes will do.
    """
    if name == DIRECTED:
        world = rl.DirectedPoint()
        return world, *rl.directed_trajectories(world, seed=seed, episodes=50 if quick else 500)
    logs = rl.pointmaze_trajectories(name, seed=seed, episodes=50 if quick else None)  # type: ignore[arg-type]
    return rl.PointMaze(name.split("-")[0]), *logs  # type: ignore[arg-type]


@cache
def local_policy(name: str, seed: int, *, quick: bool) -> rl.LocalPolicy:
    """Learn how to get to near places; the same for all distances."""
    _, train, _ = data_of(name, seed, quick=quick)
    steps = 50 if quick else LOCAL_STEPS
    return rl.learn_local_policy(train, horizon=HORIZON, steps=steps, seed=seed, progress="silent")


def learned(cell: Cell, train: rl.Trajectories) -> tm.Siamese:
    """Learn the distance of a cell."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(cell.seed)
        head = HEADS[cell.head].build()
    model = rl.goal_model(train, head=head, dim=DIM, waves=WAVES, seed=cell.seed)
    found = rl.learn_distance(
        model,
        train,
        objective=make_objective(cell.objective, cell.world),
        steps=cell.steps,
        batch_size=cell.batch,
        seed=cell.seed,
        progress="silent",
    )
    return found.model


def straight_lines(train: rl.Trajectories) -> tm.Siamese:
    """The Euclidean distance of observations, which learns nothing."""
    size = train.observations.shape[1]
    encoder = nn.Linear(size, size, bias=False)
    nn.init.eye_(encoder.weight)
    return tm.Siamese(encoder, tm.NormInduced(tm.Euclidean(size)))


def policies(
    cell: Cell, model: tm.Siamese, train: rl.Trajectories, clock: Clock, *, quick: bool
) -> Iterator[tuple[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]]:
    """The planners on a distance, the actor distilled from the search, and for the baselines a clone of the log."""
    with clock.part("local"):
        local = local_policy(cell.world, cell.seed, quick=quick)
    states = 100 if quick else WAYPOINTS
    with clock.part("planners"):
        waypoints = rl.WaypointPolicy.from_log(
            model, train, local=local, states=states, horizon=HORIZON, lookahead=cell.lookahead, seed=cell.seed
        )
        graph = rl.GraphPolicy.from_log(model, train, local=local, states=states, horizon=HORIZON, seed=cell.seed)
    actor_steps = 50 if quick else ACTOR_STEPS
    yield "waypoints", waypoints
    if cell.seed == 0:  # the others only teach with it
        yield "graph", graph
    if cell.world != DIRECTED and cell.episodes:
        with clock.part("actor"):
            actor = rl.distil_policy(
                graph, train, steps=actor_steps, batch_size=ACTOR_BATCH, seed=cell.seed, progress="silent"
            )
        yield "actor", actor
    if cell.head == NONE:
        with clock.part("clone"):
            clone = rl.clone_behavior(
                train, steps=actor_steps, batch_size=ACTOR_BATCH, seed=cell.seed, progress="silent"
            )
        yield "clone", clone


@torch.no_grad()
def one_steps(model: tm.Siamese, held_out: rl.Trajectories) -> dict[str, float]:
    """The distances of the steps of the held-out episodes, whose cost is 1."""
    rows = held_out.transition_rows[:: max(1, len(held_out.transition_rows) // 5000)]
    seen = torch.from_numpy(held_out.observations)
    steps = model(seen[rows], seen[rows + 1])
    return {"one step": float(steps.mean()), "one step 99 %": float(steps.quantile(0.99))}
