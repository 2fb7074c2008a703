"""The leaderboard: every head on one set of problems, with equal parameters and equal tuning (not in the paper).

The nodes of a graph are learned embeddings, trained together with the head on pairs and their distances, as for a graph
without features.  Each seed is a different graph.  Every model is trained at each of the same learning rates and keeps
the weights of its best validation error, which also selects the rate; the test pairs are used once, after that.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

import trimetric as tm
from reproduction.experiments.leaderboard import plots, tables
from reproduction.experiments.leaderboard.heads import HEADS, RECOMMENDED, count_parameters, make_model
from reproduction.experiments.leaderboard.problems import PROBLEMS, Examples, examples
from reproduction.frame.experiment import Result, Scale, StackedExperiment
from reproduction.frame.figures import Figure
from reproduction.frame.findings import Finding
from reproduction.frame.rows import Row
from reproduction.frame.tables import Table

BATCHES = {1: 256, 3: 256, 8: 256, 24: 512, 70: 512, 100: 512}
"""pairs per step, by the percentage of pairs for training"""
PLANE_BATCH = 64
EVALUATIONS = 25
"""number of times that the validation error is measured, evenly spaced over a run"""


@dataclass(frozen=True)
class Cell:
    """One head on one distance, tuned."""

    problem: str
    training: int
    """amount of training pairs or vectors, in the unit of the problem"""
    head: str
    rates: tuple[float, ...]
    """learning rates to try"""
    steps: int
    seed: int
    batch_size: int


@dataclass(frozen=True)
class Config:
    """A budget."""

    columns: tuple[tuple[str, int], ...]
    """problems and amounts of training data, the most informative first"""
    heads: tuple[str, ...]
    rates: tuple[float, ...]
    steps: int
    seeds: tuple[int, ...]


_DIGRAPHS = ("dense", "sparse", "block", "city")


def _columns(shares: tuple[int, ...], more: tuple[int, ...] = ()) -> tuple[tuple[str, int], ...]:
    """List digraphs and the city, then the other problems, then further shares of the graphs."""
    others = [(name, size) for name, problem in PROBLEMS.items() for size in problem.trainings if problem.unit != "%"]
    repairs = [(name, 100) for name, problem in PROBLEMS.items() if problem.repairs]
    return (
        *((name, share) for share in shares for name in _DIGRAPHS),
        *(("unreachable", share) for share in shares),
        *repairs,
        *others,
        *((name, share) for share in more for name in (*_DIGRAPHS, "unreachable")),
    )


_FEW = ("Euclidean", "DN", "WN", "IQE", RECOMMENDED, "MLP")
_PROMPT = tuple(name for name, head in HEADS.items() if not head.late)
CONFIGS: dict[Scale, Config] = {
    "quick": Config(tuple((name, 24) for name in _DIGRAPHS), _FEW, (0.05,), 150, (0,)),
    "default": Config(_columns((3, 70)), _PROMPT, (0.01, 0.1), 300, (0, 1)),
    "paper": Config(_columns((3, 70), (1, 8, 24)), tuple(HEADS), (0.005, 0.04, 0.3), 700, (0, 1, 2, 3, 4)),
}


class Leaderboard(StackedExperiment[Cell]):
    """Errors of every head on every problem, ranks, times, and which head to use when."""

    name: ClassVar[str] = "leaderboard"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        config = CONFIGS[scale]
        cells = [
            Cell(problem, training, head, config.rates, config.steps, seed, BATCHES.get(training, PLANE_BATCH))
            for problem, training in config.columns
            for head in config.heads
            for seed in seeds or config.seeds
        ]
        return sorted(cells, key=lambda cell: HEADS[cell.head].late)

    def run_batch(self, cells: list[Cell]) -> list[list[Result]]:
        first = cells[0]
        data = [examples(cell.problem, cell.training, cell.seed) for cell in cells]
        trials = [list(trials) for trials in zip(*(_train(cells, data, rate) for rate in first.rates), strict=True)]
        return [_results(*run) for run in zip(cells, data, trials, strict=True)]

    def tables(self, rows: list[Row]) -> list[Table]:
        return tables.tables(rows)

    def figures(self, rows: list[Row]) -> list[Figure]:
        return plots.figures(rows)

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        found = tables.place_of_default(rows)
        return {} if found is None else {"table_leaderboard_ranks": Finding(found)}

    def notes(self, rows: list[Row]) -> list[str]:
        return tables.notes(rows)


class Trial(NamedTuple):
    """A model trained at one rate."""

    rate: float
    model: tm.Siamese
    validation: float
    step_ms: float


def _train(cells: list[Cell], data: list[Examples], rate: float) -> Iterator[Trial]:
    """Train a trial of each cell at a rate, all at once."""
    problem, steps = PROBLEMS[cells[0].problem], cells[0].steps
    models = [make_model(cell.head, problem, cell.seed) for cell in cells]
    pairs = len(data[0].train[1])
    batch = min(cells[0].batch_size, pairs)
    steps_per_epoch = -(-pairs // batch)
    epochs = max(1, round(steps / steps_per_epoch))
    if problem.gamma is not None:
        for model, each in zip(models, data, strict=True):
            _calibrate_discounted(model, each, problem.gamma)
    histories = tm.fit_many(
        models,
        [each.train[0] for each in data],
        [each.train[1] for each in data],
        seeds=[cell.seed for cell in cells],
        validation=[each.validation for each in data],
        config=tm.TrainingConfig(
            epochs=epochs,
            batch_size=batch,
            learning_rate=rate,
            calibrate=problem.gamma is None,
            patience=epochs,  # never stops early, and keeps the best weights
            validation_epochs=max(1, epochs // EVALUATIONS),
        ),
        progress="silent",
    )
    for model, history in zip(models, histories, strict=True):
        seconds = sum(epoch.seconds for epoch in history.epochs)
        step_ms = 1000 * seconds / (epochs * steps_per_epoch * len(cells))
        validation = history.best_validation_mse
        yield Trial(rate, model, float("inf") if validation is None else validation, step_ms)


@torch.no_grad()
def _calibrate_discounted(model: tm.Siamese, data: Examples, gamma: float) -> None:
    """Set the scale under a discount from the reachable pairs, as `fit` does without a discount."""
    pairs, discounts = data.train
    reachable = (discounts > 0).nonzero().squeeze(1)[:2048]
    ends = pairs[reachable]  # type: ignore[index]
    calibrated: Any = model.distance.inner
    calibrated.calibrate(
        calibrated(model.encoder(ends[:, 0]), model.encoder(ends[:, 1])),
        discounts[reachable].log() / torch.tensor(gamma).log(),
    )


def _results(cell: Cell, data: Examples, trials: list[Trial]) -> list[Result]:
    best = min(trials, key=lambda trial: trial.validation)
    pairs, targets = data.test
    with torch.no_grad():
        predicted = _predicted(best.model, pairs)
    results = [
        Result("error", (predicted - targets).square().mean().item() / data.unit, cell.steps),
        Result("tried", {str(trial.rate): trial.validation for trial in trials}, cell.steps),
        Result("parameters", count_parameters(best.model), cell.steps),
        Result("step ms", sum(trial.step_ms for trial in trials) / len(trials), cell.steps),
    ]
    if (nodes := PROBLEMS[cell.problem].nodes) is not None:
        results.append(Result("all pairs ms", _all_pairs_ms(best.model, nodes), cell.steps))
    return results


def _predicted(model: tm.Siamese, pairs: Any) -> Tensor:
    return model(pairs[:, 0], pairs[:, 1]) if isinstance(pairs, Tensor) else model(*pairs)


@torch.no_grad()
def _all_pairs_ms(model: tm.Siamese, nodes: int) -> float:
    """Time the second call, because the first may compile."""
    tm.all_pairs(model, torch.arange(nodes))
    start = time.perf_counter()
    tm.all_pairs(model, torch.arange(nodes))
    return 1000 * (time.perf_counter() - start)
