"""`trimetric rl fit`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from rl.small_worlds import box_walks

import trimetric as tm
from trimetric import rl
from trimetric.cli import main

FEW = ["--steps", "50", "--policy-steps", "50", "--batch-size", "16", "--dim", "8", "--widths", "8"]
FEW += ["--horizon", "3", "--states", "20"]


@pytest.fixture
def episodes(tmp_path: Path) -> Path:
    return box_walks(10, 12).write(tmp_path / "log.npz")


def test_a_log_becomes_a_model_and_a_policy(episodes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "model.safetensors"
    assert main(["rl", "fit", str(episodes), "-o", str(output), *FEW, "--held-out", "0.2", "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["promises"]["triangle"]
    assert told["episodes"] == 10
    assert {"one_step", "one_step_held_out", "far", "multiplier"} <= told.keys()
    model = tm.Model.load(output)
    assert model.notes["objective"].startswith("Constrained(push='sqrt'")
    assert model.notes["settings"]["policy"] == "actor"
    policy = rl.load_policy(tmp_path / "model.policy.safetensors")
    assert policy(torch.zeros(3, 2), torch.ones(3, 2)).shape == (3, 2)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "log.npz",
        "model.policy.safetensors",
        "model.safetensors",
    ]
    assert main(["info", str(output)]) == 0
    assert "settings.objective: constrained" in capsys.readouterr().out


@pytest.mark.parametrize("objective", ["td", "contrastive", "action-invariant", "multistep", "eikonal"])
def test_every_objective_is_there(objective: str, episodes: Path, tmp_path: Path) -> None:
    output = tmp_path / "model.safetensors"
    words = ["rl", "fit", str(episodes), "-o", str(output), "--objective", objective, "--policy", "none", "--quiet"]
    assert main([*words, "--steps", "50", "--batch-size", "16", "--dim", "8", "--widths", "8"]) == 0
    assert not (tmp_path / "model.policy.safetensors").exists()


def test_what_is_wrong_is_told_in_a_line(episodes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoiled = dict(np.load(episodes))
    spoiled["observations"][7, 1] = np.nan
    np.savez(tmp_path / "spoiled.npz", **spoiled)
    bare = box_walks(10, 12)
    rl.Trajectories(observations=bare.observations, ends=bare.ends).write(tmp_path / "bare.npz")
    output = str(tmp_path / "model.safetensors")
    cases = {
        ("missing.npz",): "no such file",
        ("spoiled.npz",): "observations: expected finite numbers, got nan in row 7, column 1",
        ("bare.npz",): "trajectories: expected a log with actions",
        ("log.npz", "--held-out", "1"): "--held-out: expected a share from 0 to below 1",
        ("log.npz", "--discount", "0.9"): "--discount",
        ("log.npz", "--horizon", "13", *FEW[:4]): "--horizon: expected episodes of at least 13 steps",
        ("log.npz", "--objective", "contrastive", "--discount", "1"): "--discount: expected a finite number",
    }
    for (name, *words), message in cases.items():
        assert main(["rl", "fit", str(tmp_path / name), "-o", output, "--quiet", *words]) == 2, name
        assert message in capsys.readouterr().err, name
