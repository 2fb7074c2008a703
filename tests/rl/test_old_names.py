"""The names of version 0.1 work for one release, and say where they are now."""

from __future__ import annotations

import subprocess
import sys

import pytest

import trimetric.rl

FRESH = {
    "names of the package": (
        "from trimetric.values import plan, KnownMoves; import trimetric.rl;"
        "assert plan is trimetric.rl.plan and KnownMoves is trimetric.rl.KnownMoves"
    ),
    "a module that was split": (
        "from trimetric.values.known_moves import Agent, KnownMoves, Plan, goal_pairs, judge, plan;"
        "import trimetric.rl; assert plan is trimetric.rl.plan and Agent is trimetric.rl.Agent"
    ),
    "modules that are packages now": (
        "from trimetric.values.planning import follow, greedy_actions, score, spl_of_pairs;"
        "from trimetric.values.learning import learn_values, paper_config, value_model, values_of;"
        "from trimetric.values.transitions import Transitions, read_transitions;"
        "from trimetric.values.worlds import World;"
        "import trimetric.rl, trimetric.rl.planning.pictures;"
        "assert trimetric.rl.planning.pictures.save_plan and trimetric.rl.learning.splits.Split"
    ),
}


@pytest.mark.parametrize("case", FRESH)
def test_in_a_fresh_interpreter(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "always::DeprecationWarning", "-c", FRESH[case]],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "trimetric.values is now trimetric.rl; the old name works for one release" in done.stderr


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (trimetric.rl, "PlanScore", trimetric.rl.Score),
        (trimetric.rl.planning, "PlanScore", trimetric.rl.Score),
        (trimetric.rl.planning, "Walks", trimetric.rl.Plan),
    ],
)
def test_twins_are_one_class(module, old: str, new: type) -> None:
    with pytest.warns(DeprecationWarning, match=rf"{module.__name__}\.{old} is now trimetric\.rl\.{new.__name__}"):
        assert getattr(module, old) is new
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'nothing'"):
        _ = module.nothing
