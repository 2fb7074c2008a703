"""`trimetric values fit` and `trimetric values plan`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import trimetric as tm
from trimetric.cli import main

MAP = "#########\n#   >   #\n#   #   #\n#   <   #\n#########\n"
QUICK = ["--head", "interval", "--dim", "32", "--widths", "64", "--epochs", "12", "--pairs", "8000", "--quiet"]
FAST = ["--learning-rate", "3e-3", "--steps", "2000"]


def test_a_map_is_learned_and_planned_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rooms.txt").write_text(MAP)
    model, log, picture = tmp_path / "model.safetensors", tmp_path / "model.transitions.npz", tmp_path / "plan.png"
    assert main(["values", "fit", "--map", str(tmp_path / "rooms.txt"), "-o", str(model), *FAST, *QUICK]) == 0
    capsys.readouterr()
    assert main(["values", "plan", str(model), str(log), "--picture", str(picture), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["success"] > 0.9
    assert found["spl"] <= found["success"]
    assert found["unseen_goals"]
    assert picture.stat().st_size > 10_000
    assert main(["values", "plan", str(model), str(log), "--pairs", "50"]) == 0
    assert "walks to goals that were not goals in training: success" in capsys.readouterr().out
    # The log again, as a dataset.
    again = tmp_path / "again.safetensors"
    words = ["--dataset", str(log), "-o", str(again), "--head", "interval", "--epochs", "1", "--pairs", "300", "--json"]
    assert main(["values", "fit", *words]) == 0
    assert json.loads(capsys.readouterr().out)["states"] == 20
    assert main(["info", str(again)]) == 0
    assert "settings.head: interval" in capsys.readouterr().out
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [
        ".npz",
        ".png",
        ".safetensors",
        ".safetensors",
        ".txt",
    ]


def test_an_environment_is_walked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "car.safetensors"
    words = [
        "--env",
        "MountainCar-v0",
        "--bins",
        "10",
        "--repeat",
        "4",
        "--steps",
        "300",
        "--epochs",
        "1",
        "--pairs",
        "500",
    ]
    assert (
        main(["values", "fit", *words, "--head", "wide", "-o", str(model), "--dataset", str(tmp_path / "log.npz")]) == 0
    )
    assert "300 steps of a random walk in" in capsys.readouterr().out
    with np.load(tmp_path / "log.npz") as log:
        assert log["observations"].shape == (300, 2)
        assert (log["costs"] == 4).all()
    assert main(["values", "plan", str(model), str(tmp_path / "log.npz"), "--pairs", "20"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--dataset: expected a file of transitions, or --env, or --map, got none of them"),
        (["--dataset", "none.npz"], "none.npz: no such file"),
        (["--dataset", "bad.npz"], "bad.npz: expected an array 'next_observations', got observations, costs"),
        (["--dataset", "still.npz"], "expected some that lead from one state to another, got none"),
        (["--dataset", "cube.npz"], "observations: expected rows of numbers, shape (n, features), got shape (n, 2, 2)"),
        (["--env", "None-v3"], "--env None-v3: "),
        (
            ["--env", "CartPole-v1"],
            "--env CartPole-v1: env: expected rewards below 0, as a step costs something, got 1",
        ),
        (["--map", "none.txt"], "--map: none.txt: no such file"),
        (["--map", "bad.txt"], "--map: map: expected '#' (wall), space"),
        (
            ["--map", "bad.txt", "--env", "MountainCar-v0"],
            "--map: expected --env, --map or --dataset alone, got --env too",
        ),
        (["--dataset", "good.npz", "--held-out", "1"], "--held-out: expected a share from 0 to below 1, got 1.0"),
        (["--dataset", "good.npz", "--epochs", "0"], "--epochs: expected a positive integer, got 0"),
        (["--dataset", "good.npz", "--horizon", "-2"], "--horizon: expected a cost >= 0, got -2"),
        (["--dataset", "good.npz", "--waves", "-2"], "--waves: expected a positive integer, got -2"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    a, b = np.eye(4, 2), 1 - np.eye(4, 2)
    np.savez("good.npz", observations=a, next_observations=b, costs=np.ones(4))
    np.savez("bad.npz", observations=a, costs=np.ones(4))
    np.savez("still.npz", observations=a, next_observations=a, costs=np.ones(4))
    np.savez("cube.npz", observations=np.zeros((3, 2, 2)), next_observations=np.ones((3, 2, 2)), costs=np.ones(3))
    Path("bad.txt").write_text("####\n#x #\n####\n")
    assert main(["values", "fit", *words, "-o", "model.safetensors"]) == 2
    text = capsys.readouterr().err
    assert message in text
    assert text.startswith("error: ")
    assert not Path("model.safetensors").exists()


def test_plans_want_the_model_and_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    a = np.eye(4, 2)
    np.savez("log.npz", observations=a, next_observations=1 - a, costs=np.ones(4))
    np.savez("other.npz", observations=a, next_observations=a[::-1] + 3, costs=np.ones(4))
    words = ["--dataset", "log.npz", "--epochs", "1", "--pairs", "9", "--held-out", "0", "-o", "m.safetensors"]
    assert main(["values", "fit", *words]) == 0
    assert main(["values", "plan", "m.safetensors", "log.npz", "--pairs", "9"]) == 0
    assert "all of them known from training" in capsys.readouterr().out
    assert main(["values", "plan", "m.safetensors", "other.npz"]) == 2
    assert "other.npz: expected the transitions that m.safetensors was fitted to" in capsys.readouterr().err
    assert main(["values", "plan", "m.safetensors", "log.npz", "--pairs", "0"]) == 2
    assert main(["values", "walk"]) == 2
    assert "got 'values walk'" in capsys.readouterr().err


def test_goals_are_called_unseen_only_for_the_log_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = np.arange(20.0)[:, None] * [1.0, 2.0]
    np.savez("log.npz", observations=line[:-1], next_observations=line[1:], costs=np.ones(19))
    np.savez("reversed.npz", observations=line[1:], next_observations=line[:-1], costs=np.ones(19))
    words = ["--dataset", "log.npz", "--epochs", "1", "--pairs", "9", "--held-out", "0.3", "-o", "m.safetensors"]
    assert main(["values", "fit", *words, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["values", "plan", "m.safetensors", "reversed.npz"]) == 2
    (text,) = capsys.readouterr().err.splitlines()
    assert "reversed.npz: expected the transitions that m.safetensors was fitted to, got as many states" in text
    assert main(["values", "plan", "m.safetensors", "log.npz", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["unseen_goals"] is True
    old = tm.Model.load("m.safetensors")
    del old.notes["moves_digest"]
    old.save("old.safetensors")
    for log in ("log.npz", "reversed.npz"):
        assert main(["values", "plan", "old.safetensors", log]) == 0
        assert "walks to goals that were not" not in capsys.readouterr().out
    assert main(["values", "plan", "old.safetensors", "log.npz", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["unseen_goals"] is None


def test_what_is_said_of_a_fit_can_be_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its loss rises with the penalty; the errors on the moves that were seen do not."""
    (tmp_path / "rooms.txt").write_text(MAP)
    model = tmp_path / "m.safetensors"
    words = ["values", "fit", "--map", str(tmp_path / "rooms.txt"), "-o", str(model), *FAST, *QUICK[:-1]]
    assert main(words) == 0
    told = capsys.readouterr()
    assert "after 12 epochs: distances are off by" in told.out
    assert "epoch 12  distances are off by" in told.err
    assert "loss" not in told.out + told.err
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert 0 <= found["distance_error"] < 1
    assert 0 <= found["moves_too_long"] <= 1
    assert 2 < found["mean_cheapest_path"] < 12
    assert found["mean_distance"] > 1


