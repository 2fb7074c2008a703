"""Distances from logged episodes: heads and objectives in worlds with goals, with equal budgets."""

from __future__ import annotations

from reproduction.experiments.rl.cells import Cell, cells_of
from reproduction.experiments.rl.runs import run_cell
from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.rows import Row
from reproduction.frame.tables import Table


class Reinforcement(Experiment[Cell]):
    """Learn, plan, act, and compare with the published and with baselines that learn nothing."""

    name = "rl"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        return cells_of(scale, seeds)

    def run(self, cell: Cell) -> list[Result]:
        return run_cell(cell)

    def tables(self, rows: list[Row]) -> list[Table]:  # noqa: ARG002
        return []
