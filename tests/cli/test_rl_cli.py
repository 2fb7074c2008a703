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


@pytest.fixture
def numbered(tmp_path: Path) -> Path:
    """A log of states by number."""
    states = np.arange(40) % 9
    log = rl.Trajectories(observations=states, ends=np.array([19, 39]), actions=np.arange(40) % 2)
    return log.write(tmp_path / "numbered.npz")


def refusal(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_numbered_states_are_refused_before_the_distance_is_learned(
    numbered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["rl", "fit", str(numbered), "-o", str(tmp_path / "m.safetensors"), *FEW[:2], *FEW[4:10]]
    line = refusal([*words, "--quiet"], capsys)
    assert line.startswith("error: --policy: expected 'none' for observations that are not vectors, got 'actor'")
    assert main([*words, "--policy", "none", "--quiet"]) == 0
    capsys.readouterr()
    vectors = tmp_path / "v.safetensors"
    tm.Model(tm.Siamese(tm.MLP(2, 4), tm.WideNorm(4))).save(vectors)
    line = refusal(["rl", "diagnose", str(vectors), str(numbered)], capsys)
    assert f"{numbered}: {vectors} cannot read it: " in line


def test_a_single_episode_cannot_be_held_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = box_walks(1, 12).write(tmp_path / "one.npz")
    words = ["rl", "fit", str(log), "-o", str(tmp_path / "m.safetensors"), *FEW, "--held-out", "0.2", "--quiet"]
    assert refusal(words, capsys) == ("error: --held-out: expected a log of at least two episodes to split, got one")


def test_an_evaluation_tells_the_same_steps_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rl.save_policy(rl.ActorPolicy(features=2, actions=2), tmp_path / "p.safetensors")
    words = ["rl", "evaluate", str(file), "--world", "directed", "--episodes", "1"]
    assert main([*words, "--max-steps", "9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["success"], found["steps"], found["steps_to_goals"]) == (0.0, 9.0, None)
    assert main([*words, "--max-steps", "9"]) == 0
    told = capsys.readouterr().out
    assert "9.0 steps on average;" in told
    assert "to the goals that were reached" not in told
    line = refusal([*words, "--max-steps", "100000"], capsys)
    assert line == "error: --max-steps: expected at most 600, the limit of the world, got 100000"
    three = rl.save_policy(rl.ActorPolicy(features=2, actions=3), tmp_path / "three.safetensors")
    line = refusal(["rl", "evaluate", str(three), "--world", "directed", "--episodes", "1"], capsys)
    assert "policy: expected actions of shape (b, 2), got shape (10, 3)" in line
