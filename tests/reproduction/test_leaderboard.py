"""The leaderboard: its problems match their description, its heads have the same size, its tables come from rows."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from places import ROOT
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import trimetric as tm
from reproduction.experiments.leaderboard import problems as leaderboard_problems
from reproduction.experiments.leaderboard.experiment import CONFIGS, Cell, Leaderboard
from reproduction.experiments.leaderboard.heads import HEADS, RECOMMENDED, budget, count_parameters, make_model
from reproduction.experiments.leaderboard.problems import PROBLEMS, SHARES, distances, examples
from reproduction.experiments.leaderboard.scores import columns, complete, mean_rank, resampled_firsts
from reproduction.frame.executors import Cores
from reproduction.frame.ledger import Ledger
from reproduction.frame.rows import Row
from reproduction.frame.sweep import sweep

RESULTS = ROOT / "reproduction" / "results"
GRAPHS = [name for name, problem in PROBLEMS.items() if problem.trainings == SHARES]


@pytest.mark.parametrize("name", GRAPHS)
def test_graph_distances_are_shortest_paths(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    closed = leaderboard_problems._closed
    monkeypatch.setattr(leaderboard_problems, "_closed", lambda weights: seen.append(weights.copy()) or closed(weights))
    matrix = PROBLEMS[name].matrix
    assert matrix is not None
    found = matrix(np.random.default_rng([7, 1]))
    np.fill_diagonal(seen[0], 0)
    np.testing.assert_allclose(found, dijkstra(csr_array(seen[0])))
    assert (found != found.T).any()


@pytest.mark.parametrize("name", GRAPHS)
def test_graph_distances_obey_the_triangle_inequality(name: str) -> None:
    matrix = distances(name, 0).double()
    for middle in range(0, len(matrix), 10):
        assert (matrix <= matrix[:, middle, None] + matrix[middle] + 1e-6).all()
    assert (matrix.diagonal() == 0).all()


def test_only_the_unreachable_graph_has_unreachable_pairs() -> None:
    for name in GRAPHS:
        infinite = torch.isinf(distances(name, 0)).float().mean().item()
        assert 0.3 < infinite < 0.6 if name == "unreachable" else infinite == 0
    discounts = examples("unreachable", 24, 0).train[1]
    assert 0.3 < (discounts == 0).float().mean() < 0.6
    assert discounts.max() < 1


def test_a_city_has_one_way_streets_and_a_ring() -> None:
    matrix = distances("city", 0)
    rows, columns_ = leaderboard_problems.CITY
    inner, ring = columns_ + 1, 1
    assert max(matrix[inner, inner + 1], matrix[inner + 1, inner]) > 2 * min(
        matrix[inner, inner + 1], matrix[inner + 1, inner]
    )
    assert max(matrix[0, ring], matrix[ring, 0]) < 0.3
    assert len(matrix) == rows * columns_


def test_matrices_to_repair_need_it() -> None:
    for name in ("nearness sym", "nearness asym"):
        matrix = distances(name, 0)
        through = (matrix[:, :, None] + matrix[None]).amin(dim=1)
        assert (through < matrix - 1e-4).float().mean() > 0.2
    lopsided = distances("nearness asym", 0)
    assert (lopsided - lopsided.T).abs().mean() > 0.3


@pytest.mark.parametrize("name", GRAPHS)
def test_pairs_are_apart_nested_and_the_same_for_every_share(name: str) -> None:
    small, large = examples(name, 3, 1), examples(name, 24, 1)
    nodes = PROBLEMS[name].nodes
    assert nodes is not None

    def numbers(pairs: object) -> set[int]:
        assert isinstance(pairs, torch.Tensor)
        return set((pairs[:, 0] * nodes + pairs[:, 1]).tolist())

    assert numbers(small.train[0]) < numbers(large.train[0])
    assert numbers(small.test[0]) == numbers(large.test[0])
    for each in (small, large):
        sets = [numbers(part[0]) for part in (each.train, each.validation, each.test)]
        assert len(set.union(*sets)) == sum(map(len, sets))
    assert len(large.train[1]) == int(0.24 * nodes * (nodes - 1))


def test_another_seed_is_another_problem() -> None:
    for name, problem in PROBLEMS.items():
        first, second = (examples(name, problem.trainings[0], seed) for seed in (0, 1))
        assert not torch.equal(first.test[1], second.test[1]) or problem.nodes is None
        assert not torch.equal(first.train[1], second.train[1])


@pytest.mark.parametrize("name", ["dense", "unreachable", "nearness sym", "norm asym"])
def test_all_heads_have_the_same_number_of_parameters(name: str) -> None:
    problem = PROBLEMS[name]
    counts = {head: count_parameters(make_model(head, problem, 0)) for head in HEADS}
    assert all(abs(count / budget(problem) - 1) < 0.15 for count in counts.values()), counts
    assert max(counts.values()) < 1.15 * min(counts.values()), counts


def test_the_recommended_head_is_on_the_board() -> None:
    judged = HEADS[RECOMMENDED].build(0, 4)
    torch.manual_seed(0)
    default = tm.recommended(judged.dim, symmetric=False).inner
    default.load_state_dict(judged.state_dict())
    x, y = torch.randn(2, 5, judged.dim)
    assert torch.equal(judged(x, y), default(x, y))


def test_the_recommended_head_has_the_best_mean_rank_of_the_rows_in_the_repository() -> None:
    whole = complete(columns(Ledger(RESULTS / "leaderboard.jsonl").rows()))
    assert len(whole) == len(CONFIGS["paper"].columns)
    assert all(len(column.errors(head)) >= 5 for column in whole for head in column.rows)
    ranks = {head: mean_rank(whole, head) for head in whole[0].rows}
    assert min(ranks, key=lambda head: ranks[head] or 0) == RECOMMENDED, ranks


def test_order_of_the_full_sweep() -> None:
    cells = Leaderboard().cells("paper", None)
    prompt = sum(not head.late for head in HEADS.values())
    first = [(cell.problem, cell.training) for cell in cells[: 8 * 5 * prompt]]
    assert list(dict.fromkeys(first)) == [(name, share) for share in (3, 70) for name in GRAPHS[:4]]
    assert {cell.problem for cell in cells} == set(PROBLEMS)
    assert len({cell.seed for cell in cells}) == 5
    assert len(Leaderboard().batches(cells)) == len(cells) // 5
    assert {cell.rates for cell in cells} == {CONFIGS["paper"].rates}


def test_a_tiny_sweep_makes_tables_with_ranks(tmp_path: Path) -> None:
    experiment = Leaderboard()
    cells = [
        Cell(problem, training, head, (1e-2, 3e-2), 3, seed, batch_size=8192)
        for problem, training in (
            ("dense", 1),
            ("dense", 3),
            ("unreachable", 24),
            ("nearness asym", 100),
            ("norm sym", 16),
        )
        for head in ("Euclidean", "IQE", "MLP")
        for seed in (0, 1)
    ]
    ledger = Ledger(tmp_path / "leaderboard.jsonl")
    summary = sweep(experiment, cells, ledger, Cores(1), silent=True)
    assert summary.errors == []
    rows = ledger.rows()
    errors = [row.value for row in rows if row.metric == "error"]
    assert len(errors) == len(cells)
    assert all(0 < error < 10 for error in errors)
    assert all(set(row.value) == {"0.01", "0.03"} for row in rows if row.metric == "tried")
    ranks, which, leaders, *rest = experiment.tables(rows)
    assert sorted(ranks.rows) == ["Euclidean", "IQE", "MLP"]
    assert sum(float(str(ranks.cells[head, "rank"])) for head in ranks.rows) == pytest.approx(6, abs=0.2)
    assert ranks.cells["IQE", "parameters"] == "19,201"
    assert "columns" in {column.name for column in which.columns}
    assert which.cells["anything", "columns"] == "5"
    assert ("dense", "1 %") in leaders.cells
    assert sum(len(table.cells) for table in rest) == 15
    (figure,) = experiment.figures(rows)
    assert figure.save(tmp_path).stat().st_size > 10_000


def test_a_cell_does_not_depend_on_its_company() -> None:
    cells = [Cell("sparse", 1, "WN", (3e-2,), 8, seed, batch_size=256) for seed in (0, 1)]
    together, alone = Leaderboard().run_batch(cells), Leaderboard().run(cells[1])
    assert together[1][0].metric == alone[0].metric == "error"
    assert together[1][0].value == pytest.approx(alone[0].value, rel=1e-3)


def made_up(errors: dict[tuple[str, int, str], float], *, steps: int = 10, seeds: int = 3) -> list[Row]:
    """Rows with these errors, which differ slightly between seeds."""
    return [
        Row(
            "leaderboard",
            f"{problem} {training} {head} {steps}",
            seed,
            metric,
            value,
            steps,
            1.0,
            "",
            "",
            settings,
            "",
            (0, 1),
        )
        for (problem, training, head), error in errors.items()
        for settings in [{"problem": problem, "training": training, "head": head, "rates": [0.1], "steps": steps}]
        for seed in range(seeds)
        for metric, value in (("error", error * (1 + seed / 100)), ("step ms", 1.0), ("parameters", 19200))
    ]


def test_claims_are_checked_against_rows() -> None:
    rows = made_up(
        {
            ("dense", share, head): error
            for share, tolls in ((3, 0.05), (70, 0.3))
            for head, error in (("IQE", 0.1), ("DN", 0.2), ("Toll IQE", tolls), ("MLP", 0.01))
        }
    )
    little, much = Leaderboard().notes(rows)
    assert little.startswith('"IQE leads with little data" holds: among plain metrics it does in 1 of 1 columns')
    assert much.startswith('"Deep Norm leads with 70 %" fails')
    assert "IQE (dense 70 %)" in much
    ranks, which, leaders, *_ = Leaderboard().tables(rows)
    assert ranks.cells["MLP", "rank"] == "1.00"
    assert ranks.cells["IQE", "rank"] == "2.50"
    assert leaders.cells["dense", "3 %"] == "Toll IQE 0.0505 < IQE 0.101; plain: IQE"
    assert which.cells["a graph, few pairs known (1, 3 %)", "use"] == "Toll IQE (1.00)"


def test_no_runs_at_all() -> None:
    assert [note for note in Leaderboard().notes([]) if "no run yet" in note]
    assert all(not table.cells for table in Leaderboard().tables([]))
    assert Leaderboard().figures([]) == []


def test_columns_that_are_cut_short_and_small_efforts_do_not_count() -> None:
    quick = made_up({("city", 24, "IQE"): 9.0, ("dense", 3, "DN"): 9.0}, steps=5)
    full = made_up({("dense", 3, "IQE"): 0.1, ("dense", 3, "DN"): 0.2, ("block", 3, "DN"): 0.3})
    found = columns([*quick, *full])
    assert [column.name for column in found] == ["dense 3 %", "block 3 %", "city 24 %"]
    assert found[0].mean("DN") == pytest.approx(0.202)
    assert [column.name for column in complete(found)] == ["dense 3 %"]


def test_a_late_head_counts_where_every_column_has_it() -> None:
    errors = {("dense", share, head): error for share in (3, 8) for head, error in (("IQE", 0.2), ("DN", 0.3))}
    errors["dense", 3, "PQE GG"] = 0.1
    some = complete(columns(made_up(errors)))
    assert [column.rank("IQE") for column in some] == [1, 1]
    every = complete(columns(made_up({**errors, ("dense", 8, "PQE GG"): 0.1})))
    assert [column.rank("IQE") for column in every] == [2, 2]


def test_resampled_seeds_tell_how_sure_a_first_place_is() -> None:
    sure = complete(columns(made_up({("dense", 3, "IQE"): 0.1, ("dense", 3, "DN"): 0.2})))
    assert resampled_firsts(sure, "IQE") == 1
    assert resampled_firsts(sure, "DN") == 0
    close = made_up({("dense", 3, "IQE"): 1.0, ("dense", 3, "DN"): 1.0})
    better = {("IQE", 0), ("IQE", 1), ("DN", 2)}
    found = [replace(row, value=0.5) if (row.settings["head"], row.seed) in better else row for row in close]
    assert 0.5 < resampled_firsts(complete(columns(found)), "IQE") < 1


def test_a_head_that_came_to_nothing_is_last() -> None:
    rows = made_up({("dense", 3, "IQE"): math.nan, ("dense", 3, "DN"): 0.2})
    (column,) = columns(rows)
    assert column.rank("IQE") == 2
    assert column.order() == ["DN", "IQE"]
    assert replace(column, training=8).name == "dense 8 %"
