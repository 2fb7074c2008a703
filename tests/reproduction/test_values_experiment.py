"""The experiment on value functions: its cells, a tiny sweep, tables and figures from rows."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from reproduction.experiments.values.claims import OURS, difference
from reproduction.experiments.values.experiment import Cell, Values
from reproduction.experiments.values.heads import CANDIDATES, CHOSEN, HEADS, MAIN
from reproduction.experiments.values.search import ValuesSearch
from reproduction.frame.executors import Cores
from reproduction.frame.ledger import Ledger
from reproduction.frame.rows import Row
from reproduction.frame.sweep import sweep


def test_the_full_sweep_covers_the_figure() -> None:
    cells = Values().cells("paper", None)
    main = {replace(cell, seed=0) for cell in cells if cell.split == "goal" and cell.head in MAIN and cell.seed < 3}
    assert len(main) == 4 * 4 * 7
    assert all(cell.epochs == 1000 for cell in cells)
    assert len(cells) == len(set(cells))
    assert all(cell.asymmetric and cell.fraction == 0.5 for cell in cells[: 2 * 7 * 3])  # the most telling first
    batches = Values().batches(cells)
    assert sorted({len(batch) for batch in batches}) == [2, 3]
    assert len({replace(cell, seed=0) for cell in batches[0]}) == 1
    assert {cell.seed for cell in Values().cells("paper", (7,))} == {7}


def test_a_tiny_sweep_makes_tables_and_figures(tmp_path: Path) -> None:
    cells = [
        Cell("Maze", asymmetric, fraction, head, split, epochs=1, seed=seed)
        for head in ("MLP", "WN")
        for fraction, split, seeds in ((0.75, "goal", (0, 1)), (0.25, "state", (0,)))
        for asymmetric in (True, False)
        for seed in seeds
    ]
    experiment, ledger = Values(), Ledger(tmp_path / "values.jsonl")
    summary = sweep(experiment, cells, ledger, Cores(1), silent=True)
    assert summary.errors == []
    rows = ledger.rows()
    spl = {row.value for row in rows if row.metric == "test spl"}
    assert all(0 <= value <= 1 for value in spl)
    tables = {table.label: table for table in experiment.tables(rows)}
    cell = tables["figure_value_it_sparsity"].cells["Maze asym 0.75", "WN"]
    assert getattr(cell, "seeds", None) == 2
    assert tables["table_value_state"].rows == ["Maze asym 0.25", "Maze sym 0.25"]
    assert tables["table_vi_arches"].verdict("WideNorm", tables["table_vi_arches"].columns[0]) is None
    figures = experiment.figures(rows)
    # Maps and worlds: curves of one point, and lines of one fraction, are left out.
    assert len({figure.stem for figure in figures}) == len(figures) == 5
    assert all(figure.save(tmp_path).stat().st_size > 10_000 for figure in figures)


def test_a_cell_does_not_depend_on_its_company() -> None:
    cells = [Cell("Maze", True, 0.25, "IQE", "goal", epochs=1, seed=seed) for seed in (0, 1)]
    together, alone = Values().run_batch(cells)[1], Values().run(cells[1])
    for one, other in zip(together, alone, strict=True):
        assert one.metric == other.metric
        if one.metric == "test mse":
            assert one.value == pytest.approx(other.value, rel=1e-4)


def made_up(spl: dict[str, float], *, world: str = "FourRoom", spread: float = 0.01) -> list[Row]:
    """Rows of three seeds, of which a different one is best for each head; the MSE is 10 times the SPL."""
    rows = []
    for place, (head, value) in enumerate(spl.items()):
        settings = {"world": world, "asymmetric": True, "fraction": 0.5, "head": head, "split": "goal", "epochs": 9}
        for seed in range(3):
            for metric, number in (("test spl", value), ("train spl", value), ("test mse", 10 * value)):
                shifted = number + spread * ((seed + place) % 3 - 1)
                rows.append(Row("values", head, seed, metric, shifted, 9, 1.0, "", "", settings, "", (0, 1)))
    return rows


def test_claims_are_judged_with_the_spread() -> None:
    clear = {"Euclidean": 0.2, "MLP": 0.3, "ICNN": 0.4, "DN": 0.5, "WN": 0.6, CHOSEN: 0.7}
    first, second, third = Values().notes(made_up(clear))
    assert '"Deep Norm and Wide Norm consistently outperform both MLPs and ICNNs" holds' in first
    assert first.count("higher in 2 of 2 comparisons, clearly in 2, clearly lower in 0") == 2
    assert (
        'environments" holds for training pairs: clearly worse than Wide Norms in 1 of 1 cells (4-Room asym 0.5: 0.20'
        in second
    )
    assert third.startswith('"Higher MSE, yet better success" holds')
    assert "in 4 of 4 comparisons; in 0 the better planner has the smaller error" in third
    claims = next(t for t in Values().tables(made_up(clear)) if t.label == "table_value_claims")
    assert claims.cells["4-Room asym 0.5", "WN - MLP"] == "+0.300 >"
    assert claims.cells["4-Room asym 0.5", OURS] == "+0.100 >"
    noisy = Values().notes(made_up(clear, spread=0.5))
    assert "clearly in 1" in noisy[0]  # WN and MLP are three places apart: the same seeds are good for both
    backwards = Values().notes(made_up(clear | {"DN": 0.1, "WN": 0.15, "Euclidean": 0.9}))
    assert 'ICNNs" fails' in backwards[0]
    assert 'environments" fails' in backwards[1]


def test_a_line_of_the_table_has_the_seeds_of_all_its_heads() -> None:
    rows = made_up({"DN": 0.5, "MLP": 0.4}, spread=0.1)
    few = [row for row in rows if (row.settings["head"], row.seed) != ("MLP", 2)]
    table = Values().tables(few)[0]
    cells = [table.cells["4-Room asym 0.5", head] for head in ("DN", "MLP")]
    assert [(cell.value, cell.seeds) for cell in cells] == [(pytest.approx(0.45), 2), (pytest.approx(0.45), 2)]  # type: ignore[union-attr]


def test_heads_are_compared_on_the_same_seeds() -> None:
    """What all heads share, such as easy costs, is not spread; a seed that one of them lacks does not count."""
    rows = made_up({"DN": 0.5, "x": 0.0, "y": 0.0, "MLP": 0.45}, spread=0.3)  # both on the same seeds
    gap = difference(rows, "test spl", "4-Room asym", 0.5, "DN", "MLP")
    assert str(gap) == "+0.050 >"
    lacking = [row for row in rows if (row.config, row.seed) != ("DN", 0)]
    assert str(difference(lacking, "test spl", "4-Room asym", 0.5, "DN", "MLP")) == "+0.050 >"
    assert difference(rows, "test spl", "Maze asym", 0.5, "DN", "MLP") is None


def test_one_seed_is_no_evidence() -> None:
    rows = [row for row in made_up({"DN": 0.9, "MLP": 0.1}) if row.seed == 0]
    gap = difference(rows, "test spl", "4-Room asym", 0.5, "DN", "MLP")
    assert gap is not None
    assert gap.value == pytest.approx(0.8, abs=0.1)
    assert gap.mark == "~"
    assert Values().notes(rows) == []


def test_no_runs_at_all() -> None:
    assert Values().notes([]) == []
    assert Values().figures([]) == []
    assert all(not table.cells for table in Values().tables([]) if table.label != "table_vi_arches")


@pytest.mark.parametrize("name", HEADS | CANDIDATES)
def test_every_head_can_be_built(name: str) -> None:
    assert (HEADS | CANDIDATES)[name].build().dim >= 64


def test_the_search_reports_validation_goals() -> None:
    search = ValuesSearch()
    assert {cell.head for cell in search.cells("paper", None)} == set(CANDIDATES)
    cells = search.cells("quick", None)
    assert {cell.split for cell in cells} == {"validation"}
    rows = []
    for value, cell in zip((0.25, 0.75), cells, strict=True):
        settings = asdict(cell)
        rows.append(Row("values-search", cell.head, 0, "test spl", value, 30, 1.0, "", "", settings, "", (0, 1)))
    (table,) = search.tables(rows)
    assert table.rows == ["WN", "MRN"]
    assert getattr(table.cells["MRN", "Maze asym"], "value", None) == 0.75
