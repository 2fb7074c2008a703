"""Map models beside the landmarks that they start from, at equal bytes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reproduction.experiments.maps.data import GENERATED, available_graphs, load_graph, workload
from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.figures import Figure
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize
from trimetric.graphs import (
    Graph,
    LearnedGraph,
    PotentialHeuristic,
    choose_landmarks,
    count_expansions,
    learn_graph,
    random_pairs,
)

QUERIES = 1_000  # of A*
PUBLISHED = {
    "CatBoost, 27 MB": 0.0232,
    "ANEDA": 0.0290,
    "Path2vec": 0.0380,
    "RNE": 0.0382,
    "Vdist2vec": 0.0430,
    "GeoDNN": 0.0763,
    "GAT": 0.0783,
}
"""mean relative errors of a survey on the same queries: 64 floats per node unless said, five minutes on a GPU"""


@dataclass(frozen=True)
class Cell:
    """One graph and one model."""

    graph: str
    numbers: int
    """per node"""
    guarantee: str
    directed: bool
    """whether differences count in one direction only; always so where the graph is directed"""
    precision: str
    expansions: bool
    """whether A* is tried"""
    seed: int
    quick: bool = False


class Maps(Experiment[Cell]):
    """Errors of map models on random pairs, short pairs and a published workload."""

    name: ClassVar[str] = "maps"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        seed, found = (seeds or (0,))[0], available_graphs()
        if scale == "quick":
            return [Cell(graph, 8, "metric", graph != "3d", "float32", False, seed, True) for graph in GENERATED]
        cells = []
        if "jinan" in found:
            cells += [Cell("jinan", size, "metric", False, "float32", False, seed) for size in (64, 32, 16)]
            cells += [Cell("jinan", 64, "lower", False, "float32", False, seed)]
            cells += [Cell("jinan", 64, "metric", True, "float32", False, seed)]
            cells += [Cell("jinan", 64, "metric", False, small, False, seed) for small in ("int16", "int8")]
            cells += [Cell("jinan", 64, "upper", False, "float32", False, seed)]
        cells += [Cell(graph, 64, "metric", graph != "3d", "float32", False, seed) for graph in GENERATED]
        if "map length" in found:
            cells += [Cell("map length", 32, "lower", True, "float32", True, seed)]
            cells += [Cell(graph, 64, "metric", True, "float32", False, seed) for graph in ("map length", "map time")]
        return cells

    def run(self, cell: Cell) -> list[Result]:
        graph = load_graph(cell.graph, quick=cell.quick)
        queries = workload() if cell.graph == "jinan" else None
        start, busy = time.perf_counter(), time.process_time()
        learned = learn_graph(
            graph,
            dim=cell.numbers,
            guarantee=cell.guarantee,  # type: ignore[arg-type]
            precision=cell.precision,  # type: ignore[arg-type]
            symmetric=not cell.directed,
            queries=None if queries is None else queries[0],
            seed=cell.seed,
            progress="silent",
        )
        results = [
            Result("seconds", time.perf_counter() - start),
            Result("processor seconds", time.process_time() - busy),
            Result("kept", learned.model.notes["kept"]),
            Result("promise", learned.promise),
            Result("bytes", learned.candidates[0].bytes_per_node),
        ]
        for name, errors in learned.model.notes["relative_errors"].items():
            results += [Result(f"{name}: {who}", error) for who, error in errors.items()]
        for row in learned.candidates:
            results.append(Result(f"us: {row.name}", row.microseconds))
        if queries is not None:
            pairs, lengths = queries
            values = learned.model.between_rows(pairs).double().numpy()
            results.append(Result("workload", float(np.mean(np.abs(values / lengths - 1)))))
            results.append(Result("workload too far", float(np.mean(values > lengths * (1 + 1e-6)))))
        if cell.expansions:
            results += expansion_results(graph, learned, cell)
        return results

    def tables(self, rows: list[Row]) -> list[Table]:
        full = [row for row in rows if not row.settings.get("quick")]
        return [table for table in (_jinan(full), _all_graphs(full), _astar(full)) if table is not None]

    def figures(self, rows: list[Row]) -> list[Figure]:
        mine = [row for row in rows if row.settings["graph"] == "jinan" and not row.settings["directed"]]
        errors, bounds = _by_bytes(mine, "workload"), _by_bytes(mine, "queries: chosen landmarks")
        if len(errors) < 2:
            return []
        from matplotlib.figure import Figure as Plot

        plot = Plot(figsize=(6.4, 4.0), layout="constrained")
        axes = plot.subplots()
        for label, points, marker in (("map model", errors, "o"), ("landmarks that it starts from", bounds, "s")):
            sizes, values = zip(*points, strict=True)
            axes.plot(sizes, [100 * value for value in values], marker=marker, linestyle="", label=label)
        for name, error in ((name, PUBLISHED[name]) for name in ("ANEDA", "RNE", "Vdist2vec")):
            axes.axhline(100 * error, color="gray", linewidth=0.6)
            axes.annotate(f"{name}, 256 bytes", (64, 100 * error), fontsize=7, va="bottom")
        axes.set(xlabel="bytes per node", ylabel="mean relative error in %", xscale="log", yscale="log")
        axes.legend()
        told = "; ".join(f"{size} bytes {value:.2%}" for size, value in errors)
        return [
            Figure(
                label="figure_maps_bytes",
                title="Jinan: error against bytes per node",
                alt=told,
                plot=plot,
                stem="maps_bytes",
            )
        ]


def expansion_results(graph: Graph, learned: LearnedGraph, cell: Cell) -> list[Result]:
    """Nodes that A* expands with the model, and with landmarks of as many bytes."""
    points = learned.model.embed().double().numpy()
    half = points.shape[1] // 2
    potentials = np.concatenate([-points[:, :half], points[:, half:]], axis=1) if cell.directed else points
    heuristic = PotentialHeuristic(np.ascontiguousarray(potentials), cell.directed)
    pairs = random_pairs(graph.num_nodes, QUERIES, seed=0)
    count = cell.numbers // 2 if graph.directed else cell.numbers
    usual = PotentialHeuristic.of_landmarks(choose_landmarks(graph, count))
    return [
        Result("steep arcs", heuristic.certify(graph).steep),
        Result("expansions: model", float(count_expansions(graph, pairs, heuristic).mean())),
        Result("expansions: ALT", float(count_expansions(graph, pairs, usual).mean())),
    ]


def _jinan(rows: list[Row]) -> Table | None:
    mine = [row for row in rows if row.settings["graph"] == "jinan"]
    if not mine:
        return None
    columns = ["workload", "queries: chosen landmarks", "random: model", "short: model", "bytes", "seconds"]
    forms = {"bytes": ".0f", "seconds": ".0f"}
    cells: dict[tuple[str, str], Measured | str | None] = {}
    names = []
    for label, settings in _variants(mine).items():
        names.append(label)
        for column in columns:
            found = pick(mine, column, settings)
            if found:
                cells[label, column] = summarize(found)
    return Table(
        label="table_maps_jinan",
        title="Jinan: mean relative error on the survey's 100,000 queries; published: "
        + ", ".join(f"{name} {error:.2%}" for name, error in PUBLISHED.items()),
        columns=[Column(column, None, forms.get(column, ".2%")) for column in columns],
        rows=names,
        cells=cells,
    )


def _all_graphs(rows: list[Row]) -> Table | None:
    mine = [row for row in rows if row.settings["graph"] != "jinan" and row.settings["guarantee"] == "metric"]
    if not mine:
        return None
    columns = ["random: model", "random: chosen landmarks", "short: model", "short: chosen landmarks", "seconds"]
    graphs = list(dict.fromkeys(row.settings["graph"] for row in mine))
    cells: dict[tuple[str, str], Measured | str | None] = {
        (graph, column): summarize(found)
        for graph in graphs
        for column in columns
        if (found := pick(mine, column, {"graph": graph}))
    }
    return Table(
        label="table_maps",
        title="Mean relative error with 64 numbers per node: of the model, and of the landmarks that it starts from",
        columns=[Column(column, None, ".0f" if column == "seconds" else ".2%") for column in columns],
        rows=graphs,
        cells=cells,
    )


def _astar(rows: list[Row]) -> Table | None:
    mine = [row for row in rows if row.settings["expansions"]]
    if not mine:
        return None
    columns = ["expansions: model", "expansions: ALT", "steep arcs"]
    graphs = list(dict.fromkeys(row.settings["graph"] for row in mine))
    cells: dict[tuple[str, str], Measured | str | None] = {
        (graph, column): summarize(found)
        for graph in graphs
        for column in columns
        if (found := pick(mine, column, {"graph": graph}))
    }
    return Table(
        label="table_maps_astar",
        title=f"Nodes that A* expands on average of {QUERIES:,} random queries, at 128 bytes per node",
        columns=[Column(column, None, ",.0f") for column in columns],
        rows=graphs,
        cells=cells,
    )


def _by_bytes(rows: list[Row], metric: str) -> list[tuple[int, float]]:
    """Bytes per node and the error of each metric model."""
    sizes = {"float32": 4, "int16": 2, "int8": 1}
    return sorted(
        (row.settings["numbers"] * sizes[row.settings["precision"]], float(row.value))
        for row in rows
        if row.metric == metric and row.settings["guarantee"] == "metric"
    )


def _variants(rows: list[Row]) -> dict[str, dict[str, object]]:
    """Names of the models in the rows, and the settings that select them."""
    found = {}
    for row in rows:
        chosen = {name: row.settings[name] for name in ("numbers", "guarantee", "directed", "precision")}
        label = f"{chosen['numbers']} {chosen['precision']}, {chosen['guarantee']}"
        found[label + (", directed" if chosen["directed"] else "")] = chosen
    return found
