"""Diagnostics: the numbers of a distance that is known, warnings, why episodes failed, and pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from trimetric.rl import (
    DirectedPoint,
    Evaluation,
    Trajectories,
    classify_failures,
    diagnose,
    directed_trajectories,
    evaluate,
    save_value_fields,
)


def line(scale: float = 1.0, axis: int = 1) -> tm.Siamese:
    encoder = nn.Linear(axis, 1, bias=False)
    nn.init.constant_(encoder.weight, scale)
    return tm.Siamese(encoder, tm.NormInduced(tm.Euclidean(1)))


def walk(episodes: int = 4, rows: int = 151, cost: float | None = None) -> Trajectories:
    x = np.tile(np.arange(float(rows)), episodes)[:, None]
    ends = np.arange(1, episodes + 1) * rows - 1
    return Trajectories(observations=x, ends=ends, costs=None if cost is None else np.full(len(x), cost))


def test_an_exact_distance_has_nothing_to_complain_about() -> None:
    found = diagnose(line(), walk())
    assert (found.steps.mean, found.steps.over, found.nearer, found.asymmetry) == (1.0, 0.0, 1.0, 0.0)
    assert [(one.steps, one.cost, one.mean) for one in found.along] == [(k, k, k) for k in (1, 2, 5, 10, 20, 50, 100)]
    assert found.warnings() == []
    assert "one step: 1.00 on average" in str(found)


def test_costs_are_the_unit() -> None:
    assert diagnose(line(3.0), walk(cost=3.0)).steps.mean == pytest.approx(1.0)
    assert diagnose(line(3.0), walk(cost=3.0)).along[2].mean == pytest.approx(5.0)


def test_warnings_name_what_is_wrong() -> None:
    assert "the constraints are not kept" in diagnose(line(4.0), walk()).warnings()[0]
    assert "nothing pushes states apart" in diagnose(line(0.1), walk()).warnings()[0]
    back = Trajectories(observations=np.sin(np.arange(300.0))[:, None], ends=np.array([299]))
    assert any("no policy can follow it" in text for text in diagnose(line(), back).warnings())
    stretched = Trajectories(observations=walk().observations * 9, ends=walk().ends)
    assert "9.0 times as long as those that were learned" in diagnose(line(), stretched, train=walk()).warnings()[0]


def test_nearer_counts_states_whose_goal_is_not_the_state_ten_steps_later() -> None:
    # A distance that only knows whether two states are the same: it cannot tell nearer from farther.
    constant = line(0.0)
    assert diagnose(constant, walk(rows=12)).nearer == 0.5
    for rows in (5, 11):
        found = diagnose(constant, walk(rows=rows))
        assert found.nearer is None
        assert "come nearer: not measured (no goal is more than" in str(found)
        assert not any("no policy" in text for text in found.warnings())
    # The way there and back: half of the states are as far from their goals as ten steps later.
    away = Trajectories(observations=-np.abs(np.arange(-15.0, 16.0))[:, None], ends=np.array([30]))
    nearer = diagnose(line(), away).nearer
    assert nearer is not None
    assert nearer < 1.0


def test_logs_are_checked() -> None:
    with pytest.raises(TypeError, match="train: expected a Trajectories, got int"):
        diagnose(line(), walk(), train=3)  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_numbers_and_the_mode_is_kept() -> None:
    log, _ = directed_trajectories(episodes=5)
    torch.manual_seed(0)
    model = tm.Siamese(tm.MLP(2, 8), tm.IntervalQuasimetric(8, components=2)).train()
    assert diagnose(model, log) == diagnose(model, log)
    assert diagnose(model, log) != diagnose(model, log, seed=1)
    assert model.training


def played(paths: list[np.ndarray], goals: list[list[float]], reached: list[bool]) -> Evaluation:
    return Evaluation(
        tasks=("only",),
        reached=np.array([reached]),
        steps=np.array([[len(path) - 1 for path in paths]]),
        optimal=None,
        seconds_per_action=0.0,
        goals=np.array([goals], dtype=np.float32),
        paths=np.stack(paths)[None].astype(np.float32),
    )


def euclidean(seen: Tensor, goals: Tensor) -> Tensor:
    return (seen - goals).norm(dim=-1)


def test_failures_are_told_apart() -> None:
    t = np.linspace(0, 1, 101)[:, None]
    goal = np.array([10.0, 0.0])
    arrives, on_its_way = t * goal, 0.5 * t * goal
    stands = np.where(t < 0.3, t, 0.3) * goal
    circle = np.concatenate([np.sin(40 * t), np.cos(40 * t)], axis=1)
    ends = [[10.0, 0.0]] * 4
    found = classify_failures(
        played([arrives, stands, circle, on_its_way], ends, [True, False, False, False]), euclidean
    )
    assert found.outcomes.tolist() == [["arrived", "does not move", "moves without progress", "runs out of time"]]
    assert found.per_task() == {"only": dict.fromkeys(found.outcomes[0].tolist(), 1)}


def test_walking_into_a_gate_is_seen_as_standing() -> None:
    world = DirectedPoint()
    straight = evaluate(world, lambda seen, goals: goals - seen, episodes=1, tasks=[0, 2], record=True)
    assert set(classify_failures(straight, euclidean).counts()) == {"does not move"}


def test_paths_are_needed() -> None:
    found = evaluate(DirectedPoint(), lambda seen, goals: goals - seen, episodes=1, tasks=[0], max_steps=3)
    with pytest.raises(ValueError, match="record=True"):
        classify_failures(found, euclidean)


def test_pictures(tmp_path: Path) -> None:
    world = DirectedPoint()
    log, _ = directed_trajectories(world, episodes=5)
    found = evaluate(world, lambda seen, goals: goals - seen, episodes=2, tasks=[0, 1], max_steps=60, record=True)
    torch.manual_seed(0)
    model = tm.Siamese(tm.MLP(2, 8), tm.Euclidean(8))
    goals = found.goals[:, 0]
    file = save_value_fields(tmp_path / "f.png", {"untrained": model}, log.observations[::5], goals, evaluation=found)
    assert file.read_bytes().startswith(b"\x89PNG")
    for arguments, message in (
        ({"goals": goals[:1], "evaluation": found}, "evaluation: expected paths of 1 tasks"),
        ({"goals": np.zeros((1, 3))}, "goals: expected vectors"),
        ({"goals": goals, "axes": (0, 2)}, "axes: expected two numbers"),
        ({"goals": goals, "models": {}}, "models, goals"),
    ):
        with pytest.raises(ValueError, match=message):
            save_value_fields(
                tmp_path / "g.png", **({"models": {"m": model}, "observations": log.observations[:9]} | arguments)
            )  # type: ignore[arg-type]
    assert not (tmp_path / "g.png").exists()
