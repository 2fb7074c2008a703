"""Shortest paths of large graphs, learned from noisy landmark features (section 3.3, appendix E).

The protocols, which every row names: `quick` (small graphs), `fast` (ours, the default budget: a calibrated start,
weight decay, a smooth encoder and a cosine schedule; with 50,000 pairs a fiftieth of the paper's steps), `paper`
(1000 epochs of Adam) and `tenth`, the same with 100.  Depth of the encoder and weight decay are chosen on validation
pairs, and the error on test pairs is reported.  Each seed is a different start of the network.
"""

from __future__ import annotations

from typing import ClassVar

from reproduction.experiments.graphs import findings, plots, tables
from reproduction.experiments.graphs.cells import BASELINE, SIZES, Cell, cells_of, shrink
from reproduction.experiments.graphs.data import Source, load
from reproduction.experiments.graphs.heads import OURS, PAPER
from reproduction.experiments.graphs.protocols import compare_protocols
from reproduction.experiments.graphs.ranking import rank_protocols
from reproduction.experiments.graphs.runs import measure_baselines, train
from reproduction.frame.experiment import Result, Scale, StackedExperiment, unique
from reproduction.frame.figures import Figure
from reproduction.frame.findings import Finding
from reproduction.frame.rows import Row
from reproduction.frame.tables import Table

RANKED = (5_000,)
"""training pairs for which protocols are compared: few, because the paper's takes long"""


class Graphs(StackedExperiment[Cell]):
    """Statistics of the graphs, test errors, and errors by the number of training pairs."""

    name: ClassVar[str] = "graphs"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        """The most informative first: an interrupted sweep has the table before the curves."""
        if scale == "quick":
            heads = (BASELINE, *PAPER, "Toll IQE")
            return list(shrink(cells_of("quick", heads, (3,), (1_000, 5_000), seeds or (0,), weight_decay=0.3)))
        most, less = SIZES[-1:], SIZES[:-1]
        if scale == "default":
            own, every = seeds or (0,), (*PAPER, *OURS)
            return [
                *cells_of("fast", (BASELINE,), (0,), most, (0,)),
                *cells_of("fast", every, (3,), most, own, weight_decay=0.3),
                *cells_of("fast", PAPER, (2, 1, 0), most, own, weight_decay=0.3),
                *cells_of("fast", every, (3,), most, own, weight_decay=1.0),
                *cells_of("fast", ("Toll IQE", "Band", "wide MLP"), (2,), most, own, weight_decay=0.3),
                *cells_of("fast", ("MLP", "Band", "wide MLP"), (2,), most, own, weight_decay=1.0),
                *cells_of("tenth", PAPER, (3,), RANKED, own),
                *cells_of("fast", every, (3,), less, own, weight_decay=0.3),
                *cells_of("fast", PAPER, (2, 1, 0), less, own, weight_decay=0.3),
            ]
        own = seeds or (0, 1, 2)
        return unique(
            [
                *cells_of("fast", (BASELINE,), (0,), most, (0,)),
                *cells_of("paper", PAPER, (3,), RANKED, own),
                *cells_of("paper", PAPER, (3, 2, 1, 0), most, own),
                *cells_of("paper", OURS, (3,), most, own),
                *cells_of("paper", PAPER, (3, 2, 1, 0), less, own),
                *cells_of("paper", OURS, (3,), less, own),
            ]
        )

    def run_batch(self, cells: list[Cell]) -> list[list[Result]]:
        first = cells[0]
        data = load(Source(first.graph, first.map, first.side, first.sample, first.landmarks))  # type: ignore[arg-type]
        if first.head == BASELINE:
            return [measure_baselines(data, cell) for cell in cells]
        return train(data, cells)

    def tables(self, rows: list[Row]) -> list[Table]:
        runs = tables.Runs(rows)
        compared = (compare_protocols(runs), rank_protocols(runs))
        return [*tables.tables(rows), *(table for table in compared if table is not None)]

    def figures(self, rows: list[Row]) -> list[Figure]:
        return plots.figures(rows)

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        return findings.findings(rows)

    def notes(self, rows: list[Row]) -> list[str]:
        return tables.notes(rows)
