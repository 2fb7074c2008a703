"""Print the tables of an experiment on a terminal, and save its figures in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from reproduction.frame.experiment import Experiment
from reproduction.frame.rows import Row
from reproduction.frame.tables import Column, Measured, Table, format_printed, format_spread, format_value


def show(experiment: Experiment[Any], rows: list[Row], console: Console, out: Path) -> None:
    """Print the tables and notes of an experiment, and save its figures.

    Args:
        experiment: what is shown.
        rows: of its ledger.
        console: where to print.
        out: folder for the figures.
    """
    for table in experiment.tables(rows):
        console.print(make_grid(table))
        if table.note:
            console.print(table.note, highlight=False)
        console.print()
    for note in experiment.notes(rows):
        console.print(note, markup=False, highlight=False, soft_wrap=True)
    for figure in experiment.figures(rows):
        path = figure.save(out)
        console.print(f"\n{figure.title}: {path}", highlight=False, soft_wrap=True)


def make_grid(table: Table) -> Grid:
    """Lay out a table; next to each column that the paper prints, the paper's numbers."""
    out = Grid(title=table.title)
    out.add_column(table.corner)
    for column in table.columns:
        out.add_column(column.name, justify="right")
        if table.has_paper(column):
            out.add_column("the paper's", justify="right")
    for row in table.rows:
        line = [row]
        for column in table.columns:
            line.append(_text(table.cells.get((row, column.name)), column))
            if table.has_paper(column):
                printed = table.printed(row, column.name)
                line.append("" if printed is None else format_printed(printed))
        out.add_row(*line)
    return out


def _text(cell: Measured | str | None, column: Column) -> str:
    if cell is None or isinstance(cell, str):
        return cell or ""
    return (
        format_value(cell, column)
        if cell.statistic == "best"
        else f"{format_value(cell, column)} {format_spread(cell, column)}".strip()
    )
