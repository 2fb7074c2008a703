"""The study of routing matrices: cells, a tiny run of each, tables and findings from rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reproduction.experiments.routing.data import generated_matrix, instance_files
from reproduction.experiments.routing.experiment import Routing
from reproduction.experiments.routing.solving import RoutingSolve, repaired
from reproduction.frame.executors import Cores
from reproduction.frame.ledger import Ledger
from reproduction.frame.sweep import sweep
from trimetric.nearness import closure, is_metric


def test_instances_are_those_of_the_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TRIMETRIC_VRP", "TRIMETRIC_ATSP"):
        monkeypatch.delenv(variable, raising=False)
    assert {cell.instance for cell in Routing().cells("default", None)} == {"generated"}
    (tmp_path / "ORTEC-VRPTW-ASYM-04c694cd-d1-n254-k18.txt").touch()
    (tmp_path / "br17.atsp").touch()
    for variable in ("TRIMETRIC_VRP", "TRIMETRIC_ATSP"):
        monkeypatch.setenv(variable, str(tmp_path))
    assert list(instance_files()) == ["04c694cd", "br17"]
    assert {cell.instance for cell in RoutingSolve().cells("default", None)} == {"04c694cd", "generated"}


def test_repairs_are_measured(tmp_path: Path) -> None:
    experiment, ledger = Routing(), Ledger(tmp_path / "rows.jsonl")
    assert sweep(experiment, experiment.cells("quick", None), ledger, Cores(1), silent=True).errors == []
    broken, repairs = experiment.tables(ledger.rows())
    given = generated_matrix()
    share = (given > closure(given)).sum() / (given.size - len(given))
    assert broken.cells["generated", "broken pairs"].value == pytest.approx(share)  # type: ignore[union-attr]
    nearest, below = (repairs.cells["generated", f"{name}: J"].value for name in ("nearest", "decrease-only"))  # type: ignore[union-attr]
    assert 0 < nearest < below
    (found,) = experiment.findings(ledger.rows()).values()  # none about published instances
    assert found.verdict == "holds"
    assert experiment.tables([])[0].rows == []


def test_solutions_are_compared_on_the_same_costs(tmp_path: Path) -> None:
    pytest.importorskip("pyvrp")
    experiment, ledger = RoutingSolve(), Ledger(tmp_path / "rows.jsonl")
    cells = [replace(cell, seconds=0.05) for cell in experiment.cells("quick", (0,))]
    assert sweep(experiment, cells, ledger, Cores(1), silent=True).errors == []
    rows = {(row.settings["variant"], row.metric): row.value for row in ledger.rows()}
    given = generated_matrix()
    for variant in ("given", "decrease-only", "nearest"):
        assert rows[variant, "paths cost"] <= rows[variant, "given cost"]
        assert is_metric(repaired(given, variant)) == (variant != "given")
    assert rows["given", "cost"] == rows["given", "given cost"]
    assert rows["decrease-only", "cost"] == rows["decrease-only", "paths cost"]
    np.testing.assert_array_equal(repaired(given, "decrease-only"), closure(given))
    (table,) = experiment.tables(ledger.rows())
    assert table.rows == ["generated"]
