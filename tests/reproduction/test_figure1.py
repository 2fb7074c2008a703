"""Figure 1 on a smaller budget: what no Euclidean space can hold, our norms can."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from reproduction.experiments.figure1.experiment import EUCLIDEAN_FLOOR, Cell, Figure1
from reproduction.frame.executors import Cores
from reproduction.frame.ledger import Ledger
from reproduction.frame.paper import paper_values
from reproduction.frame.rows import Row, pick
from reproduction.frame.show import make_grid, show
from reproduction.frame.sweep import sweep
from reproduction.frame.tables import Measured

CELLS = [
    Cell("Mahalanobis", 2, 300, 0),
    Cell("Mahalanobis", 10, 300, 0),
    Cell("Euclidean", 5, 300, 0),
    Cell("Wide Norm", 2, 600, 0),
    Cell("Wide Norm", 2, 600, 1),
    Cell("MLP (no metric)", 2, 300, 0),
]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    ledger = Ledger(tmp_path_factory.mktemp("figure1") / "figure1.jsonl")
    assert sweep(Figure1(), CELLS, ledger, Cores(1), silent=True).errors == []
    return ledger.rows()


def mse(rows: list[Row], model: str, dim: int) -> float:
    return min(row.value for row in pick(rows, "mse", {"model": model, "dim": dim}))


def test_the_four_node_graph(rows: list[Row]) -> None:
    assert mse(rows, "Mahalanobis", 2) == pytest.approx(
        paper_values("figure_motivation")["Mahalanobis"]["MSE"], abs=1e-3
    )
    assert mse(rows, "Wide Norm", 2) < 0.002
    defects = {row.settings["model"]: row.value for row in rows if row.metric == "triangle_defect"}
    assert defects["Mahalanobis"] == defects["Wide Norm"] == 0
    assert defects["MLP (no metric)"] > 0


def test_more_dimensions_do_not_help_a_euclidean_norm(rows: list[Row]) -> None:
    for model, dim in (("Mahalanobis", 2), ("Mahalanobis", 10), ("Euclidean", 5)):
        assert mse(rows, model, dim) == pytest.approx(EUCLIDEAN_FLOOR, abs=1e-4)


def test_tables(rows: list[Row]) -> None:
    plane, dims = Figure1().tables(rows)
    cell = plane.cells["Wide Norm", "MSE"]
    assert isinstance(cell, Measured)
    assert (cell.value, cell.seeds, cell.epochs) == (mse(rows, "Wide Norm", 2), 2, 600)
    assert plane.cells["Deep Norm", "MSE"] is None
    assert plane.cells["MLP (no metric)", "promises hold"] == "promises nothing"
    assert plane.verdict("Mahalanobis", plane.columns[0]) == "matches"
    assert [column.header for column in make_grid(plane).columns] == [
        "model",
        "MSE",
        "the paper's",
        "triangle defect",
        "promises hold",
    ]
    assert isinstance(dims.cells["Euclidean", "R^5"], Measured)
    assert dims.cells["Euclidean", "R^3"] is None


def test_prints_and_pictures(rows: list[Row], tmp_path: Path) -> None:
    console = Console(record=True, width=120)
    show(Figure1(), rows, console, tmp_path / "sub")
    text = console.export_text()
    assert "The four-node graph in the plane" in text
    assert "MLPDistance: audit on 504 points, 128,024,064 triples (all)" in text
    assert "figure1.png" in text
    for name in ("figure1.png", "figure1-dimensions.png"):
        assert (tmp_path / "sub" / name).stat().st_size > 10_000


def test_without_runs() -> None:
    assert Figure1().figures([]) == []
    assert all(cell is None for table in Figure1().tables([]) for cell in table.cells.values())
    assert Figure1().notes([]) == []


def test_scales() -> None:
    quick, default, paper = (Figure1().cells(scale, None) for scale in ("quick", "default", "paper"))
    assert len(quick) < len(default) < len(paper)
    assert set(default) <= set(paper)  # so that --paper reuses the runs that are there
    assert {cell.seed for cell in paper} == set(range(10))
    assert {cell.seed for cell in Figure1().cells("default", (7, 8))} == {7, 8}
    assert {cell.dim for cell in default if cell.model == "Euclidean"} == {2, 3, 5, 10}
