"""The start from landmarks on the paper's graphs: with the graph itself, and from noisy features alone.

`map model` has the graph: its numbers start as distances of chosen landmarks and are trained under the certificate of a
bound, `tm.graphs.learn_graph`.  The others see what the paper's models see, noisy features and 50,000 pairs: the bound
of the features as they are, scaled by one number, and the same bound as the start of a linear layer that is trained.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

import trimetric as tm
from reproduction.experiments.graphs.cells import BATCH, FAST_EPOCHS, QUICK_SIDES, SAMPLE, SIZES
from reproduction.experiments.graphs.data import GENERATED, NAMES, SYMMETRIC, Data, Source, load, make_graph
from reproduction.experiments.graphs.heads import HEADS
from reproduction.experiments.graphs.tables import Runs
from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.ledger import RESULTS, Ledger
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize
from trimetric.graphs import Accuracy, landmark_bounds, learn_graph
from trimetric.graphs.learning.comparison import predicted

METHODS = {
    "noisy bound": "the largest difference of noisy features, scaled by one number",
    "noisy start": "the same as the start of a linear layer, trained on the pairs",
    "clean bound": "the bound of the landmarks without noise",
    "map model": "as many numbers per node, trained with the graph at hand",
}
BEST = "best metric"
"""of the table of section 3.3, chosen on validation pairs"""
CLEAN = ("clean bound", "map model")
ORDER = ("3dr", "3d", "push", "3dd", "taxi")


@dataclass(frozen=True)
class Cell:
    """One method on one graph."""

    graph: str
    method: str
    seed: int
    pairs: int = SIZES[-1]
    epochs: int = FAST_EPOCHS
    learning_rate: float = 1e-3
    side: int = 0
    """side of the grid; 0 for the paper's"""
    sample: int = SAMPLE


class GraphsStart(Experiment[Cell]):
    """Test errors of bounds and of what starts as one, beside the best metric of section 3.3."""

    name: ClassVar[str] = "graphs-start"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        if scale == "quick":
            return [
                Cell("3dd", method, 0, pairs=1000, epochs=2, side=QUICK_SIDES["3dd"], sample=8_000)
                for method in METHODS
            ]
        own = seeds or (0, 1, 2)
        first = [Cell(graph, method, own[0]) for graph in ORDER for method in METHODS]
        # Bounds do not depend on a seed, and a map model takes minutes.
        return first + [Cell(graph, "noisy start", seed) for seed in own[1:] for graph in ORDER]

    def run(self, cell: Cell) -> list[Result]:
        if cell.graph not in GENERATED:
            raise ValueError(f"graph: expected one of {', '.join(GENERATED)}, got {cell.graph!r}")
        source = Source(cell.graph, "", cell.side, cell.sample, "farthest")
        data = load(source)
        sample = data.sample
        ends, lengths = sample.ends[sample.test_rows], sample.lengths[sample.test_rows]
        if cell.method == "clean bound":
            values = landmark_bounds(data.landmarks, ends)[0]
        elif cell.method == "map model":
            count = data.landmarks.table().shape[1]
            learned = learn_graph(make_graph(source), dim=count, seed=cell.seed, progress="silent")
            values = learned.model.between_rows(ends).double().numpy()
        else:
            values = _from_features(data, cell, ends)
        accuracy = asdict(Accuracy.of(values, lengths, scale=sample.scale))
        return [Result(name.replace("_", " "), value, cell.epochs) for name, value in accuracy.items()]

    def tables(self, rows: list[Row]) -> list[Table]:
        full = [row for row in rows if row.settings["sample"] == SAMPLE]
        graphs = [graph for graph in NAMES if any(row.settings["graph"] == graph for row in full)]
        before = Runs(Ledger(RESULTS / "graphs.jsonl").rows()) if graphs else None
        cells: dict[tuple[str, str], Measured | str | None] = {}
        for graph in graphs:
            for method in METHODS:
                cells[graph, method] = summarize(pick(full, "mse", {"graph": graph, "method": method}))
            cells[graph, BEST] = None if before is None else _best(before, graph)
        return [
            Table(
                label="table_graph_start",
                title=f"Test MSE at mean distance 50: the start from landmarks, {SIZES[-1]:,} training pairs",
                corner="graph",
                columns=[Column(name) for name in ("noisy bound", "noisy start", BEST, *CLEAN)],
                rows=graphs,
                cells=cells,
                trained_in="steps",
                note="; ".join(f"{name}: {about}" for name, about in METHODS.items())
                + f". {BEST}: of `graphs` on the same noisy features. The columns {' and '.join(CLEAN)} use the graph.",
            )
        ]


def _from_features(data: Data, cell: Cell, ends: np.ndarray) -> np.ndarray:
    """The bound of noisy features, trained or not."""
    model = _bound_of_features(data, directed=cell.graph not in SYMMETRIC, seed=cell.seed)
    sample = data.sample
    training, validation = data.pairs(sample.training_rows(cell.pairs)), data.pairs(sample.validation_rows)
    trains = cell.method == "noisy start"
    config = tm.TrainingConfig(
        epochs=cell.epochs if trains else 1,
        batch_size=BATCH,
        learning_rate=cell.learning_rate if trains else 1e-12,
        schedule="cosine",
        calibrate=True,
        seed=cell.seed,
    )
    shared: dict[str, Any] = {"objects": data.features, "validation": validation, "progress": "silent"}
    tm.fit(model, *training, config=config, **shared)
    nodes, places = np.unique(ends, return_inverse=True)
    with torch.no_grad():
        points = model.encoder(data.features[nodes])
    return predicted(model.distance, points, places.reshape(ends.shape)) / sample.scale


def _bound_of_features(data: Data, *, directed: bool, seed: int) -> tm.Siamese:
    """A linear layer that selects the landmarks, below their bound; other features have no weight at first."""
    torch.manual_seed(seed)
    count = data.landmarks.table().shape[1]
    layer = nn.Linear(data.features.shape[1], count, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(count, data.features.shape[1]))
    return tm.Siamese(layer, tm.Calibrated(tm.LandmarkBound(count, directed=directed)))


def _best(runs: Runs, graph: str) -> Measured | None:
    choices = [runs.choice("fast", graph, head, SIZES[-1]) for head in HEADS if HEADS[head].metric]
    found = [choice for choice in choices if choice is not None]
    return min(found, key=lambda choice: choice.validation).measured("mse") if found else None
