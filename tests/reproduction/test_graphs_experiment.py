"""The experiment on graphs: its cells, its data, tiny sweeps, tables and figures from rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import trimetric as tm
from reproduction.experiments.graphs import data as graphs_data
from reproduction.experiments.graphs.cells import BASELINE, SIZES, Cell
from reproduction.experiments.graphs.data import ASYMMETRIC, GENERATED, MAP, NAMES, SYMMETRIC, Source, load
from reproduction.experiments.graphs.experiment import Graphs
from reproduction.experiments.graphs.heads import HEADS, OURS, PAPER, make_model
from reproduction.experiments.graphs.ranking import SAME
from reproduction.experiments.graphs.tables import Runs
from reproduction.frame.executors import Cores
from reproduction.frame.ledger import Ledger
from reproduction.frame.rows import Row
from reproduction.frame.styles import SAME as OTHER_NAMES
from reproduction.frame.styles import STYLES
from reproduction.frame.sweep import sweep
from reproduction.frame.tables import Measured

TINY = {"side": 5, "sample": 800}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(MAP, raising=False)
    load.cache_clear()
    yield
    load.cache_clear()


def tiny(graph: str, head: str, *, depth: int = 1, pairs: int = 500, seed: int = 0, protocol: str = "quick") -> Cell:
    return Cell(graph, head, depth, pairs, protocol, seed, epochs=2, weight_decay=0.1, **TINY)


def write_map(path: Path) -> None:
    """A small city of one-way streets as a DIMACS file."""
    graph = tm.graphs.torus3d_directed(seed=0, side=5)
    arcs = zip(graph.tails + 1, graph.indices + 1, np.round(100 * graph.weights).astype(int), strict=True)
    lines = [f"p sp {graph.num_nodes} {graph.num_arcs}", *(f"a {u} {v} {w}" for u, v, w in arcs)]
    path.write_text("\n".join(lines) + "\n")


def test_the_budgets_cover_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_map(tmp_path / "city.gr")
    monkeypatch.setenv(MAP, str(tmp_path / "city.gr"))
    paper = Graphs().cells("paper", None)
    main = {(cell.graph, cell.head, cell.depth, cell.pairs, cell.seed) for cell in paper if cell.head in PAPER}
    assert len(main) == 7 * 5 * 4 * 6 * 3
    assert all(cell.epochs == 1000 and not cell.weight_decay for cell in paper if cell.head != BASELINE)
    assert {cell.calibrated for cell in paper if cell.head == "MLP"} == {False}
    assert {cell.calibrated for cell in paper if cell.head == "MLP calibrated"} == {True}
    fast = Graphs().cells("default", None)
    assert {cell.protocol for cell in fast if cell.head != BASELINE} == {"fast", "tenth"}
    tenth = [cell for cell in fast if cell.protocol == "tenth"]
    assert {replace(cell, protocol="paper", epochs=1000) for cell in tenth} <= set(Graphs().cells("paper", (0,)))
    assert {cell.graph for cell in fast} == set(NAMES)
    assert {cell.map for cell in fast if cell.graph.startswith("to")} == {"city.gr"}
    first = fast[: 7 + 5 * 7]
    assert {cell.graph for cell in first if cell.head == BASELINE} == set(NAMES)
    steps = {cell.pairs: cell.epochs * -(-cell.pairs // 256) for cell in fast if cell.protocol != "tenth"}
    assert set(steps) == set(SIZES)
    assert all(2000 <= count < 4000 for count in steps.values())
    assert not any(cell.head == "WN rectified" for cell in fast if cell.graph in SYMMETRIC)
    for cells in (paper, fast):
        assert len(cells) == len(set(cells))
    assert {cell.seed for cell in Graphs().cells("paper", (7,)) if cell.head != BASELINE} == {7}
    assert {len(batch) for batch in Graphs().batches(paper)} == {1, 3}


def test_without_a_map_there_are_no_roads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAP, "/no/such/map.osm.pbf")
    for scale in ("quick", "default", "paper"):
        assert {cell.graph for cell in Graphs().cells(scale, None)} == set(GENERATED)
    with pytest.raises(FileNotFoundError, match=rf"{MAP}: expected the path of the map 'city.gr', got ''"):
        load(Source("to", "city.gr", 0, 800, "farthest"))


def test_data_are_exact_and_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("3dd", "", 5, 800, "farthest")
    data = load(source)
    graph = tm.graphs.torus3d_directed(seed=0, side=5)
    exact = tm.graphs.ShortestPaths(graph, engine="scipy", progress="silent").pairs(*data.sample.ends.T)
    assert np.allclose(data.sample.lengths, exact)
    assert data.edges == graph.num_edges
    assert data.features.shape == (125, 2 * 32 + 96)
    parts = [data.sample.test_rows, data.sample.validation_rows, data.sample.training_rows(600)]
    assert [(part.start, part.stop) for part in parts] == [(0, 100), (100, 200), (200, 800)]
    assert float(np.mean(data.sample.distances)) == pytest.approx(50)
    assert data.pairs(data.sample.test_rows)[1].double().numpy() == pytest.approx(exact[:100] * data.sample.scale)

    monkeypatch.setattr(graphs_data, "_compute", lambda *_: pytest.fail("computed again"))
    load.cache_clear()
    again = load(source)
    assert torch.equal(again.features, data.features)
    assert again.engine == data.engine
    with pytest.raises(pytest.fail.Exception):
        load(replace(source, landmarks="random"))


def test_a_tiny_sweep_makes_tables_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_map(tmp_path / "city.gr")
    monkeypatch.setenv(MAP, str(tmp_path / "city.gr"))
    roads = {"map": "city.gr", "side": 0}
    cells = [
        *(tiny(graph, BASELINE) for graph in ("3d", "3dd")),
        *(tiny("3d", head) for head in PAPER),
        *(tiny("3d", head, depth=0) for head in ("WN", "MLP")),
        *(tiny("3dd", head, seed=seed) for head in ("WN rectified", "Toll IQE") for seed in (0, 1)),
        *(replace(tiny("3d", "Toll WN"), pairs=pairs) for pairs in (100, 500)),
        *(replace(tiny(graph, head), **roads) for graph in ("to", "to directed") for head in (BASELINE, "recommended")),
    ]
    experiment, ledger = Graphs(), Ledger(tmp_path / "graphs.jsonl")
    summary = sweep(experiment, cells, ledger, Cores(1), silent=True)
    assert summary.errors == []
    rows = ledger.rows()
    assert all(row.settings["protocol"] == "quick" for row in rows)
    tables = {table.label: table for table in experiment.tables(rows)}
    quick = tables["table_graph_quick"]
    assert isinstance(quick.cells["3d", "MLP"], Measured)
    two = quick.cells["3dd", "Toll IQE"]
    assert isinstance(two, Measured)
    assert two.seeds == 2
    assert isinstance(quick.cells["to directed", "recommended"], Measured)
    assert quick.cells["3d", "WN rectified"] == "as WN"
    assert isinstance(quick.cells["3d", "landmarks"], Measured)
    assert not tables["table_graph_results"].cells  # small graphs never stand beside the paper's
    assert not any(isinstance(cell, Measured) for cell in tables["table_graph_stats"].cells.values())
    assert Runs(rows).depths("quick", ["3d"]) == [1]  # the other depth has one number of pairs: no curve
    assert Runs(rows).depths("quick", ["3dd", "to directed"]) == [1]
    figures = experiment.figures(rows)
    assert list(dict.fromkeys(figure.label for figure in figures)) == [
        "figure_symmetric_graph_learning_curves",
        "figure_asymmetric_graph_learning_curves",
    ]
    assert all(figure.save(tmp_path).stat().st_size > 10_000 for figure in figures)
    # On the asymmetric graphs one number of pairs was run, so there is no curve by pairs.
    assert len({figure.stem for figure in figures}) == len(figures) == 3


def test_what_is_measured() -> None:
    results = {result.metric: result for result in Graphs().run(tiny("3d", "DN_I"))}
    epoch, _, validation, test = results["curve"].value[-1]
    assert epoch == 2
    assert validation == results["validation mse"].value
    assert test == pytest.approx(results["mse"].value, rel=1e-4)
    bounds = {result.metric: result.value for result in Graphs().run(tiny("3d", BASELINE))}
    assert bounds["vertices"] == 125
    assert bounds["edges"] == 375
    assert bounds["lower over estimated"] == 0
    assert bounds["upper over estimated"] > 0.1
    data = load(Source("3d", "", 5, 800, "farthest"))
    table, ends = data.landmarks.from_landmarks, data.sample.ends[:100]
    lower = np.abs(table[ends[:, 0]] - table[ends[:, 1]]).max(axis=1)
    off = data.sample.scale * (lower - data.sample.lengths[:100])
    assert bounds["lower mse"] == pytest.approx(float(np.mean(off**2)), rel=1e-4)
    assert bounds["affine mse"] < bounds["upper mse"]


def test_a_cell_does_not_depend_on_its_company() -> None:
    cells = [tiny("3dd", "Toll DN_N", seed=seed) for seed in (0, 1)]
    together, alone = Graphs().run_batch(cells)[1], Graphs().run(cells[1])
    for one, other in zip(together, alone, strict=True):
        assert one.metric == other.metric
        if one.metric in ("mse", "validation mse"):
            assert one.value == pytest.approx(other.value, rel=1e-3)


def made_up(errors: dict[tuple[str, int, float], tuple[float, float]], protocol: str = "fast") -> list[Row]:
    """Rows on 3d with 50,000 pairs: validation and test error by head, depth and decay."""
    rows = []
    for (head, depth, decay), (validation, test) in errors.items():
        cell = Cell("3d", head, depth, 50_000, protocol, 0, weight_decay=decay)
        settings = {name: value for name, value in vars(cell).items() if name != "seed"}
        for seed in (0, 1):
            for metric, value in (("validation mse", validation + seed), ("mse", test + seed)):
                config = f"{protocol} {head} {depth} {decay}"
                rows.append(Row("graphs", config, seed, metric, value, 20, 1.0, "", "", settings, "", (0, 1)))
    return rows


def test_settings_are_chosen_on_validation_pairs() -> None:
    errors = {("WN", 3, 1.0): (9.0, 12.0), ("WN", 2, 1.0): (8.0, 20.0), ("MLP", 3, 0.1): (7.0, 7.5)}
    rows = [*made_up(errors), *made_up({("WN", 3, 0.0): (1.0, 1.0)}, "paper")]
    fast, paper = (table for table in Graphs().tables(rows) if table.label == "table_graph_results")
    cell = fast.cells["3d", "WN"]
    assert isinstance(cell, Measured)
    assert cell.value == 20.5  # not the smaller test error of the other depth
    chosen = next(table for table in Graphs().tables(rows) if table.label == "table_graph_chosen_fast")
    assert chosen.cells["3d", "WN"] == "depth 2, decay 1"
    column = next(column for column in fast.columns if column.name == "MLP")
    assert fast.verdict("3d", column) == "beats"  # 8 against the paper's 20.6
    other = paper.cells["3d", "WN"]
    assert isinstance(other, Measured)
    assert other.value == 1.5
    first, second, third = Graphs().notes(rows)
    assert first == "3d, fast: best metric WN 20.5 (paper 12.9), best MLP MLP 8 (paper 20.6)"
    assert second == "3d, paper: best metric WN 1.5 (paper 12.9)"
    assert f"set {MAP}" in third


def test_the_ranks_of_two_protocols() -> None:
    fast = {
        ("WN", 3, 1.0): (1.0, 9.0),
        ("WN", 2, 1.0): (0.0, 99.0),
        ("MLP", 3, 1.0): (1.0, 7.0),
        ("DN_I", 3, 1.0): (1, 8),
    }
    paper = {("WN", 3, 0.0): (1.0, 5.0), ("MLP", 3, 0.0): (1.0, 6.0), ("DN_I", 3, 0.0): (1.0, 7.0)}
    tenth = {key: (1.0, error + 0.3) for key, (_, error) in paper.items()}
    rows = [*made_up(fast), *made_up(paper, "paper"), *made_up(tenth, "tenth")]
    table = next(table for table in Graphs().tables(rows) if table.label == "table_graph_ranking")
    assert table.cells["3d, 50,000, paper", "WN"] == "5.5 (1)"
    assert table.cells["3d, 50,000, fast", "WN"] == "9.5 (3)"
    assert table.cells["3d, 50,000, fast", SAME] == "1 of 3; of those 5% apart 1 of 3"
    assert table.cells["3d, 50,000, tenth", SAME] == "3 of 3; of those 5% apart 3 of 3"
    judged = Graphs().findings(rows)["table_graph_results"].text
    assert "tuned, 50,000 pairs: the best below the MLP in 0 of 1 graphs" in judged
    assert "by the paper's protocol, 50,000 pairs: the best below the MLP in 1 of 1 graphs" in judged
    assert not [table for table in Graphs().tables(made_up(fast)) if table.label == "table_graph_ranking"]


def test_both_protocols_side_by_side() -> None:
    fast = {("WN", 3, 1.0): (3.0, 9.0), ("DN_I", 3, 1.0): (2.0, 8.0), ("DN_N", 3, 1.0): (4.0, 7.0)}
    paper = {("WN", 3, 0.0): (1.0, 5.5), ("DN_I", 3, 0.0): (4.0, 1.0), ("DN_N", 3, 0.0): (2.0, 4.0)}
    rows = [*made_up({**fast, ("MLP", 2, 0.3): (1.0, 5.5)}), *made_up({**paper, ("MLP", 3, 0.0): (1.0, 11.5)}, "paper")]
    rows += [
        replace(row, metric="curve", value=[[100, 1.0, 8.0, 9.0 + row.seed], [200, 0.5, 8.5, 7.0]])
        for row in rows
        if row.settings["head"] == "MLP" and row.metric == "mse"
    ]
    table = next(table for table in Graphs().tables(rows) if table.label == "table_graph_protocols")
    values = {column: cell.value if isinstance(cell, Measured) else cell for (_, column), cell in table.cells.items()}
    assert values.pop("best norm, stopped") is None  # these norms have no curves
    assert values == {
        "best norm, printed": "12.9",
        "best norm, rerun": 6,  # WN, by validation pairs
        "best norm, ours": 8.5,
        "MLP, printed": "20.6",
        "MLP, rerun": 12,
        "MLP, stopped": 9.5,  # by validation pairs
        "MLP, ours": 6,
    }
    assert (
        "With 50,000 pairs the MLP is behind the best norm by the paper's protocol on 1 (2 times its error) of 1 "
        "graphs, and by ours on 0 (0.71 times its error)" in table.note
    )
    assert "multiplies the error of the best norm by 1.4, and that of the MLP by 0.5." in table.note
    some = [row for row in rows if row.settings["head"] != "DN_N"]  # the best norm is known when all three are
    partial = next(table for table in Graphs().tables(some) if table.label == "table_graph_protocols")
    assert {column.partition(",")[0] for _, column in partial.cells} == {"MLP"}
    assert "With 50,000 pairs" not in partial.note
    assert not [table for table in Graphs().tables(made_up(fast)) if table.label == "table_graph_protocols"]


def test_no_runs_at_all() -> None:
    assert Graphs().notes([]) == []
    assert Graphs().figures([]) == []
    assert all(not any(table.cells.values()) for table in Graphs().tables([]))


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", list(HEADS))
def test_every_head_promises_what_its_column_says(name: str, symmetric: bool) -> None:
    model = make_model(name, 128, 2, symmetric=symmetric, calibrated=True, seed=0)
    assert model.axioms.triangle == HEADS[name].metric
    if HEADS[name].metric and symmetric:
        assert model.axioms.symmetric
    assert model(torch.randn(3, 128), torch.randn(3, 128)).shape == (3,)
    again = make_model(name, 128, 2, symmetric=symmetric, calibrated=True, seed=0)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    if HEADS[name].encoded:
        with pytest.raises(ValueError, match="depth: expected at least 1"):
            make_model(name, 128, 0, symmetric=symmetric, calibrated=True, seed=0)


def test_the_names_are_the_papers() -> None:
    from reproduction.frame.paper import paper_values

    theirs = paper_values("table_graph_results")
    assert set(theirs) < set(NAMES)
    assert all(set(row) == set(PAPER) for row in theirs.values())
    assert set(SYMMETRIC).isdisjoint(ASYMMETRIC)
    assert set(PAPER).isdisjoint(OURS)
    assert set(HEADS) <= STYLES.keys() | OTHER_NAMES.keys()  # each has a style of its own
