"""The report: one page with every table and figure, ours next to the paper's, made from the ledgers alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

import trimetric
from reproduction.frame.experiment import SCALES, Experiment, Scale, key_of
from reproduction.frame.figures import Image
from reproduction.frame.ledger import Ledger
from reproduction.frame.paper import LABELS, SETTINGS, printed_values
from reproduction.frame.registry import Entry
from reproduction.frame.rows import Rows
from reproduction.frame.tables import Column, Table
from reproduction.report.overview import OverviewRow, count_verdicts, overview_row
from reproduction.report.provenance import origin_of
from reproduction.report.table_view import TableView, table_view

HERE = Path(__file__).parent
DEVIATIONS = HERE.parents[1] / "docs" / "deviations.md"


@dataclass(frozen=True)
class FigureView:
    """A figure as the page shows it."""

    title: str
    alt: str
    image: Image
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
    row: OverviewRow
    """of the overview"""
    tables: list[TableView]
    figures: list[FigureView]
    notes: list[str]
    cells: Counter[str]
    """how many cells beat, match or miss the paper's"""


def write_page(experiments: Mapping[str, Entry], results: Path, page: Path) -> None:
    """Write the report.

    Args:
        experiments: what it shows, by name.
        results: folder of the ledgers.
        page: file to write.
    """
    verdicts: Counter[str] = Counter()
    made: dict[str, Section] = {}
    origins = []
    for name, entry in experiments.items():
        rows = Ledger(results / f"{name}.jsonl").rows()
        if rows:
            origins.append(origin_of(name, rows))
        for section in _sections(entry, rows):
            made[section.label] = section
            verdicts += section.cells
    paper = [made.pop(label, None) or _unmade(label) for label in LABELS]
    beyond = list(made.values())
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    html = environment.get_template("report.html.jinja").render(
        paper=paper,
        beyond=beyond,
        claims=count_verdicts([section.row for section in paper]),
        verdicts=verdicts,
        deviations=_deviations(DEVIATIONS.read_text()),
        version=trimetric.__version__,
        origins=origins,
    )
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(html)


def _sections(entry: Entry, rows: Rows) -> list[Section]:
    """Sort the tables and figures of an experiment into its sections; one with another label follows the one before it.

    Args:
        entry: the experiment; it has at least one section.
        rows: of its ledger.
    """
    experiment, titles = entry.load(), entry.titles
    tables: dict[str, list[TableView]] = {label: [] for label in titles}
    figures: dict[str, list[FigureView]] = {label: [] for label in titles}
    verdicts: dict[str, Counter[str]] = {label: Counter() for label in titles}
    first = home = next(iter(titles))
    runs: set[tuple[str, int]] = set()
    for table in experiment.tables(rows):
        home = table.label if table.label in tables else home
        runs |= table.runs
        made_by = table.command or _command(experiment, table.runs)
        if table.rows:
            tables[home].append(table_view(table, made_by, verdicts[home]))
    home = first
    command = _command(experiment, runs or {(row.config, row.seed) for row in rows})
    for figure in experiment.figures(rows):
        home = figure.label if figure.label in figures else home
        figures[home].append(FigureView(figure.title, figure.alt, figure.image(), figure.broad, command))
    notes = [note for note in experiment.notes(rows) if note]
    findings = experiment.findings(rows)
    sections = []
    for label, title in titles.items():
        there = bool(figures[label]) or any(
            cell.sort for table in tables[label] for _, cells in table.lines for cell in cells
        )
        made_by = tables[label][0].command if tables[label] else command
        claim = entry.claims.get(label, "")
        sections.append(
            Section(
                label=label,
                title=title,
                status="" if there else f"No runs yet: {made_by} makes it.",
                row=overview_row(
                    label,
                    entry.name,
                    title,
                    claim,
                    findings.get(label),
                    verdicts[label],
                    runs=there,
                    figures=len(figures[label]),
                ),
                tables=tables[label],
                figures=figures[label],
                notes=notes if label == first else [],
                cells=verdicts[label],
            )
        )
    return sections


def _command(experiment: Experiment[Any], runs: set[tuple[str, int]]) -> str:
    """The command that makes these runs: the smallest budget that has all, with their seeds if needed; or several."""
    command = f"python -m reproduction {experiment.name}"
    if not runs:
        return command
    made: dict[str, set[tuple[str, int]]] = {}
    for seeds in (None, tuple(sorted({seed for _, seed in runs}))):
        for scale in SCALES:
            flag = "" if scale == "default" else f" --{scale}"
            flag += "" if seeds is None else " --seeds " + " ".join(map(str, seeds))
            made[command + flag] = runs & _runs_of(experiment, scale, seeds)
            if made[command + flag] == runs:
                return command + flag
    return " and ".join(text for text, some in made.items() if some and "--seeds" not in text)


@lru_cache(maxsize=64)  # the tables of an experiment ask for the same budgets
def _runs_of(experiment: Experiment[Any], scale: Scale, seeds: tuple[int, ...] | None) -> frozenset[tuple[str, int]]:
    keys = (key_of(experiment.name, cell) for cell in experiment.cells(scale, seeds))
    return frozenset((key.config, key.seed) for key in keys)


def _unmade(label: str) -> Section:
    """Show the paper's numbers alone, if no experiment makes the table yet."""
    values = printed_values(label)
    tables, verdicts = [], Counter[str]()
    if values:
        columns = list(dict.fromkeys(column for row in values.values() for column in row))
        table = Table(
            label=label,
            title=label,
            columns=[Column(name, better=None if label in SETTINGS else "lower") for name in columns],
            rows=list(values),
            cells={},
        )
        tables.append(table_view(table, "", verdicts))
    row = overview_row(label, label, label, "", None, verdicts, runs=False, figures=0)
    return Section(label, label, "No experiment makes this yet.", row, tables, [], [], verdicts)


def _deviations(text: str) -> Markup:
    """Render the numbered deviations as HTML, each with an anchor."""
    body = text.partition("\n")[2]  # without the heading of the file, as the page has its own
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(body)
    html = re.sub(r"<(/?)h2>", r"<\1h3>", html)
    return Markup(re.sub(r"<p><strong>(D\d+)\.", r'<p id="\1"><strong>\1.', html))
