"""The experiment `rl`: its cells, one tiny run, and tables, findings and figures from rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest

from reproduction.experiments.rl.cells import DIRECTED, MAIN, NONE, POINTMAZES, Cell, cells_of
from reproduction.experiments.rl.experiment import Reinforcement
from reproduction.experiments.rl.heads import DIM, HEADS
from reproduction.experiments.rl.objectives import OBJECTIVES, make_objective
from reproduction.experiments.rl.published import published
from reproduction.frame.experiment import key_of, settings
from reproduction.frame.rows import Row
from reproduction.frame.tables import Measured


def rows_of(cell: Cell, values: dict[str, Any]) -> Iterator[Row]:
    key = key_of("rl", cell)
    for part, (metric, value) in enumerate(values.items()):
        yield Row(
            experiment="rl",
            config=key.config,
            seed=cell.seed,
            metric=metric,
            value=value,
            epochs=cell.steps,
            seconds=1.0,
            version="0",
            commit="0",
            settings=settings(cell),
            run=f"{key}",
            part=(part, len(values)),
        )


def full(world: str, head: str = MAIN, seed: int = 0) -> Cell:
    cells = [cell for cell in cells_of("default", None) if (cell.world, cell.head, cell.seed) == (world, head, seed)]
    return cells[0]


def test_there_are_all_the_runs() -> None:
    cells = cells_of("default", None)
    assert len(cells) == len(set(cells))
    directed = {(cell.head, cell.seed) for cell in cells if cell.world == DIRECTED and cell.objective == "sqrt"}
    assert directed == {(head, seed) for head in HEADS for seed in range(3)}
    assert {cell.objective for cell in cells if cell.world == DIRECTED} == {*OBJECTIVES, NONE}
    assert {cell.world for cell in cells_of("quick", None)} <= {DIRECTED, "medium-navigate"}
    if find_spec("ogbench") is not None:
        mazes = {(cell.world, cell.seed) for cell in cells if cell.head == MAIN and cell.world in POINTMAZES}
        assert mazes == {(world, seed) for world in POINTMAZES for seed in range(3)}


def test_heads_have_the_same_points_and_objectives_their_names() -> None:
    for head in HEADS.values():
        distance = head.build()
        assert distance.dim == DIM
        assert head.metric == distance.axioms.triangle
        assert head.asymmetric != distance.axioms.symmetric
    assert make_objective("softplus", "giant-navigate").reach == 1000.0  # type: ignore[attr-defined]


def test_published_numbers_are_percentages_of_the_six_data_sets() -> None:
    numbers = published()
    assert set(numbers["QRL"]) == set(POINTMAZES)
    assert numbers["QRL"]["giant-stitch"] == 50
    assert all(set(own) <= set(POINTMAZES) and all(0 <= v <= 100 for v in own.values()) for own in numbers.values())


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """A tiny run of a head and of the baseline in the directed world."""
    cells = [cell for cell in cells_of("quick", None) if cell.world == DIRECTED and cell.head in (MAIN, NONE)]
    tiny = [replace(cell, episodes=1, planner_episodes=1) for cell in cells if cell.objective in ("sqrt", NONE)]
    assert len(tiny) == 2
    return [
        row
        for cell in tiny
        for row in rows_of(cell, {result.metric: result.value for result in Reinforcement().run(cell)})
    ]


def test_a_run_measures_what_the_tables_show(rows: list[Row]) -> None:
    found = {(row.settings["head"], row.metric): row.value for row in rows}
    assert found[NONE, "waypoints success"] <= 0.3
    assert found[NONE, "asymmetry correlation"] == 0.0
    assert 4 < found[MAIN, "random regret"] < 7
    assert found[MAIN, "regret"] < found[MAIN, "random regret"] + 0.5
    assert len(found[MAIN, "waypoints tasks"]) == 10
    assert all(math.isfinite(value) for value in found.values() if isinstance(value, float))
    assert {name for head, name in found if head == NONE} >= {"clone success", "graph success", "field"}


def test_quick_runs_are_not_shown_as_full_ones(rows: list[Row]) -> None:
    assert not any(table.runs for table in Reinforcement().tables(rows))
    assert Reinforcement().figures(rows) == []


def test_tables_figures_and_findings_of_full_rows(rows: list[Row]) -> None:
    field = next(row.value for row in rows if row.metric == "field")
    walks = [[[1.0, 1.0], [2.0, 2.0]]] * 10
    success = {"waypoints success": 0.9, "graph success": 1.0, "field": field, "graph walks": walks}
    made = [
        *rows_of(full(DIRECTED), {**success, "correlation": 0.97, "regret": 0.5}),
        *rows_of(full(DIRECTED, "Euclidean"), {**success, "graph success": 0.4, "correlation": 0.6}),
        *rows_of(full(DIRECTED, NONE), {**success, "waypoints success": 0.0, "graph success": 0.1}),
    ]
    if find_spec("ogbench") is not None:
        parts = dict.fromkeys([f"seconds {part}" for part in ("data", "distance", "local", "planners", "actor")], 12.0)
        made += rows_of(full("large-navigate"), {**success, "actor success": 0.9, **parts})
        made += rows_of(full("giant-stitch"), {**success, "actor success": 0.4, **parts})
    experiment = Reinforcement()
    tables = {table.label: table for table in experiment.tables(made)}
    cell = tables["table_rl_directed"].cells[MAIN, "success"]
    assert isinstance(cell, Measured)
    assert cell.value == pytest.approx(90)
    findings = experiment.findings(made)
    assert findings["table_rl_directed"].verdict == "holds"
    assert {figure.stem for figure in experiment.figures(made)} >= {"rl_directed"}
    if find_spec("ogbench") is not None:
        shown = tables["table_rl_pointmaze"].cells
        assert shown["large-navigate", "QRL"] == "86"
        minutes = shown["large-navigate", "CPU minutes"]
        assert isinstance(minutes, Measured)
        assert minutes.value == pytest.approx(1.0)
        assert findings["table_rl_pointmaze"].text.startswith(
            "actors at least as successful as the published QRL in 1 of 2"
        )
    assert Reinforcement().findings([]) == {}
