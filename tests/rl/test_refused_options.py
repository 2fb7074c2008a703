"""Options without effect, and arguments that would broadcast or fail later, are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from small_worlds import box_walks, gated_ring
from torch import Tensor

import trimetric as tm
from trimetric import rl

LOG = box_walks(4, 8)
SILENT: dict[str, Any] = {"progress": "silent"}
LINE = np.arange(6.0)[:, None]
STEPS = rl.Transitions(observations=LINE[:-1], next_observations=LINE[1:], costs=np.ones(5))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (
            "clone",
            {
                "objective": rl.Constrained(),
                "head": "wide",
                "dim": 8,
                "widths": (8,),
                "steps": 50,
                "learning_rate": 1e-2,
                "horizon": 5,
                "states": 9,
                "held_out": LOG,
            },
        ),
        ("none", {"horizon": 5, "states": 9, "policy_steps": 50}),
        ("awr", {"horizon": 5, "states": 9}),
    ],
)
def test_options_that_a_kind_of_policy_does_not_use_are_refused(kind: Any, options: dict[str, Any]) -> None:
    for name, value in options.items():
        with pytest.raises(ValueError, match=f"{name}: expected .*, as it has no effect with kind={kind!r}, got"):
            rl.learn_policy(LOG, kind=kind, **{name: value}, **SILENT)


def test_defaults_are_no_choice() -> None:
    learned = rl.learn_policy(LOG, kind="clone", widths=[128, 128], dim=64, policy_steps=50, batch_size=8, **SILENT)
    assert learned.distance is None


@pytest.mark.parametrize("kind", ["actor", "graph", "waypoints", "awr", "clone"])
def test_policies_for_numbered_states_are_refused_before_anything_is_learned(kind: Any) -> None:
    told: list[str] = []
    log = rl.Trajectories(observations=np.arange(30) % 7, ends=np.array([29]), actions=np.arange(30) % 3)
    with pytest.raises(ValueError, match=f"kind: expected 'none' for observations that are not vectors, got '{kind}'"):
        rl.learn_policy(log, kind=kind, log=told.append, **SILENT)
    assert not told
    few: dict[str, Any] = {"steps": 50, "batch_size": 8, "dim": 4, "widths": (4,)}
    assert rl.learn_policy(log, kind="none", **few, **SILENT).policy is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "td", "horizon": 3.0}, "horizon: expected None with method='td', .* got 3.0"),
        ({"method": "td", "penalty": (1.0, 9.0)}, r"penalty: expected \(1.0, 100.0\) with method='td', .* got"),
        ({"method": "constrained", "polyak": 0.9}, "polyak: expected 0.5 with method='constrained', .* got 0.9"),
    ],
)
def test_options_of_the_other_method_are_refused(options: dict[str, Any], message: str) -> None:
    model = tm.Siamese(tm.MLP(1, 4, widths=(8,)), tm.Euclidean(4))
    with pytest.raises(ValueError, match=message):
        rl.learn_from_transitions(model, STEPS, pairs=20, **options, **SILENT)


@pytest.mark.parametrize("objective", [0, "", False])
def test_an_objective_is_none_or_an_objective(objective: Any) -> None:
    with pytest.raises(TypeError, match="objective: expected an Objective, got"):
        rl.learn_distance(rl.goal_model(LOG, dim=4), LOG, objective=objective, **SILENT)
    with pytest.raises(TypeError, match="held_out: expected a Trajectories, got int"):
        rl.learn_distance(rl.goal_model(LOG, dim=4), LOG, held_out=3, **SILENT)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("teacher", "got"),
    [
        (lambda here, goal: (goal - here)[:, :1], r"got shape \(\d+, 1\)"),
        (lambda here, goal: (goal - here)[:, 0], r"got shape \(\d+,\)"),
        (lambda here, goal: (goal - here).numpy(), "got ndarray"),
    ],
)
def test_a_teacher_answers_with_actions_like_those_of_the_log(teacher: Any, got: str) -> None:
    with pytest.raises(ValueError, match=rf"teacher: expected actions of shape \(b, 2\), {got}"):
        rl.distil_policy(teacher, LOG, steps=50, batch_size=8, **SILENT)


def test_a_teacher_answers_with_numbers_where_actions_are_numbers() -> None:
    log = gated_ring().walks(4, 8)

    def scores(here: Tensor, goal: Tensor) -> Tensor:  # noqa: ARG001
        return torch.zeros(len(here), 3)

    if log.observations.ndim == 1:
        pytest.skip("needs vectors")
    with pytest.raises(ValueError, match=r"teacher: expected numbers of actions, shape \(b,\), got shape"):
        rl.distil_policy(scores, log, steps=50, batch_size=8, **SILENT)


@pytest.mark.parametrize("pairs", [[[0, 6]], [[-1, 2]], [[0, 1, 2]], [[0.5, 1.0]]])
def test_plans_are_for_pairs_of_known_states(pairs: Any) -> None:
    model = tm.NormInduced(tm.Euclidean(1))
    with pytest.raises(ValueError, match=r"pairs: expected numbers of states from 0 to 5, shape \(k, 2\), got"):
        rl.plan(model, rl.KnownMoves(STEPS), torch.tensor(pairs))


def test_an_empty_batch_gets_no_actions() -> None:
    log = box_walks(6, 12)
    local = rl.learn_local_policy(log, horizon=5, steps=50, batch_size=16, **SILENT)
    for kind in (rl.GraphPolicy, rl.WaypointPolicy):
        policy = kind.from_log(rl.goal_model(log, dim=4), log, local=local, states=20, horizon=5)
        assert policy(torch.zeros(0, 2), torch.zeros(0, 2)).shape == (0, 2)
