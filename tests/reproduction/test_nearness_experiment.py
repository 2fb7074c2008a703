"""The experiment of metric nearness: its matrices, its table and its curves, on a small scale."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.experiments.nearness.data import READINGS, make_matrix
from reproduction.experiments.nearness.experiment import MODELS, SOLVERS, Cell, Nearness
from reproduction.frame.executors import Cores
from reproduction.frame.ledger import Ledger
from reproduction.frame.rows import Row
from reproduction.frame.sweep import sweep
from reproduction.frame.tables import Measured

CELLS = [Cell(reading, 12, method, 0) for reading in ("S", "A") for method in SOLVERS]
CELLS += [
    Cell(reading, 12, model, 0, 32, 20, recipe)
    for reading in ("S", "A")
    for model in MODELS
    for recipe in ("rows", "paper")
]


@pytest.mark.parametrize("reading", READINGS)
def test_matrices(reading: str) -> None:
    d = make_matrix(reading, 24, 0)
    assert (d >= 0).all()
    assert not np.diagonal(d).any()
    assert d.max() < (11 if reading.startswith("S") else 10)
    assert (d == make_matrix(reading, 24, 0)).all()
    assert (d != make_matrix(reading, 24, 1)).any()
    asymmetry = np.abs(d - d.T).max()
    assert asymmetry == 0 if reading == "S mirrored" else asymmetry > 0.5
    assert reading != "S" or asymmetry < 1  # noise alone


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    folder = tmp_path_factory.mktemp("nearness")
    ledger = Ledger(folder / "nearness.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reproduction.experiments.nearness.experiment.CHECKPOINTS", folder / "checkpoints")
        assert sweep(Nearness(), CELLS, ledger, Cores(1), silent=True).errors == []
    assert list((folder / "checkpoints").iterdir()) == []  # they are kept for runs that are cut short
    return ledger.rows()


def test_the_exact_row_is_below_every_metric(rows: list[Row]) -> None:
    for reading in ("S", "A"):
        own = [row for row in rows if row.settings["reading"] == reading]
        j = {
            row.settings["method"]: row.value for row in own if row.metric == "J" and row.settings["recipe"] != "paper"
        }
        theirs = {
            row.settings["method"]: row.value for row in own if row.settings["recipe"] == "paper" and row.metric == "J"
        }
        assert all(j[model] < theirs[model] for model in MODELS)  # our start is worth more than 20 epochs
        broken = {row.settings["method"]: row.value for row in own if row.metric == "broken"}
        assert set(j) == {*SOLVERS, *MODELS}
        assert all(j["exact"] <= j[model] for model in MODELS)
        assert j["exact"] * (1 - 1e-6) <= j["landmarks"]  # exact to that gap, and the landmarks may be as near
        assert all(broken[name] == 0 for name in ("exact", "landmarks", *MODELS))


def test_table_and_figure(rows: list[Row]) -> None:
    experiment = Nearness()
    table, by_paper, plain = experiment.tables(rows)
    assert "start as rows" in table.title
    assert by_paper.title.endswith("the paper's recipe")
    squared, root = table.cells["exact", "J (S)"], plain.cells["exact", "J (S)"]
    assert isinstance(squared, Measured)
    assert isinstance(root, Measured)
    assert root.value == pytest.approx(squared.value**0.5)
    assert table.printed("DN", "J (S)") is not None
    assert experiment.figures(rows)[0].label == "figure_mn_curves"
    assert "gap" in experiment.notes(rows)[0]
    assert "DN 1 (20 epochs)" in experiment.notes(rows)[1]
    assert experiment.tables([])[0].cells["DN", "J (S)"] is None
    assert experiment.figures([]) == []


def test_cells() -> None:
    cells = Nearness().cells("paper", None)
    assert len(set(cells)) == len(cells)
    assert {cell.seed for cell in cells} == set(range(10))
    assert {cell.epochs for cell in cells if cell.recipe == "paper"} == {1500}
    assert not [cell for cell in cells if cell.method == "WN rectified" and cell.reading.startswith("S")]


def test_the_claims_are_judged_by_both_recipes() -> None:
    def row(method: str, epochs: int, recipe: str, value: float) -> Row:
        settings = {"reading": "S", "n": 200, "method": method, "epochs": epochs, "recipe": recipe}
        return Row("nearness", f"{method} {epochs} {recipe}", 0, "J", value, epochs, 1.0, "", "", settings, "", (0, 1))

    rows = [
        row("TF", 0, "", 1.0),
        row("DN", 60, "rows", 1.1),
        row("DN", 1500, "paper", 1.5),
        row("DN", 150, "paper", 4.0),
        row("WN", 150, "paper", 3.0),
    ]
    found = Nearness().findings(rows)
    assert found["table_mn_1"].text == (
        "by our recipe: J over triangle fixing's: DN (S) 1.1; as claimed in 1 of 1 cells; "
        "by the paper's: J over triangle fixing's: DN (S) 1.5; as claimed in 0 of 1 cells"
    )
    # The Wide Norm has 150 epochs only, so it is compared with the Deep Norm of as many.
    assert found["figure_mn_curves"].text == "in this order in 0 of 1 comparisons of two recipes"
    assert "by the paper's" not in Nearness().findings([row for row in rows if row.epochs != 1500])["table_mn_1"].text
