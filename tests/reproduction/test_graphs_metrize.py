"""The experiment that makes networks metrics: its cells, a tiny run of each method, and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reproduction.experiments.graphs.data import ASYMMETRIC, MAP, SYMMETRIC, load
from reproduction.experiments.graphs.metrize import (
    BEST_METRIC,
    BEST_NETWORK,
    METHODS,
    METRICS,
    SETTINGS,
    Cell,
    GraphsMetrize,
)
from reproduction.frame.executors import Cores
from reproduction.frame.ledger import Ledger
from reproduction.frame.rows import Row
from reproduction.frame.sweep import sweep
from reproduction.frame.tables import Measured

TINY = {"side": 5, "sample": 800, "pairs": 500, "epochs": 2, "denoising": 150, "steps": 50, "batch_size": 64}


@pytest.fixture(autouse=True)
def _own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(MAP, raising=False)
    monkeypatch.chdir(tmp_path)  # for what the cells share
    load.cache_clear()
    yield
    load.cache_clear()


def test_the_cells_cover_graphs_methods_and_seeds() -> None:
    cells = GraphsMetrize().cells("default", None)
    everywhere = len(METHODS) - 1  # a band on one graph
    assert len(cells) == len(set(cells)) == 3 * (5 * everywhere + 1)  # without a map there are no roads
    assert {cell.graph for cell in cells if cell.method == "band"} == {"3dd"}
    assert {cell.graph for cell in cells} == {*SYMMETRIC, *ASYMMETRIC} - {"to", "to directed"}
    assert {cell.seed for cell in GraphsMetrize().cells("default", (4,))} == {4}
    assert all(cell.side for cell in GraphsMetrize().cells("quick", None))


@pytest.mark.filterwarnings("ignore:metrize")
def test_a_tiny_run_of_each_method_is_a_metric_or_says_that_it_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [Cell("3d", method, 0, **TINY) for method in METHODS]  # type: ignore[arg-type]
    monkeypatch.setattr(GraphsMetrize, "cells", lambda *_: cells)
    ledger = Ledger(tmp_path / "rows.jsonl")
    sweep(GraphsMetrize(), cells, ledger, Cores(1))
    rows = {(row.settings["method"], row.metric): row.value for row in ledger.rows()}
    for method in METHODS:
        assert 0 < rows[method, "mse"] < 1e4
        assert rows[method, "validation mse"] > 0
    for method in METRICS:
        assert rows[method, "triangle defect"] == 0
    assert rows["corridor", "floor"] > 0
    assert GraphsMetrize().tables(list(ledger.rows()))[0].cells == {}  # small grids are not in the table
    assert GraphsMetrize().findings(list(ledger.rows())) == {}


def test_the_table_has_the_best_of_before_beside_the_new() -> None:
    def row(graph: str, method: str, metric: str, value: float, **others: float) -> Row:
        settings = {"graph": graph, "method": method, "sample": 150_000} | SETTINGS[graph] | others
        config = f"{graph} {method} {others}"
        return Row("graphs-metrize", config, 0, metric, value, 3000, 1.0, "0", "c", settings, config, (0, 1))

    rows = [row("push", "corridor", "mse", 3.5), row("push", "MLP ensemble", "mse", 3.45)]
    rows.append(row("push", "corridor", "mse", 9.0, pull=0.9))  # of settings that were given up
    table, details = GraphsMetrize().tables([*rows, row("push", "corridor", "floor", 5.0)])
    new, metric, network = (table.cells["push", name] for name in ("corridor", BEST_METRIC, BEST_NETWORK))
    assert isinstance(new, Measured)
    assert new.value == 3.5
    assert isinstance(metric, Measured)
    assert isinstance(network, Measured)
    assert network.value < metric.value
    floor = details.cells["push", "floor"]
    assert isinstance(floor, Measured)
    assert floor.value == 5.0
    rows += [row("push", "corridor", "validation mse", 3.4)]
    finding = GraphsMetrize().findings(rows)["table_graph_metrize"]
    assert finding.text.count("1 of 1") == 2
    # Validation pairs choose, whatever the test errors are.
    rows += [row("push", "distilled", "mse", 3.9), row("push", "distilled", "validation mse", 3.3)]
    finding = GraphsMetrize().findings(rows)["table_graph_metrize"]
    assert finding.text.count("0 of 1") == 2
