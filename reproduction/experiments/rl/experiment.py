"""Distances from logged episodes: heads and objectives in worlds with goals, with equal budgets."""

from __future__ import annotations

from collections.abc import Mapping

from reproduction.experiments.rl.cells import LOOKAHEAD, Cell, cells_of
from reproduction.experiments.rl.findings import directed_finding, objectives_finding, pointmaze_finding
from reproduction.experiments.rl.tables import directed_table, heads_table, objectives_table, pointmaze_table
from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.figures import Figure
from reproduction.frame.findings import Finding
from reproduction.frame.rows import Row, Rows
from reproduction.frame.tables import Table


class Reinforcement(Experiment[Cell]):
    """Learn, plan, act, and compare with the published and with baselines that learn nothing."""

    name = "rl"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        return cells_of(scale, seeds)

    def run(self, cell: Cell) -> list[Result]:
        from reproduction.experiments.rl.runs import run_cell  # needs MuJoCo, which tables do without

        return run_cell(cell)

    def tables(self, rows: list[Row]) -> list[Table]:
        rows = _present(rows)
        return [pointmaze_table(rows), directed_table(rows), heads_table(rows), objectives_table(rows)]

    def figures(self, rows: list[Row]) -> list[Figure]:
        from reproduction.experiments.rl.plots import figures_of

        return figures_of(_present(rows))

    def findings(self, rows: list[Row]) -> Mapping[str, Finding]:
        rows = _present(rows)
        found = {
            "table_rl_pointmaze": pointmaze_finding(rows),
            "table_rl_directed": directed_finding(rows),
            "table_rl_objectives": objectives_finding(rows),
        }
        return {label: finding for label, finding in found.items() if finding is not None}


def _present(rows: list[Row]) -> list[Row]:
    """Leave out rows of planners that did not look ahead."""
    return Rows(row for row in rows if row.settings.get("lookahead") == LOOKAHEAD)
