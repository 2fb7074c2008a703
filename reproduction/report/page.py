"""The report: one page with every table and figure, ours next to the paper's, made from the ledgers alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

import trimetric
from reproduction.frame.experiment import SCALES, Experiment, key_of
from reproduction.frame.ledger import Ledger
from reproduction.frame.paper import LABELS, SETTINGS, printed_values
from reproduction.frame.registry import Entry
from reproduction.frame.rows import Row
from reproduction.frame.tables import Column, Measured, Table, format_printed, format_spread, format_value

HERE = Path(__file__).parent
DEVIATIONS = HERE.parents[1] / "docs" / "deviations.md"
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


@dataclass(frozen=True)
class FigureView:
    """A figure as the page shows it."""

    title: str
    alt: str
    uri: str
    broad: bool
    """much wider than tall: on a phone it is scrolled, not shrunk"""
    command: str


@dataclass(frozen=True)
class Section:
    """One section of the page: a table or figure of the paper, or one that an experiment adds."""

    label: str
    title: str
    status: str
    """what is missing, if anything"""
    tables: list[TableView]
    figures: list[FigureView]
    notes: list[str]


def write_page(experiments: Mapping[str, Entry], results: Path, page: Path) -> None:
    """Write the report.

    Args:
        experiments: what it shows, by name.
        results: folder of the ledgers.
        page: file to write.
    """
    verdicts: Counter[str] = Counter()
    made: dict[str, Section] = {}
    commits: set[str] = set()
    for name, entry in experiments.items():
        rows = Ledger(results / f"{name}.jsonl").rows()
        commits |= {row.commit for row in rows}
        for section in _sections(entry.load(), entry.titles, rows, verdicts):
            made[section.label] = section
    paper = [made.pop(label, None) or _unmade(label, verdicts) for label in LABELS]
    sections = [*paper, *made.values()]
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    html = environment.get_template("report.html.jinja").render(
        sections=sections,
        verdicts=verdicts,
        deviations=_deviations(DEVIATIONS.read_text()),
        version=trimetric.__version__,
        commits=sorted(commits - {""}),
    )
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(html)


def _sections(
    experiment: Experiment[Any], titles: Mapping[str, str], rows: list[Row], verdicts: Counter[str]
) -> list[Section]:
    """Sort the tables and figures of an experiment into its sections; one with another label follows the one before it.

    Args:
        titles: the titles of the sections by label, at least one.
    """
    tables: dict[str, list[TableView]] = {label: [] for label in titles}
    figures: dict[str, list[FigureView]] = {label: [] for label in titles}
    first = home = next(iter(titles))
    runs: set[tuple[str, int]] = set()
    for table in experiment.tables(rows):
        home = table.label if table.label in tables else home
        runs |= table.runs
        made_by = table.command or _command(experiment, table.runs)
        if table.rows:
            tables[home].append(_table(table, made_by, verdicts))
    home = first
    command = _command(experiment, runs or {(row.config, row.seed) for row in rows})
    for figure in experiment.figures(rows):
        home = figure.label if figure.label in figures else home
        figures[home].append(FigureView(figure.title, figure.alt, figure.data_uri(), figure.broad, command))
    notes = [note for note in experiment.notes(rows) if note]
    sections = []
    for label, title in titles.items():
        there = figures[label] or any(
            cell.sort for table in tables[label] for _, cells in table.lines for cell in cells
        )
        made_by = tables[label][0].command if tables[label] else command
        status = "" if there else f"No runs yet: {made_by} makes it."
        sections.append(Section(label, title, status, tables[label], figures[label], notes if label == first else []))
    return sections


def _command(experiment: Experiment[Any], runs: set[tuple[str, int]]) -> str:
    """The command that makes these runs: the smallest budget that has all, with their seeds if needed; or several."""
    command = f"python -m reproduction {experiment.name}"
    if not runs:
        return command
    commands: list[tuple[str, set[tuple[str, int]]]] = []
    for seeds in (None, tuple(sorted({seed for _, seed in runs}))):
        for scale in SCALES:
            keys = (key_of(experiment.name, cell) for cell in experiment.cells(scale, seeds))
            flag = "" if scale == "default" else f" --{scale}"
            flag += "" if seeds is None else " --seeds " + " ".join(map(str, seeds))
            commands.append((command + flag, runs & {(key.config, key.seed) for key in keys}))
    for text, made in commands:
        if made == runs:
            return text
    return " and ".join(text for text, made in commands if made and "--seeds" not in text)


def _unmade(label: str, verdicts: Counter[str]) -> Section:
    """Show the paper's numbers alone, if no experiment makes the table yet."""
    values = printed_values(label)
    tables = []
    if values:
        columns = list(dict.fromkeys(column for row in values.values() for column in row))
        table = Table(
            label=label,
            title=label,
            columns=[Column(name, better=None if label in SETTINGS else "lower") for name in columns],
            rows=list(values),
            cells={},
        )
        tables.append(_table(table, "", verdicts))
    return Section(label, label, "No experiment makes this yet.", tables, [], [])


def _table(table: Table, command: str, verdicts: Counter[str]) -> TableView:
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


def _deviations(text: str) -> Markup:
    """Render the numbered deviations as HTML, each with an anchor."""
    body = text.partition("\n")[2]  # without the heading of the file, as the page has its own
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(body)
    html = re.sub(r"<(/?)h2>", r"<\1h3>", html)
    return Markup(re.sub(r"<p><strong>(D\d+)\.", r'<p id="\1"><strong>\1.', html))
