"""The experiment on map models: cells, results and tables."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from reproduction.experiments.maps.experiment import Cell, Maps
from reproduction.frame.rows import Row

pytest.importorskip("numba")


def rows_of(cell: Cell, **instead: object) -> list[Row]:
    """Rows as the ledger would hold them, under other settings."""
    settings = {name: value for name, value in asdict(cell).items() if name != "seed"} | instead
    results = Maps().run(cell)
    return [
        Row("maps", str(settings), 0, result.metric, result.value, 0, 1.0, "0", "", settings, "run", (i, len(results)))
        for i, result in enumerate(results)
    ]


def test_without_files_only_generated_graphs_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIMETRIC_JINAN", raising=False)
    monkeypatch.delenv("TRIMETRIC_MAP", raising=False)
    assert {cell.graph for cell in Maps().cells("default", None)} == {"3d", "3dr", "push"}
    monkeypatch.setenv("TRIMETRIC_JINAN", "folder")
    monkeypatch.setenv("TRIMETRIC_MAP", "city.osm.pbf")
    assert {"jinan", "map length", "map time"} <= {cell.graph for cell in Maps().cells("default", None)}


def test_tables_and_the_figure_come_from_rows_alone() -> None:
    cell = Cell("3d", 8, "metric", False, "float32", False, 0, True)
    assert Maps().tables([]) == []
    rows = rows_of(cell, quick=False)
    (table,) = Maps().tables(rows)
    assert table.label == "table_maps"
    assert ("3d", "random: model") in table.cells
    searched = rows_of(replace(cell, guarantee="lower", expansions=True), quick=False)
    metrics = {row.metric: row.value for row in searched}
    assert metrics["steep arcs"] == 0
    assert metrics["expansions: model"] > 0
    assert [table.label for table in Maps().tables(searched)] == ["table_maps_astar"]
    assert Maps().figures(rows) == []