def test_a_model_of_pairs_is_no_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.safetensors"
    tm.Model(tm.Siamese(tm.MLP(2, 4), tm.WideNorm(4)), notes={"settings": {"seed": 0}}).save(file)
    np.savez(
        tmp_path / "log.npz",
        observations=np.zeros((2, 2)),
        next_observations=np.ones((2, 2)),
        costs=np.ones(2),
    )
    assert main(["values", "plan", str(file), str(tmp_path / "log.npz")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"error: {file}: expected a model that trimetric values fit wrote, got another kind"


def test_a_walk_replaces_no_other_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rooms.txt").write_text(MAP)
    np.savez("log.npz", observations=np.zeros((2, 2)), next_observations=np.ones((2, 2)), costs=np.ones(2))
    before = Path("log.npz").read_bytes()
    quick = ["-o", "m.safetensors", "--steps", "50", "--epochs", "1", "--pairs", "9", "--dim", "4", "--quiet"]
    words = ["values", "fit", "--map", "rooms.txt", "--dataset", "log.npz", *quick]
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "error: --dataset: log.npz: exists already and holds something else than these 50 steps; "
        "--overwrite replaces it"
    )
    assert Path("log.npz").read_bytes() == before
    assert not Path("m.safetensors").exists()
    assert main([*words, "--overwrite"]) == 0
    with np.load("log.npz") as log:
        assert len(log["costs"]) == 50
    # The same command, as after an interruption, walks the same way.
    assert main(words) == 0
    assert main(["values", "fit", "--dataset", "log.npz", "--overwrite", *quick[:2], *quick[4:]]) == 2
    assert "--overwrite: expected only with --dataset and --env or --map" in capsys.readouterr().err
