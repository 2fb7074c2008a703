"""General value functions: plan in grid worlds with a learned distance, to goals that were never trained on (3.4, F).

Each seed is a different start of the network and, in the asymmetric worlds, a different draw of the costs.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import torch

import trimetric as tm
from reproduction.experiments.values import claims, findings, heat, plots, tables
from reproduction.experiments.values.heads import CANDIDATES, CHOSEN, HEADS, JUDGED, MAIN, PAPER, SHOWN, SUCCESSORS
from reproduction.frame.experiment import Result, Scale, StackedExperiment, unique
from reproduction.frame.figures import Figure
from reproduction.frame.findings import Finding
from reproduction.frame.rows import Row
from reproduction.frame.tables import Table
from trimetric.rl import (
    Split,
    World,
    evaluate_values,
    follow,
    greedy_actions,
    learn_values,
    paper_config,
    some_pairs,
    split_pairs,
    validation_split,
    value_model,
    values_of,
)
from trimetric.rl.planning import spl_of_pairs

POINTS = 5
"""points of a learning curve; with 1000 epochs, every 200 as in the paper"""
SAMPLED = 100
PARTIAL = (0.5, 0.75, 0.25)
FRACTIONS = (*PARTIAL, 1.0)
PICTURED = 0.75
"""fraction of the heat maps"""


@dataclass(frozen=True)
class Cell:
    """One head in one world."""

    world: str
    asymmetric: bool
    fraction: float
    """fraction of the goals or states for training"""
    head: str
    split: str
    """by "goal" or "state", or "validation": by goal, and tested on some of the training goals"""
    epochs: int
    seed: int


def cells_of(
    worlds: list[tuple[str, bool]],
    fractions: tuple[float, ...],
    heads: tuple[str, ...],
    epochs: int,
    seeds: tuple[int, ...],
    split: str = "goal",
) -> Iterator[Cell]:
    """Combine worlds, fractions, heads and seeds into cells."""
    for fraction, (world, asymmetric), head in itertools.product(fractions, worlds, heads):
        for seed in seeds:
            yield Cell(world, asymmetric, fraction, head, split, epochs, seed)


ASYMMETRIC = [("FourRoom", True), ("Maze", True)]
SYMMETRIC = [("FourRoom", False), ("Maze", False)]


class Values(StackedExperiment[Cell]):
    """SPL against the fraction of goals seen, heat maps, and the paper's claims."""

    name: ClassVar[str] = "values"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        """The most informative first: an interrupted sweep has complete columns."""
        if scale == "quick":
            return list(cells_of(ASYMMETRIC[:1], (0.75,), ("Euclidean", "MLP", "DN", "IQE"), 30, seeds or (0,)))
        if scale == "default":
            return list(cells_of([*ASYMMETRIC, *SYMMETRIC], (0.5, 0.75), SHOWN, 200, seeds or (0,)))
        few, more = seeds or (0, 1, 2), () if seeds else (3, 4)
        return unique(
            [
                *cells_of(ASYMMETRIC, FRACTIONS, SHOWN, 1000, few),
                *cells_of(SYMMETRIC, FRACTIONS, MAIN, 1000, few),
                *cells_of(ASYMMETRIC, PARTIAL, JUDGED, 1000, more),
                *cells_of(SYMMETRIC, PARTIAL, PAPER, 1000, more),
                *cells_of(ASYMMETRIC, (0.75,), JUDGED, 1000, few, "state"),
                *cells_of(ASYMMETRIC, (0.75, 0.5, 0.25), SUCCESSORS, 1000, few),
                *cells_of(ASYMMETRIC, (0.75,), SHOWN, 1000, few, "state"),
                *cells_of([*ASYMMETRIC, *SYMMETRIC], PARTIAL, MAIN, 1000, more),
                *cells_of(SYMMETRIC, PARTIAL, (*SUCCESSORS, CHOSEN), 1000, few),
                *cells_of(ASYMMETRIC, (0.5, 0.25), SHOWN, 1000, few, "state"),
            ]
        )

    def stack(self, cell: Cell) -> Hashable:
        """Train the seeds of a head in a world together; seeds that come later in the list, later."""
        return replace(cell, seed=0), cell.seed >= 3

    def run_batch(self, cells: list[Cell]) -> list[list[Result]]:
        worlds = [World(cell.world, asymmetric=cell.asymmetric, seed=cell.seed) for cell in cells]
        splits = [_split(world, cell) for world, cell in zip(worlds, cells, strict=True)]
        models = []
        for cell, world in zip(cells, worlds, strict=True):
            torch.manual_seed(cell.seed)
            models.append(value_model(world, (HEADS | CANDIDATES)[cell.head].build()))
        epochs = cells[0].epochs
        histories = learn_values(
            models,
            worlds,
            splits,
            seeds=[cell.seed for cell in cells],
            config=paper_config(epochs=epochs, measured_every=max(1, epochs // POINTS)),
            progress="silent",
        )
        return [_results(*run) for run in zip(cells, worlds, splits, models, histories, strict=True)]

    def tables(self, rows: list[Row]) -> list[Table]:
        sparsity, *others = tables.tables(rows)
        return [sparsity, claims.table(rows), *others]

    def figures(self, rows: list[Row]) -> list[Figure]:
        return [*plots.figures(rows), *heat.figures(rows)]

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        return findings.findings(rows, tables.architectures())

    def notes(self, rows: list[Row]) -> list[str]:
        return claims.notes(rows)


def _split(world: World, cell: Cell) -> Split:
    if cell.split == "validation":
        return validation_split(split_pairs(world, cell.fraction))
    return split_pairs(world, cell.fraction, by=cell.split)  # type: ignore[arg-type]


def _results(cell: Cell, world: World, split: Split, model: tm.Siamese, history: tm.History) -> list[Result]:
    measured = [epoch for epoch in history.epochs if epoch.watched]
    names = ("train spl", "test spl", "train mse", "test mse")
    curve = [[epoch.epoch + 1, *(epoch.watched[name] for name in names)] for epoch in measured]
    values = values_of(model, world).double()
    few = some_pairs(split.test, SAMPLED, seed=cell.seed)
    results = [Result(name, value, cell.epochs) for name, value in measured[-1].watched.items()]
    results += [
        Result("test spl sampled", evaluate_values(world, values, few, goal_value="learned").spl, cell.epochs),
        Result("curve", curve, cell.epochs),
        Result("step ms", 1000 * _seconds_per_step(history, len(split.train)), cell.epochs),
    ]
    if cell.fraction == PICTURED and cell.seed == 0:
        spl = spl_of_pairs(world, follow(world, greedy_actions(world, values)))
        pictures = {"values": values, "spl": spl}
        results += [
            Result(f"picture {name}", [_rounded(of[0]), _rounded(of[:, 0])], cell.epochs)
            for name, of in pictures.items()
        ]
    return results


def _seconds_per_step(history: tm.History, pairs: int) -> float:
    """Seconds of a step of all members of the batch together."""
    return sum(epoch.seconds for epoch in history.epochs) / (len(history.epochs) * -(-pairs // 128))


def _rounded(numbers: torch.Tensor) -> list[float]:
    return [round(number, 4) for number in numbers.tolist()]
