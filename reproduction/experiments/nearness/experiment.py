"""Metric nearness: the metric nearest to a matrix, by triangle fixing, by learned metrics, and exactly (3.2, D).

J is the *squared* ratio ||X - D||^2 / ||D||^2: only that agrees with the numbers that the paper prints (deviation D17).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

import trimetric as tm
from reproduction.experiments.nearness import findings, plots
from reproduction.experiments.nearness.data import is_symmetric, make_matrix
from reproduction.experiments.nearness.models import MODELS, RECIPES, make_model
from reproduction.frame.experiment import Experiment, Result, Scale, key_of
from reproduction.frame.figures import Figure
from reproduction.frame.findings import Finding
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize
from trimetric._support.tensor_files import remove_checkpoint
from trimetric.kernels.min_plus import count_violations
from trimetric.nearness import PAPER_SWEEPS, nearest_metric
from trimetric.nearness.learned import predicted
from trimetric.nearness.result import COUNT_TOLERANCE

SOLVERS = ("TF", "exact", "landmarks")
NAMES = ("TF", "Eucl", "WN", "DN", "WN rectified", "landmarks", "exact")
MEASUREMENTS = 100
"""number of points of a learning curve"""
COMPILES = 100 * 512
"""epochs times width from which compiling pays off"""
CHECKPOINTS = Path("out") / "nearness-checkpoints"
"""runs take up to an hour; an interrupted one resumes from here"""


WORDS = {
    "rows": "the paper's architectures by our recipe, whose points start as rows of the matrix",
    "paper": "the paper's recipe",
}
MAIN_READINGS = ("S", "A")
"""the readings of the data's recipe that come nearest to the paper's numbers (deviation D17)"""


@dataclass(frozen=True)
class Cell:
    """One method on one matrix."""

    reading: str
    n: int
    method: str
    seed: int
    width: int = 0
    """width of a Deep Norm's layers; the other sizes are proportional, and 512 gives the paper's"""
    epochs: int = 0
    recipe: str = ""


@dataclass(frozen=True)
class Config:
    """A budget."""

    n: int
    width: int
    epochs: dict[str, dict[str, int]]
    """epochs of each model, by recipe"""
    seeds: tuple[int, ...]
    readings: tuple[str, ...]


def _all_models(epochs: int) -> dict[str, int]:
    return dict.fromkeys(MODELS, epochs)


OURS = {"Eucl": 100, "DN": 60, "WN rectified": 24, "WN": 24}
"""epochs of our recipe, one to three minutes each (the paper's asymmetric Wide Norm: seven)"""
CONFIGS: dict[Scale, Config] = {
    "quick": Config(40, 64, {"rows": _all_models(60), "paper": _all_models(200)}, (0,), ("S", "A")),
    "default": Config(200, 512, {"rows": OURS, "paper": _all_models(150)}, (0, 1, 2), ("S", "A")),
    "paper": Config(
        200,
        512,
        {"rows": OURS, "paper": _all_models(findings.PAPER_EPOCHS)},
        tuple(range(10)),
        ("S", "A", "S mirrored", "A open"),
    ),
}


class Nearness(Experiment[Cell]):
    """The table of the paper next to the exact optimum, and the learning curves."""

    name: ClassVar[str] = "nearness"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        config = CONFIGS[scale]
        runs = [(method, 0, 0, "") for method in SOLVERS]
        runs += [
            (model, config.width, epochs, recipe)
            for recipe, models in config.epochs.items()
            for model, epochs in models.items()
        ]
        cells = [
            Cell(reading, config.n, method, seed, width, epochs, recipe)
            # Seed by seed, so that an interrupted sweep has something of each model.
            for seed in seeds or config.seeds
            for method, width, epochs, recipe in runs
            for reading in config.readings
            if not (method == "WN rectified" and is_symmetric(reading))  # the symmetric Wide Norm has one form
        ]
        # First what takes minutes; last the readings that are farther from the paper's numbers, and what takes hours.
        return sorted(
            cells,
            key=lambda cell: (
                cell.method not in SOLVERS,
                cell.reading not in MAIN_READINGS,
                cell.recipe == "paper",
                cell.method == "WN" and not is_symmetric(cell.reading),
            ),
        )

    def run(self, cell: Cell) -> list[Result]:
        distances = make_matrix(cell.reading, cell.n, cell.seed)
        return _solve(cell, distances) if cell.method in SOLVERS else _learn(cell, distances)

    def tables(self, rows: list[Row]) -> list[Table]:
        first, *others = _recipes(rows)
        tables = [
            _table(rows, "S", "A", first, WORDS[first]),
            *(_table(rows, "S", "A", recipe, WORDS[recipe]) for recipe in others),
            _table(rows, "S", "A", first, f"{WORDS[first]}; J as the paper's text defines it", metric="J plain"),
        ]
        if any(row.settings["reading"] == "S mirrored" for row in rows):
            words = "the other reading of the recipe of the data"
            tables.append(_table(rows, "S mirrored", "A open", first, words))
        return tables

    def figures(self, rows: list[Row]) -> list[Figure]:
        return plots.figures(rows)

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        return findings.findings(rows)

    def notes(self, rows: list[Row]) -> list[str]:
        gaps = pick(rows, "gap", {"method": "exact"})
        notes = (
            [f"Largest relative duality gap of the exact rows: {max(row.value for row in gaps):.1e}"] if gaps else []
        )
        return [*notes, *_runs_behind(rows)]


def _solve(cell: Cell, distances: np.ndarray) -> list[Result]:
    symmetric = is_symmetric(cell.reading)
    target = (distances + distances.T) / 2 if symmetric else distances
    if cell.method == "exact":
        found = nearest_metric(target, symmetric=symmetric, tolerance=1e-6)
        return [*_measures(found.matrix, distances), Result("gap", found.gap), Result("rounds", found.rounds)]
    if cell.method == "landmarks":
        learned = nearest_metric(target, symmetric=symmetric, method="learned")
        return [*_measures(learned.matrix, distances), Result("seconds", learned.seconds)]
    found = nearest_metric(target, symmetric=symmetric, method="dykstra", tolerance=0, max_rounds=PAPER_SWEEPS)
    # The paper measures the matrix as it is after the last sweep.
    repaired = Result("J repaired", _distortion(found.matrix, distances))
    return [*_measures(found.unrepaired, distances), repaired, Result("gap", found.gap)]


def _learn(cell: Cell, distances: np.ndarray) -> list[Result]:
    torch.manual_seed(cell.seed)
    model = make_model(cell.method, cell.recipe, cell.width, distances, symmetric=is_symmetric(cell.reading))
    pairs = (~torch.eye(cell.n, dtype=torch.bool)).nonzero()
    targets = torch.from_numpy(distances)[pairs[:, 0], pairs[:, 1]].float()
    file = CHECKPOINTS / f"{key_of(Nearness.name, cell).config}-{cell.seed}.safetensors"
    file.parent.mkdir(parents=True, exist_ok=True)
    history = tm.fit(
        model,
        pairs,
        targets,
        validation=(pairs, targets),
        config=replace(
            RECIPES[cell.recipe],
            epochs=cell.epochs,
            seed=cell.seed,
            validation_epochs=max(1, cell.epochs // MEASUREMENTS),
            compile=cell.epochs * cell.width >= COMPILES,
        ),
        checkpoint=file,
        progress="silent",
    )
    remove_checkpoint(file)
    share = len(targets) / float((distances**2).sum())
    curve = [
        (epoch.epoch + 1, epoch.validation_mse * share) for epoch in history.epochs if epoch.validation_mse is not None
    ]
    measures = _measures(predicted(model, cell.n), distances)
    return [Result(each.metric, each.value, cell.epochs) for each in [*measures, Result("curve", curve)]]


def _distortion(x: np.ndarray, distances: np.ndarray) -> float:
    return float(((x - distances) ** 2).sum() / (distances**2).sum())


def _measures(x: np.ndarray, distances: np.ndarray) -> list[Result]:
    largest, count = count_violations(x, COUNT_TOLERANCE * float(distances.max()))
    squared = _distortion(x, distances)
    return [
        Result("J", squared),
        Result("J plain", squared**0.5),
        Result("broken", count),
        Result("largest violation", largest),
    ]


def _recipes(rows: list[Row]) -> list[str]:
    """The recipes that were run, ours first."""
    return [name for name in WORDS if any(row.settings["recipe"] == name for row in rows)] or ["paper"]


def _runs_behind(rows: list[Row]) -> list[str]:
    """Say how many seeds and epochs each cell of the first table has, because they may differ."""
    table = _table(rows, "S", "A", _recipes(rows)[0], "")
    texts = []
    for mark in ("S", "A"):
        cells = {name: table.cells[name, f"J ({mark})"] for name in NAMES}
        counts = [
            f"{name} {cell.seeds}" + (f" ({cell.epochs} epochs)" if cell.epochs else "")
            for name, cell in cells.items()
            if isinstance(cell, Measured)
        ]
        if counts:
            texts.append(f"Seeds behind J ({mark}): {', '.join(counts)}")
    return texts


def _column(name: str, *, comparable: bool) -> Column:
    return Column(name, format=".3g" if name.startswith("J") else ".0f", better="lower" if comparable else None)


def _table(rows: list[Row], symmetric: str, asymmetric: str, recipe: str, title: str, *, metric: str = "J") -> Table:
    cells: dict[tuple[str, str], Measured | str | None] = {}
    largest_n = max((row.settings["n"] for row in rows), default=0)
    for mark, reading in (("S", symmetric), ("A", asymmetric)):
        for name in NAMES:
            where = {"reading": reading, "method": name, "n": largest_n, "recipe": "" if name in SOLVERS else recipe}
            for column, shown in (("J", metric), ("broken", "broken")):
                cells[name, f"{column} ({mark})"] = summarize(pick(rows, shown, where))
        if mark == "S" and cells["WN", "J (S)"] is not None:  # the symmetric Wide Norm has one form
            cells["WN rectified", "J (S)"] = cells["WN rectified", "broken (S)"] = "as WN"
    return Table(
        label="table_mn_1",
        title=f"Metric nearness, {largest_n or 200} objects: {title}",
        corner="method",
        columns=[
            _column(f"{column} ({mark})", comparable=metric == "J") for mark in ("S", "A") for column in ("J", "broken")
        ],
        rows=list(NAMES),
        cells=cells,
        note=(
            "J = ||X - D||^2 / ||D||^2, the square of what the paper's text says"
            if metric == "J"
            else "J = ||X - D|| / ||D||"
        )
        + " (deviation D17). Broken: ordered "
        f"triples with x_ij > x_ik + x_kj by more than {COUNT_TOLERANCE:g} of the largest distance; each triangle of a "
        f"symmetric matrix counts twice. TF: {PAPER_SWEEPS} sweeps, not repaired, asymmetric in its correct form. "
        'Landmarks: our learned nearness (`method="learned"`), a point for each object that starts as its row of the '
        "matrix. Exact: the optimum, to a relative duality gap of 1e-6.",
    )
