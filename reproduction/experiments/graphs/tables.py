"""The tables of the graph experiments, with depth and weight decay chosen on validation pairs."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reproduction.experiments.graphs.cells import BASELINE, SAMPLE, SIZES
from reproduction.experiments.graphs.data import MAP, NAMES, ROADS, SYMMETRIC, held_out
from reproduction.experiments.graphs.heads import HEADS, OURS, PAPER
from reproduction.frame.paper import paper_values
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize

Cells = dict[tuple[str, str], Measured | str | None]
MOST = SIZES[-1]
BOUNDS = {"landmarks": "lower", "affine fit": "affine"}
"""columns of bounds from landmarks, which need no training; the first is a quasimetric"""
PROTOCOLS = {
    "fast": "our fast protocol: 20 epochs of AdamW, calibrated, a SiLU encoder, the rate decays to 0 along a cosine",
    "paper": "the paper's protocol: 1000 epochs of Adam, the rate divided by 5 every 250",
    "quick": "small grids, 400 steps: not comparable with the paper",
}


@dataclass(frozen=True)
class Choice:
    """The settings of a head that were best on validation pairs, and the rows of its runs."""

    settings: dict[str, Any]
    validation: float
    rows: list[Row]

    def measured(self, metric: str) -> Measured | None:
        return summarize([row for row in self.rows if row.metric == metric])


class Runs:
    """Rows grouped by cell of the table, so that each is found at once.

    Args:
        rows: of the ledger.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.groups: dict[tuple[str, str, str, int], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            s = row.settings
            if s["head"] != BASELINE and (s["protocol"] == "quick" or (s["side"] == 0 and s["sample"] == SAMPLE)):
                self.groups[s["protocol"], s["graph"], s["head"], s["pairs"]][row.config].append(row)

    def protocols(self) -> list[str]:
        there = {protocol for protocol, *_ in self.groups}
        return [protocol for protocol in PROTOCOLS if protocol in there]

    def sizes(self, protocol: str) -> list[int]:
        return sorted({key[3] for key in self.groups if key[0] == protocol})

    def depths(self, protocol: str, graphs: Collection[str]) -> list[int]:
        """Depths that were run with several numbers of training pairs on one of the graphs; all depths if none was."""
        sizes: dict[tuple[int, str], set[int]] = defaultdict(set)
        for (own, graph, _, size), configs in self.groups.items():
            if own == protocol and graph in graphs:
                for rows in configs.values():
                    sizes[rows[0].settings["depth"], graph].add(size)
        return sorted({depth for (depth, _), own in sizes.items() if len(own) > 1} or {depth for depth, _ in sizes})

    def choice(
        self, protocol: str, graph: str, head: str, pairs: int, where: Mapping[str, Any] | None = None
    ) -> Choice | None:
        """Choose the configuration with the smallest mean validation error over its seeds.

        Args:
            protocol: name of the protocol.
            graph: name of the graph.
            head: name of the head.
            pairs: number of training pairs.
            where: settings that the configuration must have.
        """
        choices = []
        for rows in self.groups.get((protocol, graph, head, pairs), {}).values():
            settings = rows[0].settings
            if all(settings[name] == value for name, value in (where or {}).items()):
                errors = [row.value for row in rows if row.metric == "validation mse"]
                choices.append(Choice(settings, statistics.fmean(errors), rows))
        return min(choices, key=lambda choice: choice.validation) if choices else None


def tables(rows: list[Row]) -> list[Table]:
    """Make all tables."""
    runs = Runs(rows)
    results = [table for protocol in ("fast", "paper") for table in _of_protocol(rows, runs, protocol)]
    quick = _of_protocol(rows, runs, "quick") if "quick" in runs.protocols() else []
    return [_stats(rows), *results, *quick]


def _of_protocol(rows: list[Row], runs: Runs, protocol: str) -> list[Table]:
    if protocol == "paper" and protocol not in runs.protocols():
        return []
    small = protocol == "quick"
    size = max(runs.sizes(protocol), default=MOST) if small else MOST
    label = "table_graph_quick" if small else "table_graph_results"
    words = f"{size:,} training pairs, {PROTOCOLS[protocol]}"
    errors = _errors(rows, runs, protocol, size, "mse", label, f"Test MSE at mean distance 50, {words}", _RESULTS)
    if protocol not in runs.protocols():
        return [errors]
    return [
        errors,
        _errors(
            rows,
            runs,
            protocol,
            size,
            "mean relative error",
            f"table_graph_relative_{protocol}",
            f"Mean relative error, {words}",
            "The settings are those chosen for the table of squared errors.",
        ),
        _chosen(runs, protocol, size),
    ]


_RESULTS = (
    f"Depth of the encoder and weight decay are chosen, among those that were run, on {held_out(SAMPLE):,} validation "
    "pairs (small grids have 1,000); the error is that of as many test pairs after the last epoch. MLPs and the affine "
    "fit are not metrics. In the paper's protocol, the paper's five heads start uncalibrated; all others are "
    "calibrated, including the MLP. The landmark columns need no training. The road network of `to` is that of a "
    "different city. See deviations D29, D30, D31, D32 and D33."
)


def _stats(rows: list[Row]) -> Table:
    columns = [
        Column("vertices", better="equal", format=",.0f"),
        Column("edges", better="equal", format=",.0f"),
        Column("max(d)", better="equal", format=".1f", tolerance=0.05),
        Column("sigma_d", better="equal", format=".2f", tolerance=0.05),
    ]
    cells: Cells = {}
    for graph in NAMES:
        where = {"graph": graph, "head": BASELINE, "side": 0, "sample": SAMPLE}
        for column in columns:
            cells[graph, column.name] = summarize(pick(rows, column.name, where))
        cells[graph, "data s"] = summarize(pick(rows, "data seconds", where))
        engines = pick(rows, "engine", where)
        cells[graph, "engine"] = engines[0].value if engines else None
    maps = sorted({row.settings["map"] for row in rows if row.settings["map"]})
    return Table(
        label="table_graph_stats",
        title=f"The graphs, with distances of {SAMPLE:,} random pairs scaled to mean 50",
        corner="graph",
        columns=[*columns, Column("data s", better=None, format=".0f"), Column("engine", better=None)],
        rows=list(NAMES),
        cells=cells,
        other_data=frozenset(ROADS),
        note="Generated with seed 0. Largest distance and deviation are those of random pairs and match within 5 %. "
        + (f"Roads: {', '.join(maps)}, (c) OpenStreetMap contributors, ODbL. " if maps else "")
        + "Data: seconds for pairs and landmarks, fewer if an interrupted run was resumed. "
        "The largest distance of 3dd: see the table of the paper's search. See deviation D29.",
    )


def _errors(
    rows: list[Row], runs: Runs, protocol: str, size: int, metric: str, label: str, title: str, note: str
) -> Table:
    cells: Cells = {}
    for graph in NAMES:
        for head in HEADS:
            if (choice := runs.choice(protocol, graph, head, size)) is not None:
                cells[graph, head] = choice.measured(metric)
            elif HEADS[head].asymmetric and graph in SYMMETRIC and (graph, "WN") in cells:
                cells[graph, head] = "as WN"
        where: dict[str, Any] = {"graph": graph, "head": BASELINE, "pairs": size}
        if protocol != "quick":
            where |= {"side": 0, "sample": SAMPLE}
        for column, bound in BOUNDS.items():
            found = [row for row in pick(rows, f"{bound} {metric}", where) if (protocol == "quick") == _small(row)]
            if found:
                cells[graph, column] = summarize(found)
    shown = {column for _, column in cells} | set(PAPER)
    form = ".3g" if metric == "mse" else ".2%"
    return Table(
        label=label,
        title=title,
        corner="graph",
        columns=[Column(name, format=form) for name in (*PAPER, *OURS, *BOUNDS) if name in shown],
        rows=[graph for graph in NAMES if protocol != "quick" or any(row == graph for row, _ in cells)],
        cells=cells,
        other_data=frozenset(ROADS),
        note=note,
    )


def _small(row: Row) -> bool:
    return row.settings["sample"] != SAMPLE


def _chosen(runs: Runs, protocol: str, size: int) -> Table:
    cells: Cells = {}
    for graph in NAMES:
        for head in HEADS:
            if (choice := runs.choice(protocol, graph, head, size)) is not None:
                cells[graph, head] = f"depth {choice.settings['depth']}, decay {choice.settings['weight_decay']:g}"
    return Table(
        label=f"table_graph_chosen_{protocol}",
        title=f"What validation chose, {size:,} training pairs, {protocol} protocol",
        corner="graph",
        columns=[Column(name, better=None) for name in HEADS if any(head == name for _, head in cells)],
        rows=[graph for graph in NAMES if any(row == graph for row, _ in cells)],
        cells=cells,
        note="The heads: " + "; ".join(f"{name}: {head.about}" for name, head in HEADS.items()) + ".",
    )


def notes(rows: list[Row]) -> list[str]:
    """Write the best heads of each graph, and what is missing."""
    runs = Runs(rows)
    texts = [text for protocol in runs.protocols() if protocol != "quick" for text in _verdicts(runs, protocol)]
    if rows and not any(row.settings["graph"] in ROADS for row in rows):
        texts.append(f"No road network was run: set {MAP} to a map (.osm.pbf, .gr) for `to` and `to directed`.")
    return texts


def _verdicts(runs: Runs, protocol: str) -> list[str]:
    """The metric and the plain network that validation prefers, next to the paper's best (on its test pairs)."""
    texts = []
    for graph in NAMES:
        found = {
            head: choice for head in HEADS if (choice := runs.choice(protocol, graph, head, MOST, None)) is not None
        }
        parts = []
        for what, metric in (("best metric", True), ("best MLP", False)):
            names = [head for head in found if HEADS[head].metric == metric]
            if not names:
                continue
            best = min(names, key=lambda head: found[head].validation)
            cell = found[best].measured("mse")
            theirs = [
                value
                for head, value in paper_values("table_graph_results").get(graph, {}).items()
                if HEADS[head].metric == metric
            ]
            reference = f" (paper {min(theirs):g})" if theirs else ""
            parts.append(f"{what} {best} {cell.value:.3g}{reference}" if cell is not None else "")
        if parts:
            texts.append(f"{graph}, {protocol}: {', '.join(parts)}")
    return texts
