"""Norms of the plane: learn the norm of a convex hull from few vectors, and test it at other lengths (2.5, C).

Each seed is a different random hull.  Early stopping and the choice of the architecture use a validation set that is
drawn like the training set and has the same size; the tables "the paper's way" use the test set instead, as the paper
does.  A mini-batch is the whole training set, as in the released code; one table compares it with the 16 of the paper's
text (deviation D20).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

import trimetric as tm
from reproduction.data.plane_norms import KINDS, SIZES, VALUES, Dataset, dataset, unit_vectors
from reproduction.experiments.norms_2d import findings, plots, tables
from reproduction.experiments.norms_2d.models import MODELS, ONE_FORM, OUR_SHAPES, RECIPES, SHAPES, SMALL_BATCH, Shapes
from reproduction.frame.experiment import Result, Scale, StackedExperiment
from reproduction.frame.figures import Figure
from reproduction.frame.findings import Finding
from reproduction.frame.rows import Row
from reproduction.frame.tables import Table

DIRECTIONS = 120
REACH = torch.linspace(0.01, 4, 400)
"""lengths at which a model is evaluated to find its balls, as it need not be a norm"""


@dataclass(frozen=True)
class Cell:
    """One model of one norm."""

    kind: str
    size: int
    """training vectors"""
    model: str
    shape: tuple[int, ...]
    """depth and width of a Deep Norm or MLP; number and width of the components of a Wide Norm"""
    epochs: int
    seed: int
    recipe: str = "paper"
    batch_size: int = SMALL_BATCH


@dataclass(frozen=True)
class Config:
    """A budget."""

    epochs: int
    seeds: tuple[int, ...]
    shapes: Shapes
    ours: Shapes
    """shapes that are also trained by our recipe"""


_FEW: Shapes = {
    "Maha": ((),),
    "DN": ((2, 50),),
    "WN": ((10, 10),),
    "MLP": ((3, 50),),
    "WN rectified": ((10, 10),),
}
_SOME = {name: tuple(s for s in shapes if 250 not in s and 2 not in s[1:]) for name, shapes in SHAPES.items()}
CONFIGS: dict[Scale, Config] = {
    "quick": Config(200, (0,), _FEW, {}),
    "default": Config(1000, (0, 1, 2), _SOME, OUR_SHAPES),
    "paper": Config(5000, (0, 1, 2), SHAPES, OUR_SHAPES),
}


class Norms2D(StackedExperiment[Cell]):
    """Three tables of test errors next to the paper's, by validation and the paper's way, and the balls."""

    name: ClassVar[str] = "norms-2d"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        config = CONFIGS[scale]
        plans = [
            *(("paper", size, size, config.shapes) for size in SIZES),
            *(("ours", size, SMALL_BATCH, config.ours) for size in SIZES),
            ("paper", SIZES[-1], SMALL_BATCH, config.ours),
        ]
        cells = [
            Cell(kind, size, model, shape, config.epochs, seed, recipe, batch_size)
            for recipe, size, batch_size, shapes in plans
            for model, list_of_shapes in shapes.items()
            for shape in list_of_shapes
            for kind in KINDS
            for seed in seeds or config.seeds
        ]
        return sorted(cells, key=_cost)

    def stack(self, cell: Cell) -> Hashable:
        """Train cells of one architecture, size and recipe together, whatever their norm and seed."""
        form = "" if cell.model in ONE_FORM else cell.kind == "asym"
        return replace(cell, kind="", seed=0), form

    def run_batch(self, cells: list[Cell]) -> list[list[Result]]:
        data = [dataset(cell.kind, cell.size, cell.seed) for cell in cells]
        models = [_model(cell) for cell in cells]
        epochs = cells[0].epochs
        config = replace(
            RECIPES[cells[0].recipe],
            epochs=epochs,
            batch_size=cells[0].batch_size,
            patience=max(1, epochs // 5),
            validation_epochs=max(1, epochs // 100),
        )
        histories = tm.fit_many(
            models,
            [each.train[0] for each in data],
            [each.train[1] for each in data],
            seeds=[cell.seed for cell in cells],
            validation=[each.validation for each in data],
            watch={value: [each.test[value] for each in data] for value in VALUES},
            config=config,
            progress="silent",
        )
        return [_results(*run) for run in zip(cells, models, histories, data, strict=True)]

    def tables(self, rows: list[Row]) -> list[Table]:
        return tables.tables(rows)

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        def balls(kind: str, size: int, model: str) -> dict[str, list[float | None]] | None:
            row = tables.ball_row(rows, kind, size, model)
            return None if row is None else row.value

        return findings.findings(tables.error_of(rows, "paper"), balls)

    def notes(self, rows: list[Row]) -> list[str]:
        return tables.notes(rows)

    def figures(self, rows: list[Row]) -> list[Figure]:
        return plots.figures(lambda kind, size, model: tables.ball_row(rows, kind, size, model))


def _cost(cell: Cell) -> tuple[bool, bool, int]:
    """Sort key: cells of every budget first, then cheap ones, the widest last: an interrupted sweep has some of all."""
    usual = cell.shape in (*_FEW[cell.model], *OUR_SHAPES.get(cell.model, ()))
    work = cell.size * (max(cell.shape, default=1) if cell.model in ("DN", "MLP") else 10)
    return 250 in cell.shape, not usual, work


def _model(cell: Cell) -> tm.Distance:
    torch.manual_seed(1000 * cell.seed + KINDS.index(cell.kind))
    network = MODELS[cell.model](cell.shape, cell.kind != "asym")
    return tm.Calibrated(network if isinstance(network, tm.Distance) else tm.NormInduced(network))


def _results(cell: Cell, model: tm.Distance, history: tm.History, data: Dataset) -> list[Result]:
    best = history.epochs[history.best_epoch or 0]
    measured_at = [epoch for epoch in history.epochs if epoch.watched]
    results = [
        Result("validation", best.validation_mse, cell.epochs),
        Result("best epoch", best.epoch + 1, cell.epochs),
    ]
    with torch.no_grad():
        for value, (ends, targets) in data.test.items():
            mse = (model(*ends) - targets).square().mean().item()
            results.append(Result(f"test {value}", mse, cell.epochs))
            least = min(epoch.watched[value] for epoch in measured_at)
            results.append(Result(f"best test {value}", least, cell.epochs))
    if cell.seed == 0:
        results.append(Result("balls", _balls(model), cell.epochs))
    return results


@torch.no_grad()
def _balls(model: tm.Distance) -> dict[str, list[float | None]]:
    """Find the length at which each direction first reaches each norm value; None if it never does."""
    directions = unit_vectors(DIRECTIONS)
    lengths = REACH.view(-1, 1, 1)
    values = model(torch.zeros(2), lengths * directions)  # (lengths, directions)
    return {value: [_first(values[:, i], float(value)) for i in range(DIRECTIONS)] for value in VALUES}


def _first(along: Tensor, value: float) -> float | None:
    """Find where the values along a ray first cross `value`, by linear interpolation."""
    above = along >= value
    crossing = (above[1:] != above[:-1]).nonzero()
    if len(crossing) == 0:
        return None
    i = int(crossing[0])
    part = (value - along[i]) / (along[i + 1] - along[i])
    return round((REACH[i] + part * (REACH[i + 1] - REACH[i])).item(), 4)
