"""Figure 1: four nodes that no Euclidean space can hold.

A and D are both at distance 1 from B and from C, which are 2 apart.  In a Euclidean space both must therefore lie
halfway between B and C, but A and D are 2 apart.  The nodes are one-hot vectors, embedded by a linear map that is
trained together with the norm: in the plane, where our norms reach an error of 0, and in more dimensions, which do not
help a Euclidean norm.

`python -m reproduction.experiments.figure1` trains the models, prints the errors next to the paper's, audits what was
learned and draws the picture; `python -m reproduction figure1` does the same with a ledger, from which the report is
made.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import nn

import trimetric as tm
from reproduction.experiments.figure1 import plots
from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.figures import Figure
from reproduction.frame.findings import Finding, check, find
from reproduction.frame.rows import Row, longest_trained, pick
from reproduction.frame.tables import Column, Measured, Table, format_value, summarize

DISTANCES = torch.tensor([[0.0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]])
PAIRS = torch.triu_indices(4, 4, offset=1)
EUCLIDEAN_FLOOR = (3 - 2 * math.sqrt(2)) / 3
"""the smallest mean squared error over the six pairs in any Euclidean space: a square with the best side"""
DIRECTIONS = 180

MODELS: dict[str, Callable[[int], tm.Distance]] = {
    "Euclidean": lambda dim: tm.NormInduced(tm.Euclidean(dim)),
    "Mahalanobis": lambda dim: tm.NormInduced(tm.Mahalanobis(dim)),
    "Deep Norm": lambda dim: tm.NormInduced(tm.Symmetrized(tm.DeepNorm(dim, widths=(32, 32)))),
    "Wide Norm": lambda dim: tm.NormInduced(tm.WideNorm(dim, components=16, width=2, symmetric=True)),
    "MLP (no metric)": lambda dim: tm.MLPDistance(dim, widths=(32, 32)),
}
PLANE = ("Mahalanobis", "Deep Norm", "Wide Norm", "MLP (no metric)")
"""the models of the first table"""
DIMENSIONS = ("Euclidean", "Mahalanobis", "Deep Norm", "Wide Norm")
"""the models of the second"""


@dataclass(frozen=True)
class Config:
    """A budget."""

    steps: int = 1500
    """Adam steps, on all six pairs at once"""
    seeds: tuple[int, ...] = (0, 1, 2)
    """starts; the table shows the one with the smallest error"""
    starts_beyond: int = 1
    """number of starts in more than 2 dimensions, where a Euclidean norm reaches its floor from any start"""
    euclidean_dims: tuple[int, ...] = (2, 3, 5, 10)
    our_dims: tuple[int, ...] = (2,)


CONFIGS: dict[Scale, Config] = {
    "quick": Config(steps=600, seeds=(0,), euclidean_dims=(2, 10)),
    "default": Config(),
    "paper": Config(seeds=tuple(range(10)), starts_beyond=10, our_dims=(2, 3, 5, 10)),
}


@dataclass(frozen=True)
class Cell:
    """One fit."""

    model: str
    dim: int
    steps: int
    seed: int
    learning_rate: float = 0.02
    """initial rate; it decays to 0 along a cosine"""


class Figure1(Experiment[Cell]):
    """Errors in the plane next to the paper's, and in more dimensions."""

    name: ClassVar[str] = "figure1"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        config = CONFIGS[scale]
        dims = {name: config.our_dims if name.endswith("Norm") else config.euclidean_dims for name in DIMENSIONS}
        return [
            Cell(name, dim, config.steps, seed)
            for name, dims in {**dims, "MLP (no metric)": (2,)}.items()
            for dim in dims
            for seed in (seeds or config.seeds)[: None if dim == 2 or seeds else config.starts_beyond]
        ]

    def run(self, cell: Cell) -> list[Result]:
        model = fit(cell)
        start, end = torch.eye(4)[PAIRS]
        with torch.no_grad():
            mse = (model(start, end) - DISTANCES[*PAIRS]).square().mean().item()
            points = model.encoder(torch.eye(4))
        results = [Result("mse", mse, cell.steps)]
        if cell.dim == 2:
            results += [
                Result("embedding", points.tolist(), cell.steps),
                *_audit(model.distance, points, cell.steps),
            ]
            if model.distance.axioms.homogeneous:
                turn = torch.arange(DIRECTIONS) * (2 * math.pi / DIRECTIONS)
                with torch.no_grad():
                    norms = model.distance(torch.zeros(2), torch.stack([turn.cos(), turn.sin()], dim=-1))
                results.append(Result("norm of each direction", norms.tolist(), cell.steps))
        return results

    def tables(self, rows: list[Row]) -> list[Table]:
        plane = {
            (name, column): value
            for name in PLANE
            for column, value in {
                "MSE": summarize(pick(rows, "mse", {"model": name, "dim": 2}), "best"),
                "triangle defect": _of_best(rows, name, "triangle_defect"),
                "promises hold": _of_best(rows, name, "promises"),
            }.items()
        }
        dims = CONFIGS["paper"].our_dims
        return [
            Table(
                label="figure_motivation",
                title="The four-node graph in the plane",
                corner="model",
                columns=[
                    Column("MSE", format=".3f"),
                    Column("triangle defect", better=None),
                    Column("promises hold", better=None),
                ],
                rows=list(PLANE),
                cells=plane,
                note="The best of several starts (D12); the triangle defect is over all triples of 504 points.",
            ),
            Table(
                label="figure_motivation_dimensions",
                title="More dimensions do not help a Euclidean norm: MSE",
                corner="model",
                columns=[Column(f"R^{dim}", format=".4f") for dim in dims],
                rows=list(DIMENSIONS),
                cells={
                    (name, f"R^{dim}"): summarize(pick(rows, "mse", {"model": name, "dim": dim}), "best")
                    for name in DIMENSIONS
                    for dim in dims
                },
                note=f"No Euclidean space of any dimension does better than (3 - 2 sqrt 2)/3 = {EUCLIDEAN_FLOOR:.4f}.",
            ),
        ]

    def figures(self, rows: list[Row]) -> list[Figure]:
        fits = {name: _best(rows, name) for name in PLANE if name != "MLP (no metric)"}
        balls = {
            name: plots.Ball(
                mse=best.value,
                points=_same_run(rows, best, "embedding"),
                norms=_same_run(rows, best, "norm of each direction"),
            )
            for name, best in fits.items()
            if best is not None
        }
        if not balls:
            return []
        errors = {
            name: {
                dim: best.value
                for dim in CONFIGS["paper"].our_dims
                if (best := summarize(pick(rows, "mse", {"model": name, "dim": dim}), "best")) is not None
            }
            for name in DIMENSIONS
        }
        drawn = [plots.embeddings(balls), plots.dimensions(errors, EUCLIDEAN_FLOOR)]
        return [figure for figure in drawn if figure is not None]

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        table, _ = self.tables(rows)
        column = table.columns[0]
        verdicts = {name: table.verdict(name, column) for name in table.rows}
        errors = {name: cell for name in table.rows if isinstance(cell := table.cells[name, column.name], Measured)}
        cases = [verdict == "matches" for verdict in verdicts.values() if verdict is not None]
        texts = ", ".join(f"{name} {format_value(errors[name], column)}" for name in verdicts if verdicts[name])
        finding = find(check("the paper's MSE", cases, "models"), note=texts)
        return {} if finding is None else {table.label: finding}

    def notes(self, rows: list[Row]) -> list[str]:
        reports = (_of_best(rows, name, "audit") for name in ("Deep Norm", "MLP (no metric)"))
        return [report for report in reports if report is not None]


