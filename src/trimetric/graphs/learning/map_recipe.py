"""A map model: few numbers per node whose largest difference is the distance, started from the bound of landmarks."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

import trimetric
from trimetric._support.progress import Shown
from trimetric.distances import LandmarkBound, ObjectDistance, Siamese
from trimetric.graphs.graph import Graph
from trimetric.graphs.learning.comparison import MODEL, Candidate, compare, exact_engine, measure_candidate
from trimetric.graphs.learning.graph_sample import check_memory, draw_pairs, landmarks_of_size
from trimetric.graphs.learning.learned_graph import LearnedGraph
from trimetric.graphs.learning.map_pairs import asked_trips, ends_of, held_out_trips, trips_of
from trimetric.graphs.learning.map_training import (
    SLACK,
    Choice,
    Plan,
    best_choice,
    rescaled,
    rounded_choice,
    train_map,
)
from trimetric.graphs.learning.potential_training import Points, predict_trips
from trimetric.graphs.learning.rounding import BYTES, Precision, Rounded, steepest_arc
from trimetric.graphs.learning.trips import Trips
from trimetric.graphs.learning.verdict import ExactTable, Verdict
from trimetric.graphs.paths.pair_sampling import PairSample
from trimetric.graphs.paths.shortest_paths import ShortestPaths
from trimetric.models.model import Model
from trimetric.models.units import WholeUnits
from trimetric.training.config import History
from trimetric.training.pair_errors import PairErrors
from trimetric.training.recipes import Log, audit_some, say_nothing

Guarantee = Literal["metric", "lower", "upper"]
PAIRS = 40_000  # half of them held out
CHOSEN = "chosen landmarks"
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
    progress: Shown,
    log: Log | None,
) -> LearnedGraph:
    """Choose landmarks, train their potentials and compare; see `learn_graph` for the arguments."""
    say, start = log or say_nothing, time.perf_counter()
    paths = ShortestPaths(graph, cache=cache, progress=progress)
    check_memory("dim", f"{settings.count:,} numbers per node", 6 * 4 * settings.count * graph.num_nodes)
    drawn = draw_pairs(graph, paths, sample, usual=PAIRS, seed=settings.seed)
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
    validation = {name: trips[slice(0, None, 2)] for name, trips in sets.items()}
    lower = settings.guarantee == "lower"
    choices = train_map(plan, validation, slacks=(0.0,) if lower else (0.0, SLACK), say=say)
    if not lower:
        choices += [rescaled(choice, validation, directed=settings.directed) for choice in choices]
    stored = [
        rounded_choice(
            choice, validation, settings.precision, below=graph if lower else None, directed=settings.directed
        )
        for choice in choices
    ]
    chosen = best_choice([choice for choice, _ in stored])
    rounded = next(numbers for choice, numbers in stored if choice is chosen)
    say(f"kept: {chosen.name}")
    fit_seconds = time.perf_counter() - start
    return _report(
        graph,
        settings,
        drawn,
        sets,
        stored[0][0],
        chosen,
        rounded,
        paths,
        landmarks,
        unit,
        progress,
        asked,
        fit_seconds,
    )


def make_head(rounded: Rounded, precision: Precision, *, directed: bool) -> tuple[ObjectDistance, torch.Tensor]:
    """Make the distance of potentials, and the points that it reads.

    Args:
        rounded: the potentials.
        precision: how they are stored.
        directed: whether differences count in one direction only; then their number must be even.

    Returns:
        The network and what it reads for each node.

    Examples:
        >>> network, points = make_head(Rounded(np.array([[0.0], [3.0]], np.float32), 1.0), "float32", directed=False)
        >>> network(points[0], points[1])
        tensor(3.)
    """
    numbers = rounded.numbers
    count = numbers.shape[1]
    if directed:
        # `LandmarkBound` reads distances to landmarks, whose potentials have the other sign, in its first half.
        numbers = np.concatenate([-numbers[:, : count // 2], numbers[:, count // 2 :]], axis=1)
    bound = LandmarkBound(count, directed=directed)
    if precision == "float32":
        return bound, torch.from_numpy(numbers * np.float32(rounded.unit))
    return Siamese(WholeUnits(count, unit=rounded.unit), bound), torch.from_numpy(np.ascontiguousarray(numbers))


def _report(
    graph: Graph,
    settings: MapSettings,
    drawn: PairSample,
    sets: dict[str, Trips],
    bound: Choice,
    chosen: Choice,
    rounded: Rounded,
    paths: ShortestPaths,
    landmarks: int | None,
    unit: str | None,
    progress: Shown,
    asked: Trips | None,
    fit_seconds: float,
) -> LearnedGraph:
    network, points = make_head(rounded, settings.precision, directed=settings.directed)
    steepest = steepest_arc(rounded, graph, directed=settings.directed)
    promise = _promise(settings, steepest)
    farthest = landmarks_of_size(graph, landmarks, settings.count, settings.seed, progress)
    test = trips_of(drawn, drawn.test_rows)
    values = rounded.values()
    candidates = _candidates(network, points, farthest, drawn, bound, settings, fit_seconds)
    candidates.append(exact_engine(paths, drawn))
    halves = {name: trips[slice(1, None, 2)] for name, trips in sets.items()}
    by_set = {
        name: {"model": _error(values, trips, settings), CHOSEN: _error(bound.points, trips, settings)}
        for name, trips in ({"random": test} | {k: v for k, v in halves.items() if k != "random"}).items()
    }
    if asked is not None:
        by_set["queries"] = {
            "model": _error(values, asked, settings),
            CHOSEN: _error(bound.points, asked, settings),
        }
    notes: dict[str, Any] = {
        "made_by": f"trimetric {trimetric.__version__}",
        "settings": {
            "head": None,
            "guarantee": settings.guarantee,
            "precision": settings.precision,
            "symmetric": not settings.directed,
            "dim": settings.count,
            "sample": len(drawn.ends),
            "landmarks": len(farthest.nodes),
            "epochs": settings.passes,
            "learning_rate": settings.rate,
            "seed": settings.seed,
        },
        "unit": unit,
        "graph": {"nodes": graph.num_nodes, "edges": graph.num_edges, "directed": graph.directed},
        "kept": chosen.name,
        "promise": promise,
        "relative_errors": by_set,
        "test": {
            row.name: {**asdict(row.accuracy), "us": row.microseconds, "bytes": row.bytes_per_node}
            for row in candidates
        },
    }
    places = None if graph.coordinates is None else torch.from_numpy(graph.coordinates)
    model = Model(network.eval(), graph.ids(), points, notes, places)
    predictions = predict_trips(values, test, directed=settings.directed)
    return LearnedGraph(
        model=model,
        history=History(),
        sample=drawn,
        landmarks=farthest,
        candidates=candidates,
        verdict=Verdict.of(
            candidates,
            ExactTable.measure(paths),
            fit_seconds,
            rivals=(CHOSEN, "landmarks from below") if settings.guarantee == "lower" else None,
        ),
        audit=audit_some(network.head, torch.from_numpy(_points(network, points)), seed=settings.seed),
        errors=PairErrors.measure(predictions, test.lengths, mean=float(drawn.lengths.mean())),
        promise=promise,
    )


@torch.no_grad()
def _points(network: ObjectDistance, points: torch.Tensor) -> NDArray[np.float32]:
    return network.embed(points).numpy()


def _candidates(
    network: ObjectDistance,
    points: torch.Tensor,
    farthest: Any,
    drawn: PairSample,
    bound: Choice,
    settings: MapSettings,
    fit_seconds: float,
) -> list[Candidate]:
    """The model, what the chosen landmarks alone say, and the bounds of landmarks far from each other."""
    embedded = torch.from_numpy(_points(network, points))
    model, *others = compare(network.head, embedded, farthest, drawn)
    test, size = trips_of(drawn, drawn.test_rows), settings.count * BYTES[settings.precision]
    model = Candidate(MODEL, model.accuracy, model.microseconds, size, fit_seconds)
    landmarks = measure_candidate(
        CHOSEN,
        lambda: predict_trips(bound.points, test, directed=settings.directed),
        size,
        drawn.lengths[drawn.test_rows],
        scale=drawn.scale,
    )
    return [model, landmarks, *others]


def _promise(settings: MapSettings, steepest: float) -> str:
    """Say what the steepest arc proves for all pairs."""
    if settings.guarantee == "lower":
        if steepest > 1:
            raise RuntimeError(f"an arc is {steepest:g} times as steep as its weight, so this is no lower bound: a bug")
        return "never farther than the true distance, as no arc is steeper than its weight"
    return f"never more than {steepest - 1:.2%} too far" if 1 < steepest < WORTH_SAYING else ""


def _error(points: Points, trips: Trips, settings: MapSettings) -> float:
    if not len(trips):
        return float("nan")
    return float(np.mean(np.abs(predict_trips(points, trips, directed=settings.directed) / trips.lengths - 1)))
