"""Tables as the page shows them: ours next to the paper's, with what is behind each cell."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

from reproduction.frame.tables import Column, Measured, Table, format_printed, format_spread, format_value

_NUMBER = re.compile(r"[-\d.,e]+")


@dataclass(frozen=True)
class CellView:
    """A cell as the page shows it."""

    value: str
    sort: str
    """the key by which the column is sorted; an empty one comes last"""
    spread: str = ""
    paper: str = ""
    verdict: str = ""
    behind: tuple[str, ...] = ()
    """numbers of seeds and epochs, one line each"""
    is_text: bool = False


@dataclass(frozen=True)
class TableView:
    """A table as the page shows it."""

    title: str
    corner: str
    columns: list[str]
    lines: list[tuple[str, list[CellView]]]
    every: str
    """the lines that are the same behind all cells"""
    note: Markup
    command: str


def table_view(table: Table, command: str, verdicts: Counter[str]) -> TableView:
    """Lay out a table.

    Args:
        table: what is shown.
        command: that makes it.
        verdicts: counts how many cells beat, match or miss the paper's, and is extended.
    """
    lines = []
    for row in table.rows:
        views = [_cell(table, row, column) for column in table.columns]
        for column, view in zip(table.columns, views, strict=True):
            if table.comparable(row, column):
                verdicts[view.verdict or "empty"] += 1
        lines.append((row, views))
    lines, every = _told_once(lines)
    columns = [column.name for column in table.columns]
    return TableView(table.title, table.corner, columns, lines, every, _linked(table.note), command)


def _told_once(lines: list[tuple[str, list[CellView]]]) -> tuple[list[tuple[str, list[CellView]]], str]:
    """Remove the lines that are the same behind all cells; returns the shorter cells, and these lines."""
    behind = [view.behind for _, views in lines for view in views if view.behind]
    if len(behind) < 2:
        return lines, ""
    alike = [line for line in behind[0] if all(line in each for each in behind)]
    shorter = [
        (row, [replace(view, behind=tuple(line for line in view.behind if line not in alike)) for view in views])
        for row, views in lines
    ]
    return shorter, ", ".join(alike)


def _cell(table: Table, row: str, column: Column) -> CellView:
    cell, paper = table.cells.get((row, column.name)), table.printed(row, column.name)
    theirs = "" if paper is None else format_printed(paper)
    if cell is None:
        return CellView("no run", "", paper=theirs)
    if isinstance(cell, str):
        return CellView(cell, cell, paper=theirs, is_text=not _NUMBER.fullmatch(cell))
    return CellView(
        value=format_value(cell, column),
        sort=repr(cell.value),
        spread="" if cell.statistic == "best" else format_spread(cell, column),
        paper=theirs,
        verdict=table.verdict(row, column) or "",
        behind=_behind(cell, column, table.trained_in),
    )


def _behind(cell: Measured, column: Column, trained_in: str) -> tuple[str, ...]:
    if not cell.seeds:
        return ()
    lines = ["1 seed" if cell.seeds == 1 else f"{cell.seeds} seeds"]
    if cell.statistic == "best" and cell.seeds > 1:
        lines = [f"best of {cell.seeds} seeds", format_spread(cell, column)]
    return (*lines, f"{cell.epochs:,} {trained_in}") if cell.epochs else tuple(lines)


def _linked(text: str) -> Markup:
    """Turn the names of deviations into links."""
    return Markup(re.sub(r"\bD(\d+)\b", r'<a href="#D\1">D\1</a>', str(escape(text))))
