"""The experiment of metric nearness: its matrices, its table and its curves, on a small scale."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.executors import Cores
from reproduction.ledger import Ledger
from reproduction.nearness import MODELS, SOLVERS, Cell, Nearness
from reproduction.nearness_data import READINGS, matrix
from reproduction.rows import Row
from reproduction.sweep import sweep

CELLS = [Cell(reading, 12, method, 0) for reading in ("S", "A") for method in SOLVERS]
CELLS += [Cell(reading, 12, model, 0, 32, 20, "paper") for reading in ("S", "A") for model in MODELS]


@pytest.mark.parametrize("reading", READINGS)
def test_matrices(reading: str) -> None:
    d = matrix(reading, 24, 0)
    assert (d >= 0).all()
    assert not np.diagonal(d).any()
    assert d.max() < (11 if reading.startswith("S") else 10)
    assert (d == matrix(reading, 24, 0)).all()
    assert (d != matrix(reading, 24, 1)).any()
    asymmetry = np.abs(d - d.T).max()
    assert asymmetry == 0 if reading == "S mirrored" else asymmetry > 0.5
    assert reading != "S" or asymmetry < 1  # noise alone


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    ledger = Ledger(tmp_path_factory.mktemp("nearness") / "nearness.jsonl")
    assert sweep(Nearness(), CELLS, ledger, Cores(1), silent=True).errors == []
    return ledger.rows()


def test_the_exact_row_is_below_every_metric(rows: list[Row]) -> None:
    for reading in ("S", "A"):
        own = [row for row in rows if row.settings["reading"] == reading]
        j = {row.settings["method"]: row.value for row in own if row.metric == "J"}
        broken = {row.settings["method"]: row.value for row in own if row.metric == "broken"}
        assert set(j) == {*SOLVERS, *MODELS}
        assert all(j["exact"] <= j[model] for model in MODELS)
        assert all(broken[name] == 0 for name in ("exact", *MODELS))


def test_table_and_figure(rows: list[Row]) -> None:
    experiment = Nearness()
    table = experiment.tables(rows)[0]
    assert table.cells["exact", "J (S)"] is not None
    assert table.printed("DN", "J (S)") is not None
    assert experiment.figures(rows)[0].label == "figure_mn_curves"
    assert "gap" in experiment.notes(rows)[0]
    assert experiment.tables([])[0].cells["DN", "J (S)"] is None
    assert experiment.figures([]) == []


def test_cells() -> None:
    cells = Nearness().cells("paper", None)
    assert len(set(cells)) == len(cells)
    assert {cell.seed for cell in cells} == set(range(10))
    assert {cell.epochs for cell in cells if cell.recipe == "paper"} == {1500}
    assert not [cell for cell in cells if cell.method == "WN rectified" and cell.reading.startswith("S")]
