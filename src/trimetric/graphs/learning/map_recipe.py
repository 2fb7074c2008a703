"""A map model: few numbers per node whose largest difference is the distance, started from the bound of landmarks."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike

import trimetric
from trimetric._support.progress import Shown
from trimetric.distances import HubMetric, ObjectDistance
from trimetric.graphs.graph import Graph
from trimetric.graphs.learning.comparison import MODEL, Candidate, compare, exact_engine, measure_candidate, predicted
from trimetric.graphs.learning.graph_sample import check_memory, draw_pairs, landmarks_of_size
from trimetric.graphs.learning.learned_graph import LearnedGraph
from trimetric.graphs.learning.map_choices import (
    LANDMARKS,
    best_choice,
    finer_at_equal_bytes,
    rescaled,
    rounded_choice,
)
from trimetric.graphs.learning.map_head import make_head
from trimetric.graphs.learning.map_pairs import asked_trips, ends_of, held_out_trips, trips_of
from trimetric.graphs.learning.map_training import SLACK, Plan, choose_start, junctions_of, train_map
from trimetric.graphs.learning.potential_training import Points, predict_trips
from trimetric.graphs.learning.rounding import Precision, steepest_arc
from trimetric.graphs.learning.stages import Stages, digest
from trimetric.graphs.learning.trips import Trips, draw_trips
from trimetric.graphs.learning.upper_recipe import PROMISE, choose_hubs, hub_model
from trimetric.graphs.learning.verdict import ExactTable, Verdict
from trimetric.graphs.paths.landmarks import Landmarks
from trimetric.graphs.paths.pair_sampling import PairSample
from trimetric.graphs.paths.shortest_paths import ShortestPaths
from trimetric.models.model import Model
from trimetric.training.config import History
from trimetric.training.pair_errors import PairErrors
from trimetric.training.recipes import Log, audit_some, say_nothing

Guarantee = Literal["metric", "lower", "upper"]
PAIRS = 40_000  # half of them held out
CHOSEN = LANDMARKS
HUBS_CHOSEN_FOR = 10_000  # trips
WORTH_SAYING = 2.0  # times too far


@dataclass(frozen=True, eq=False, kw_only=True)
class MapSettings:
    """The choices of `learn_graph` for a map model; see there.

    Attributes:
        guarantee: what is promised beside the triangle inequality.
        precision: of the numbers.
        count: numbers per node.
        directed: whether distances may differ in the two directions.
        trees: shortest-path trees to train on.
        passes: passes over the trips.
        rate: of the first steps.
        seed: for all that is random.
    """

    guarantee: Guarantee
    precision: Precision
    count: int
    directed: bool
    trees: int | None
    passes: int
    rate: float
    seed: int


def learn_map(
    graph: Graph,
    settings: MapSettings,
    *,
    queries: ArrayLike | None,
    sample: int | None,
    landmarks: int | None,
    unit: str | None,
    cache: Path | str | None,
    checkpoint: Path | str | None,
    progress: Shown,
    log: Log | None,
) -> LearnedGraph:
    """Choose landmarks, train their potentials and compare; see `learn_graph` for the arguments."""
    say, start = log or say_nothing, time.perf_counter()
    stages = Stages(checkpoint, _identity(graph, settings, queries, sample))
    paths = ShortestPaths(graph, cache=cache, progress=progress)
    drawn = draw_pairs(graph, paths, sample, usual=PAIRS, seed=settings.seed)
    check_memory("dim", f"{settings.count:,} numbers per node", 6 * 4 * settings.count * graph.num_nodes)
    farthest = landmarks_of_size(graph, landmarks, settings.count, settings.seed, progress)
    say(
        f"{len(drawn.ends):,} pairs, mean distance {drawn.lengths.mean():.4g}; at mean 50: "
        f"deviation {drawn.sigma:.1f}, largest {drawn.largest:.1f}"
    )
    asked = asked_trips(graph, paths, queries, settings.seed)
    sets = held_out_trips(graph, drawn, directed=settings.directed, seed=settings.seed, asked=asked)
    without = np.concatenate(
        [drawn.ends[: drawn.test + drawn.validation], *(ends_of(trips) for trips in sets.values())]
    )
    if queries is not None:
        without = np.concatenate([without, np.asarray(queries, np.int64)])
    plan = Plan(
        graph=graph,
        count=settings.count,
        directed=settings.directed,
        like=None if asked is None else asked.lengths,
        without=without,
        trees=settings.trees,
        passes=settings.passes,
        rate=settings.rate,
        seed=settings.seed,
        progress=progress,
    )
    if settings.guarantee == "upper":
        distance, table = _through_hubs(plan, settings)
        built = Built(distance, table, "hubs", None, PROMISE, settings.count)
    else:
        validation = {name: trips[slice(0, None, 2)] for name, trips in sets.items()}
        built = _potentials(plan, settings, validation, stages, say)
    say(f"kept: {built.kept}")
    seconds = time.perf_counter() - start
    return _report(graph, settings, built, drawn, sets, paths, farthest, unit, asked, seconds)


@dataclass(frozen=True, eq=False)
class Built:
    """A map model before it is compared.

    Attributes:
        network: the distance.
        points: what it reads for each node.
        kept: how it came about.
        bound: the potentials of the chosen landmarks; None if none were chosen.
        promise: what is certain, in words.
        count: numbers per node.
    """

    network: ObjectDistance
    points: torch.Tensor
    kept: str
    bound: Points | None
    promise: str
    count: int


def _identity(graph: Graph, settings: MapSettings, queries: ArrayLike | None, sample: int | None) -> dict[str, Any]:
    """What decides the numbers of a map model."""
    return {
        **asdict(settings),
        "sample": sample,
        "graph": digest(graph.indptr, graph.indices, graph.weights),
        "queries": digest(None if queries is None else np.asarray(queries)),
        "version": trimetric.__version__,
    }


def _potentials(plan: Plan, settings: MapSettings, validation: dict[str, Trips], stages: Stages, say: Log) -> Built:
    lower, directed, precision = settings.guarantee == "lower", settings.directed, settings.precision
    small = junctions_of(plan.graph)
    start = stages.get(LANDMARKS, lambda: choose_start(plan, small))
    finer = finer_at_equal_bytes(start, validation, precision, directed=directed)
    if finer is not None:
        say(f"8 bits are too coarse for this graph: {finer.shape[1]} numbers of 16 bits take the same memory")
        start, precision = finer, "int16"
    slacks = (0.0,) if lower else (0.0, SLACK)
    choices = train_map(plan, small, start, validation, slacks=slacks, stages=stages, say=say)
    if not lower:
        choices += [rescaled(choice, validation, directed=directed) for choice in choices]
    below = plan.graph if lower else None
    stored = [rounded_choice(choice, validation, precision, below=below, directed=directed) for choice in choices]
    chosen = best_choice([choice for choice, _ in stored])
    rounded = next(numbers for choice, numbers in stored if choice is chosen)
    network, points = make_head(rounded, precision, directed=directed)
    promise = _promise(settings, steepest_arc(rounded, plan.graph, directed=directed))
    kept = chosen.name if finer is None else f"{chosen.name}, {start.shape[1]} numbers of 16 bits instead of 8"
    return Built(network, points, kept, stored[0][0].points, promise, start.shape[1])


def _through_hubs(plan: Plan, settings: MapSettings) -> tuple[HubMetric, torch.Tensor]:
    """Choose hubs and measure their distances: each takes two numbers per node where the graph is directed."""
    graph, count = plan.graph, settings.count // (2 if settings.directed else 1)
    trips = draw_trips(graph, HUBS_CHOSEN_FOR, trees=400, like=plan.like, seed=plan.seed + 1, progress=plan.progress)
    hubs = choose_hubs(graph, count, trips, seed=plan.seed)
    return hub_model(graph, hubs, directed=settings.directed)


def _report(
    graph: Graph,
    settings: MapSettings,
    built: Built,
    drawn: PairSample,
    sets: dict[str, Trips],
    paths: ShortestPaths,
    farthest: Landmarks,
    unit: str | None,
    asked: Trips | None,
    seconds: float,
) -> LearnedGraph:
    with torch.no_grad():
        embedded = built.network.embed(built.points)
    model, *others = compare(built.network.head, embedded, farthest, drawn)
    size = built.points.shape[1] * built.points.element_size()
    candidates = [Candidate(MODEL, model.accuracy, model.microseconds, size, seconds)]
    test, lengths = trips_of(drawn, drawn.test_rows), drawn.lengths[drawn.test_rows]
    if built.bound is not None:
        ends, bound = drawn.ends[drawn.test_rows].astype(np.int32), built.bound
        starts, stops = np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])
        every = Trips(starts, stops, lengths.astype(np.float32))
        candidates.append(
            measure_candidate(
                CHOSEN,
                lambda: predict_trips(bound, every, directed=settings.directed),
                size,
                lengths,
                scale=drawn.scale,
            )
        )
    candidates += [*others, exact_engine(paths, drawn)]
    shown = {"random": test} | {name: trips[slice(1, None, 2)] for name, trips in sets.items() if name != "random"}
    if asked is not None:
        shown["queries"] = asked
    notes: dict[str, Any] = {
        "made_by": f"trimetric {trimetric.__version__}",
        "settings": {
            "head": None,
            **asdict(settings),
            "symmetric": not settings.directed,
            "dim": built.points.shape[1],
            "sample": len(drawn.ends),
            "landmarks": len(farthest.nodes),
            "epochs": settings.passes,
            "learning_rate": settings.rate,
        },
        "unit": unit,
        "graph": {"nodes": graph.num_nodes, "edges": graph.num_edges, "directed": graph.directed},
        "kept": built.kept,
        "promise": built.promise,
        "relative_errors": {name: _errors(built, embedded, trips, settings) for name, trips in shown.items()},
        "test": {
            row.name: {**asdict(row.accuracy), "us": row.microseconds, "bytes": row.bytes_per_node}
            for row in candidates
        },
    }
    predictions = predicted(built.network.head, embedded, drawn.ends[drawn.test_rows])
    errors = PairErrors.measure(predictions, lengths, mean=float(drawn.lengths.mean()))
    notes["errors"] = errors.to_dict()
    places = None if graph.coordinates is None else torch.from_numpy(graph.coordinates)
    rivals = {"lower": (CHOSEN, "landmarks from below"), "upper": ("landmarks from above",), "metric": None}
    return LearnedGraph(
        model=Model(built.network.eval(), graph.ids(), built.points, notes, places),
        history=History(),
        sample=drawn,
        landmarks=farthest,
        candidates=candidates,
        verdict=Verdict.of(candidates, ExactTable.measure(paths), seconds, rivals=rivals[settings.guarantee]),
        audit=audit_some(built.network.head, embedded, seed=settings.seed),
        errors=errors,
        promise=built.promise,
    )


def _errors(built: Built, embedded: torch.Tensor, trips: Trips, settings: MapSettings) -> dict[str, float]:
    """Mean relative errors of the model, and of the landmarks that it started from."""
    if not len(trips):
        return {}
    values = predicted(built.network.head, embedded, ends_of(trips))
    found = {MODEL: float(np.mean(np.abs(values / trips.lengths - 1)))}
    if built.bound is not None:
        bounds = predict_trips(built.bound, trips, directed=settings.directed)
        found[CHOSEN] = float(np.mean(np.abs(bounds / trips.lengths - 1)))
    return found


def _promise(settings: MapSettings, steepest: float) -> str:
    """Say what the steepest arc proves for all pairs."""
    if settings.guarantee == "lower":
        if steepest > 1:
            raise RuntimeError(f"an arc is {steepest:g} times as steep as its weight, so this is no lower bound: a bug")
        return "never farther than the true distance, as no arc is steeper than its weight"
    # Rounded up, so that what is said is true.
    return f"never more than {math.ceil(1e4 * (steepest - 1)) / 1e4:.2%} too far" if 1 < steepest < WORTH_SAYING else ""
