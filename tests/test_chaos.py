"""A handful of kills; `make chaos` has a hundred, of all commands."""

from __future__ import annotations

from pathlib import Path

from chaos.campaign import run_scenario
from chaos.scenarios import SCENARIOS


def test_a_fit_that_is_killed_ends_as_undisturbed(tmp_path: Path) -> None:
    scenario = next(scenario for scenario in SCENARIOS if scenario.name == "fit")
    tally = run_scenario(scenario, 3, seed=2, scratch=tmp_path / "chaos", in_a_row=3, plain=False)
    assert tally.problems == []
    assert tally.identical == tally.kills == 3
