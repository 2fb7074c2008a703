"""Find the head that plans best to goals on which it was not trained; the search never uses the test goals."""

from __future__ import annotations

from statistics import fmean
from typing import ClassVar

from reproduction.experiments.values.experiment import ASYMMETRIC, Cell, Values, cells_of
from reproduction.experiments.values.heads import CANDIDATES
from reproduction.experiments.values.tables import WORLDS, Cells
from reproduction.frame.experiment import Scale
from reproduction.frame.figures import Figure
from reproduction.frame.findings import Finding
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize

FRACTION = 0.5
SPLIT = "validation"
COLUMNS = ("4-Room asym", "Maze asym")


class ValuesSearch(Values):
    """Heads in the asymmetric worlds with half of the goals: trained on the first 70 % of these, tested on the rest."""

    name: ClassVar[str] = "values-search"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        if scale == "quick":
            return list(cells_of(ASYMMETRIC[1:], (FRACTION,), ("WN", "MRN"), 30, seeds or (0,), SPLIT))
        epochs, own = (1000, (0, 1, 2)) if scale == "paper" else (200, (0,))
        return [
            cell
            for head in CANDIDATES
            for cell in cells_of(ASYMMETRIC[::-1], (FRACTION,), (head,), epochs, seeds or own, SPLIT)
        ]

    def tables(self, rows: list[Row]) -> list[Table]:
        cells: Cells = {
            (head, world): cell
            for head in CANDIDATES
            for world in COLUMNS
            if (cell := summarize(pick(rows, "test spl", {**WORLDS[world], "head": head, "split": SPLIT})))
        }
        return [
            Table(
                label="table_value_search",
                title="Choosing a head: SPL on validation goals",
                corner="head",
                columns=[Column(world, better="higher", format=".3f") for world in COLUMNS],
                rows=[head for head in CANDIDATES if any(row == head for row, _ in cells)],
                cells=cells,
                note=f"{self.__doc__} "
                + "; ".join(f"{name}: {head.about}" for name, head in CANDIDATES.items())
                + ". Test goals are not used.",
            )
        ]

    def figures(self, rows: list[Row]) -> list[Figure]:  # noqa: ARG002
        return []

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        (table,) = self.tables(rows)
        means = {
            head: fmean(cell.value for cell in found)
            for head in table.rows
            if len(found := [cell for world in COLUMNS if isinstance(cell := table.cells.get((head, world)), Measured)])
            == len(COLUMNS)
        }
        if not means:
            return {}
        first, *others = sorted(means, key=lambda head: -means[head])
        then = f"; then {others[0]} {means[others[0]]:.3f}" if others else ""
        return {table.label: Finding(f"{first}: mean SPL {means[first]:.3f} on validation goals{then}")}

    def notes(self, rows: list[Row]) -> list[str]:  # noqa: ARG002
        return []
