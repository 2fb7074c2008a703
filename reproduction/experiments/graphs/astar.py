"""What A* returns on directed graphs if it is guided by a bound that is valid only on undirected ones.

The paper computed its distances by A*.  With landmarks l the usual bound is |D(l, t) - D(l, x)|.  If D(l, x) and
D(x, l) differ, it can exceed the remaining distance, and then not all paths are shortest.  The paper's statistics of a
graph may show whether that is what it did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reproduction.experiments.graphs.cells import QUICK_SIDES, SAMPLE
from reproduction.experiments.graphs.data import Source, load, make_graph
from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.findings import Finding
from reproduction.frame.paper import paper_values
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize
from trimetric.graphs import Graph, Landmarks, PotentialHeuristic, shortest_path

GRAPHS = ("3dd", "3dr")
GUIDES = {
    "from": "the distances from landmarks",
    "to": "those to landmarks",
    "both": "both",
}
"""the distances from which the bound is computed"""
COLUMNS = {"max(d)": ".1f", "sigma_d": ".2f", "too long": ".1%", "mse to exact": ".3g"}


@dataclass(frozen=True)
class Cell:
    """One graph, searched with one bound."""

    graph: str
    guide: str
    seed: int
    """not used: graph, pairs and landmarks are those of `graphs`"""
    random: int = 1_000
    """pairs for mean and deviation"""
    longest: int = 1_000
    """pairs for the largest distance: those of the whole sample that are farthest apart"""
    landmarks: str = "farthest"
    side: int = 0
    sample: int = SAMPLE


class GraphsAstar(Experiment[Cell]):
    """Statistics of directed graphs by a search that is not exact, next to the paper's and the exact ones."""

    name: ClassVar[str] = "graphs-astar"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        seed = (seeds or (0,))[0]
        if scale == "quick":
            return [Cell("3dd", guide, seed, 200, 100, side=QUICK_SIDES["3dd"], sample=8_000) for guide in GUIDES]
        return [
            *(Cell(graph, guide, seed) for graph in GRAPHS for guide in GUIDES),
            *(Cell(GRAPHS[0], guide, seed, landmarks="random") for guide in GUIDES),
        ]

    def run(self, cell: Cell) -> list[Result]:
        source = Source(cell.graph, "", cell.side, cell.sample, cell.landmarks)  # type: ignore[arg-type]
        data, graph = load(source), make_graph(source)
        ends, exact = data.sample.ends, data.sample.lengths
        heuristic = PotentialHeuristic(potentials(data.landmarks, cell.guide), directed=False)
        some, far = np.arange(cell.random), np.argsort(exact)[-cell.longest :]
        found, long = lengths(graph, ends[some], heuristic), lengths(graph, ends[far], heuristic)
        scale = 50 / found.mean()
        return [
            Result("max(d)", float(max(found.max(), long.max()) * scale)),
            Result("sigma_d", float(found.std() * scale)),
            Result("too long", float(found.mean() / exact[some].mean() - 1)),
            Result("mse to exact", float(np.mean((found * scale - exact[some] * (50 / exact[some].mean())) ** 2))),
            Result("exact max(d)", data.sample.largest),
            Result("exact sigma_d", data.sample.sigma),
        ]

    def tables(self, rows: list[Row]) -> list[Table]:
        cells: dict[tuple[str, str], Measured | str | None] = {}
        for graph, side, landmarks, guide in _searches(rows):
            where = {"graph": graph, "side": side, "landmarks": landmarks, "guide": guide}
            name = graph if side == 0 else f"{graph} of side {side}"
            for column in COLUMNS:
                theirs = paper_values("table_graph_stats")[graph].get(column)
                if side == 0:
                    cells[f"{name}, paper", column] = "not said" if theirs is None else f"{theirs:g}"
                cells[f"{name}, exact", column] = summarize(pick(rows, f"exact {column}", where)) or "0"
                cells[f"{name}, {landmarks}, {guide}", column] = summarize(pick(rows, column, where))
        return [
            Table(
                label="table_graph_astar",
                title="Directed graphs by A* with the bound of undirected ones, scaled to mean 50",
                corner="graph, landmarks, bound",
                columns=[Column(name, better=None, format=form) for name, form in COLUMNS.items()],
                rows=list(dict.fromkeys(row for row, _ in cells)),
                cells=cells,
                note="32 landmarks; the bound is the largest |difference| of "
                + ", of ".join(f"{words} ({guide})" for guide, words in GUIDES.items())
                + f". Mean and deviation over {Cell.random:,} random pairs; the largest distance over these and the "
                f"{Cell.longest:,} that are farthest apart among {SAMPLE:,} (fewer on small grids), so the true "
                "one may be larger.",
            )
        ]

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        graph = GRAPHS[0]
        where = {"graph": graph, "side": 0, "landmarks": "farthest"}
        exact, found = pick(rows, "exact max(d)", where), pick(rows, "max(d)", where)
        if not exact:
            return {}
        theirs, ours = paper_values("table_graph_stats")[graph]["max(d)"], [row.value for row in found]
        near = min(abs(value - theirs) for value in ours) < abs(exact[0].value - theirs)
        text = (
            f"{'probably not' if near else 'probably'}: the largest of {graph} is {theirs:g} there, "
            f"{exact[0].value:.1f} exactly, {min(ours):.1f} to {max(ours):.1f} by its search"
        )
        return {"table_graph_astar": Finding(text)}


def _searches(rows: list[Row]) -> list[tuple[str, int, str, str]]:
    """What was run, in the order of the table: graph, side, landmarks, bound."""
    names = ("graph", "side", "landmarks", "guide")
    found = {tuple(row.settings[name] for name in names) for row in rows}
    return sorted(found, key=lambda s: (GRAPHS.index(s[0]), s[1], s[2], list(GUIDES).index(s[3])))


def potentials(landmarks: Landmarks, guide: str) -> NDArray[np.float64]:
    """One number per node and landmark; two if both distances, from and to it, are used."""
    ahead, back = landmarks.from_landmarks, landmarks.to_landmarks
    chosen = {"from": ahead, "to": back, "both": np.concatenate((ahead, back), axis=1)}[guide]
    return np.ascontiguousarray(chosen, np.float64)


def lengths(graph: Graph, ends: NDArray[np.int64], heuristic: PotentialHeuristic) -> NDArray[np.float64]:
    """Lengths of the paths that the search returns, one per pair."""
    return np.array([shortest_path(graph, int(x), int(y), heuristic).length for x, y in ends])