def fit(cell: Cell) -> tm.Siamese:
    """Train the model of a cell."""
    torch.manual_seed(cell.seed)
    model = tm.Siamese(nn.Linear(4, cell.dim, bias=False), MODELS[cell.model](cell.dim))
    config = tm.TrainingConfig(epochs=cell.steps, batch_size=6, learning_rate=cell.learning_rate)
    tm.fit(model, PAIRS.mT.contiguous(), DISTANCES[*PAIRS], objects=torch.eye(4), config=config, progress="silent")
    return model


def _audit(distance: tm.Distance, points: torch.Tensor, steps: int) -> list[Result]:
    """Audit a distance on the four embedded nodes and 500 random points of the plane around them."""
    cloud = torch.randn(500, 2, generator=torch.Generator().manual_seed(0))
    report = tm.audit(distance, torch.cat([points, cloud * points.std()]))
    promises = ("yes" if report.holds else "NO") if report.promised.triangle else "promises nothing"
    return [
        Result("triangle_defect", report.triangle_defect, steps),
        Result("promises", promises, steps),
        Result("audit", str(report), steps),
    ]


def _best(rows: list[Row], name: str) -> Row | None:
    """The start with the smallest error in the plane."""
    return min(longest_trained(pick(rows, "mse", {"model": name, "dim": 2})), key=lambda row: row.value, default=None)


def _same_run(rows: list[Row], best: Row, metric: str) -> Any:
    return next(row.value for row in rows if row.run == best.run and row.metric == metric)


def _of_best(rows: list[Row], name: str, metric: str) -> str | None:
    """The metric that the best start of a model reported, as text; None without runs."""
    best = _best(rows, name)
    if best is None:
        return None
    value = _same_run(rows, best, metric)
    return value if isinstance(value, str) else f"{value:.3g}"


def demo(out: Path = Path("out")) -> None:
    """Figure 1 of the paper: fit, audit, draw.

    Args:
        out: folder for the pictures.
    """
    from rich.console import Console

    from reproduction.frame.executors import Cores
    from reproduction.frame.ledger import Ledger
    from reproduction.frame.show import show
    from reproduction.frame.sweep import sweep

    experiment = Figure1()
    with tempfile.TemporaryDirectory() as folder:  # a new ledger each time, so that the demo trains
        ledger = Ledger(Path(folder) / "figure1.jsonl")
        summary = sweep(experiment, experiment.cells("default", None), ledger, Cores())
        if summary.errors:
            raise RuntimeError(summary.errors[0])
        show(experiment, ledger.rows(), Console(), out)
