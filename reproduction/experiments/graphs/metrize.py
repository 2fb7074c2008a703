"""A network made a metric: what the guarantee costs on the graphs of the paper.

Everything is trained on denoised features (`tm.Denoiser`, one per graph) and 50,000 pairs.  f is the mean of two MLPs;
the corridor keeps it above a Toll IQE that learned from it, and a Toll IQE is distilled from it.  The floor of the
corridor is chosen on validation pairs; all errors are those of test pairs, read once.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

from reproduction.experiments.graphs.cells import FAST_EPOCHS, QUICK_SIDES, SAMPLE, SIZES, available_graphs
from reproduction.experiments.graphs.data import NAMES, ROADS, Source, load
from reproduction.experiments.graphs.heads import HEADS
from reproduction.experiments.graphs.tables import Runs
from reproduction.frame.experiment import Experiment, Result, Scale, added_later
from reproduction.frame.findings import Finding, check, find
from reproduction.frame.ledger import RESULTS, Ledger
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize

METHODS = {
    "MLP denoised": "one MLP on denoised features, no metric",
    "MLP ensemble": "f: the mean of two of them, no metric",
    "corridor": "f in a corridor above a Toll IQE, a metric with a floor",
    "band": "f within a factor of two, without a base, a metric with a floor; where all pairs are far apart",
    "distilled": "a Toll IQE distilled from f, a metric",
    "joint": "one MLP and its base trained together on the pairs, a metric with a floor",
}
METRICS = ("corridor", "band", "distilled", "joint")
FAR_APART = ("3dd",)
"""graphs without near pairs, where a band is worth trying"""
BEST_METRIC, BEST_NETWORK = "best metric before", "tuned MLP before"
"""columns from the ledger of `graphs`, chosen on validation pairs"""
LONG = {"epochs": 80, "steps": 18_000, "weight_decay": 0.03}
"""on roads, where networks of 20 epochs have not learned enough"""
SETTINGS: dict[str, dict[str, Any]] = {
    "3d": {"head": "wide Toll IQE", "weight_decay": 0.03, "pull": 0.1},
    "3dr": {"weight_decay": 0.03, "pull": 0.1},
    "push": {"weight_decay": 0.1, "pull": 0.05},
    "to directed": {"head": "wide Toll IQE", "member": "wide MLP", "member_decay": 0.1, **LONG},
    "to": {"head": "wide Toll IQE", "member": "wide MLP", "member_decay": 0.1, **LONG},
}
"""of the networks, the base and the student, by graph; tried out on validation pairs of seed 0, those of `to` taken
over from `to directed`"""
GRAPHS = ("3d", "3dr", "to directed", "push", "to", "taxi", "3dd")
"""the order of the runs: those whose data take least time first"""


@dataclass(frozen=True)
class Cell:
    """One method on one graph."""

    graph: str
    method: str
    seed: int
    pairs: int = SIZES[-1]
    members: int = 2
    """networks of the ensemble"""
    epochs: int = FAST_EPOCHS
    """of the networks, and of the joint training"""
    denoising: int = 2000
    """steps of the denoiser; 0 for features as they are"""
    steps: int = 3000
    """of the base, and of the student"""
    batch_size: int = 1024
    """pairs without labels per step"""
    head: str = "Toll IQE"
    """of the base, and of the student"""
    weight_decay: float = 0.1
    pull: float = 0.1
    floor: float = 6.0
    """of the joint training; elsewhere it is chosen"""
    side: int = 0
    sample: int = SAMPLE
    landmarks: str = "farthest"
    map: str = ""
    member: str = added_later("MLP")
    member_decay: float = added_later(1.0)
    """of the networks"""


class GraphsMetrize(Experiment[Cell]):
    """An ensemble without a guarantee, and the metrics that are made of it."""

    name: ClassVar[str] = "graphs-metrize"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        own = seeds or ((0,) if scale == "quick" else (0, 1, 2))
        maps = available_graphs()
        if scale == "quick":
            small: dict[str, Any] = {"pairs": 2_000, "epochs": 5, "denoising": 200, "steps": 100, "batch_size": 256}
            return [
                Cell(graph, method, seed, side=QUICK_SIDES[graph], sample=8_000, **small)
                for graph, seed, method in itertools.product(("3d", "3dr"), own, METHODS)
                if method != "band"
            ]
        first, last = [method for method in METHODS if method != "joint"], ["joint"]
        order = [
            *itertools.product(own[:1], GRAPHS[:4], first),
            *itertools.product(own[1:], GRAPHS[:4], first),
            *itertools.product(own[:1], GRAPHS[:4], last),
            *itertools.product(own[:1], GRAPHS[4:], first),
            *itertools.product(own[1:], GRAPHS[4:], first),
            *itertools.product(own[:1], GRAPHS[4:], last),
            *itertools.product(own[1:], GRAPHS, last),
        ]
        return [
            Cell(graph, method, seed, map=maps[graph], **SETTINGS.get(graph, {}))
            for seed, graph, method in order
            if graph in maps and (method != "band" or graph in FAR_APART)
        ]

    def run(self, cell: Cell) -> list[Result]:
        from reproduction.experiments.graphs.metrize_runs import run

        return run(load(Source(cell.graph, cell.map, cell.side, cell.sample, cell.landmarks)), cell)  # type: ignore[arg-type]

    def tables(self, rows: list[Row]) -> list[Table]:
        full = [row for row in rows if _by_this_recipe(row)]
        columns = (BEST_METRIC, *(method for method in METHODS if method in METRICS), BEST_NETWORK, *METHODS)
        columns = tuple(dict.fromkeys(columns))
        cells: dict[tuple[str, str], Measured | str | None] = {}
        graphs = [graph for graph in NAMES if any(row.settings["graph"] == graph for row in full)]
        before = Runs(Ledger(RESULTS / "graphs.jsonl").rows()) if graphs else None
        for graph in graphs:
            for method in METHODS:
                cells[graph, method] = _error(full, graph, method)
            if before is not None:
                cells[graph, BEST_METRIC] = _best(before, graph, metric=True)
                cells[graph, BEST_NETWORK] = _best(before, graph, metric=False)
        return [
            Table(
                label="table_graph_metrize",
                title=f"Test MSE at mean distance 50, {SIZES[-1]:,} training pairs, on denoised features",
                corner="graph",
                columns=[Column(name) for name in columns],
                rows=graphs,
                cells=cells,
                trained_in="steps",
                other_data=frozenset(ROADS),
                note="; ".join(f"{name}: {about}" for name, about in METHODS.items())
                + ". The two columns `before` are from the ledger of `graphs`, on the features as they are: the metric "
                "and the network with the smallest error on validation pairs. One denoiser per graph; each seed has "
                "its own networks, base and student.",
            ),
            _details(full, graphs),
        ]

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        full = [row for row in rows if _by_this_recipe(row)]
        near, below = [], []
        before = Runs(Ledger(RESULTS / "graphs.jsonl").rows())
        for graph in {row.settings["graph"] for row in full}:
            metric, free = _best_of_ours(full, graph), _error(full, graph, "MLP ensemble")
            tuned = _best(before, graph, metric=False)
            if metric is not None and free is not None:
                near.append(metric.value <= 1.03 * free.value)
            if metric is not None and tuned is not None:
                below.append(metric.value < tuned.value)
        if not near:
            return {}
        found = find(
            check("a metric within 3 % of the networks it was made of, chosen on validation pairs", near, "graphs"),
            check("the same below the tuned MLP of before", below, "graphs"),
        )
        return {} if found is None else {"table_graph_metrize": found}


def _by_this_recipe(row: Row) -> bool:
    """Leaves out quick runs, and those of settings that were given up."""
    chosen = SETTINGS.get(row.settings["graph"], {})
    return row.settings["sample"] == SAMPLE and all(row.settings.get(key) == chosen[key] for key in chosen)


def _error(rows: list[Row], graph: str, method: str, metric: str = "mse") -> Measured | None:
    return summarize(pick(rows, metric, {"graph": graph, "method": method}))


def _best_of_ours(rows: list[Row], graph: str) -> Measured | None:
    """The test error of the method with the guarantee that is best on validation pairs."""
    found = {method: _error(rows, graph, method, "validation mse") for method in METRICS}
    known = {method: error.value for method, error in found.items() if error is not None}
    return _error(rows, graph, min(known, key=lambda method: known[method])) if known else None


def _best(runs: Runs, graph: str, *, metric: bool) -> Measured | None:
    choices = [runs.choice("fast", graph, head, SIZES[-1]) for head in HEADS if HEADS[head].metric == metric]
    found = [choice for choice in choices if choice is not None]
    return min(found, key=lambda choice: choice.validation).measured("mse") if found else None


def _details(rows: list[Row], graphs: list[str]) -> Table:
    columns = {"floor": ".3g", "clamped": ".1%", "below floor": ".2%", "triangle defect of f": ".3g"}
    cells: dict[tuple[str, str], Measured | str | None] = {}
    for graph in graphs:
        for name in columns:
            cells[graph, name] = _error(rows, graph, "corridor", name)
        cells[graph, "triangle defect"] = _error(rows, graph, "corridor", "triangle defect")
    return Table(
        label="table_graph_corridors",
        title="The corridors: floor at mean distance 50, share of clamped pairs, and audits on 200 nodes",
        corner="graph",
        columns=[
            Column(name, better=None, format=form) for name, form in (*columns.items(), ("triangle defect", ".3g"))
        ],
        rows=graphs,
        cells=cells,
        trained_in="steps",
        note="Clamped and below the floor are shares of 10,000 random pairs of nodes.",
    )
