"""Learning distances from logs: on the one training loop, resumed bit for bit, and refused where it makes no sense."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_worlds import box_walks, one_way_rooms

import trimetric as tm
from trimetric import rl
from trimetric._support.tensor_files import CheckpointError

SHORT: dict[str, Any] = {"steps": 150, "batch_size": 64, "progress": "silent"}


def weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def assert_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


def test_what_is_recorded_and_that_seeds_decide() -> None:
    log, held = one_way_rooms().walks(40, 20).split(0.25, seed=0)
    runs = []
    for seed in (0, 0, 1):
        model = rl.goal_model(log, dim=16, widths=(32,))
        seen: list[tm.Epoch] = []
        learned = rl.learn_distance(model, log, held_out=held, seed=seed, callbacks=[seen.append], **SHORT)
        assert [epoch.epoch for epoch in seen] == [0, 1, 2]
        assert sorted(learned.history.epochs[-1].watched) == ["far", "multiplier", "one_step", "one_step_held_out"]
        runs.append(weights(model))
    assert_same(runs[0], runs[1])
    with pytest.raises(AssertionError):
        assert_same(runs[0], runs[2])


def test_the_mean_step_costs_its_cost_before_training() -> None:
    log = one_way_rooms().walks(10, 20)
    paid = rl.Trajectories(observations=log.observations, ends=log.ends, costs=np.full(len(log), 7.0))
    model = rl.goal_model(paid, dim=16, widths=(32,))
    rows = torch.from_numpy(log.transition_rows)
    rl.learn_distance(model, paid, steps=1, batch_size=2, learning_rate=1e-9, progress="silent")
    seen = torch.from_numpy(log.observations)
    assert model(seen[rows], seen[rows + 1]).mean().item() == pytest.approx(7.0, rel=0.1)


SCRIPT = """
import sys, torch
sys.path.insert(0, sys.argv[2])
from small_worlds import one_way_rooms
import trimetric as tm
from trimetric import rl
from test_learn_distance import objective_of
log = one_way_rooms().walks(40, 20)
model = rl.goal_model(log, dim=16, widths=(32,))
torch.manual_seed(int(sys.argv[4]))
rl.learn_distance(model, log, objective=objective_of(sys.argv[3]), steps=500, batch_size=64, checkpoint=sys.argv[1],
                  config=tm.TrainingConfig(checkpoint_seconds=0), progress="silent")
"""


def objective_of(name: str) -> rl.Objective:
    return {"constrained": rl.Constrained(), "td": rl.TemporalDifference()}[name]


@pytest.mark.parametrize("name", ["constrained", "td"])
def test_killed_and_resumed_is_bit_identical(tmp_path: Path, name: str) -> None:
    log = one_way_rooms().walks(40, 20)
    settings: dict[str, Any] = {"objective": objective_of(name), "steps": 500, "batch_size": 64, "progress": "silent"}
    undisturbed = rl.goal_model(log, dim=16, widths=(32,))
    expected = rl.learn_distance(undisturbed, log, **settings)
    file = tmp_path / "run.safetensors"
    command = [sys.executable, "-c", SCRIPT, str(file), str(Path(__file__).parent), name, "5"]
    process = subprocess.Popen(command, env=dict(os.environ))
    try:
        deadline = time.monotonic() + 120
        while not file.exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.3)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL, "it was not killed in the middle"
    resumed = rl.goal_model(log, dim=16, widths=(32,))
    history = rl.learn_distance(resumed, log, checkpoint=file, **settings).history
    assert_same(weights(undisturbed), weights(resumed))
    assert [e.loss for e in history.epochs] == [e.loss for e in expected.history.epochs]
    assert [e.watched for e in history.epochs] == [e.watched for e in expected.history.epochs]


def test_another_log_or_objective_does_not_resume(tmp_path: Path) -> None:
    log = one_way_rooms().walks(40, 20)
    file = tmp_path / "run.safetensors"
    rl.learn_distance(rl.goal_model(log, dim=8, widths=(8,)), log, checkpoint=file, **SHORT)
    for other, objective in ((one_way_rooms().walks(40, 20, seed=1), None), (log, rl.Constrained(tolerance=0.1))):
        with pytest.raises(CheckpointError, match="the training data, or what is learned from them, differ"):
            rl.learn_distance(
                rl.goal_model(log, dim=8, widths=(8,)), other, objective=objective, checkpoint=file, **SHORT
            )


def test_logs_on_the_disk_teach_the_same(tmp_path: Path) -> None:
    log = box_walks(20, 20)
    mapped = rl.read_trajectories(log.write(tmp_path / "log"))
    assert isinstance(mapped.observations, np.memmap)
    found = []
    for own in (log, mapped):
        model = rl.goal_model(own, dim=8, widths=(8,))
        rl.learn_distance(model, own, **SHORT)
        found.append(weights(model))
    assert_same(*found)


def test_images_and_numbers_of_states_are_read() -> None:
    random = np.random.default_rng(0)
    images = rl.Trajectories(
        observations=random.integers(256, size=(30, 1, 6, 6)).astype(np.uint8), ends=np.array([14, 29])
    )
    with pytest.raises(ValueError, match="with an encoder of images"):
        rl.goal_model(images)
    encoder = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(64, 8))
    model = tm.Siamese(encoder, tm.Calibrated(tm.ResidualMetric(8)))
    before = weights(model)
    rl.learn_distance(model, images, **SHORT)
    assert any(not torch.equal(value, model.state_dict()[name]) for name, value in before.items())
    numbers = rl.Trajectories(observations=random.integers(9, size=30), ends=np.array([14, 29]))
    model = rl.goal_model(numbers, dim=8)
    rl.learn_distance(model, numbers, **SHORT)
    assert model(torch.tensor([1, 2]), torch.tensor([3, 2])).shape == (2,)


def test_wrong_arguments_are_named() -> None:
    log = one_way_rooms().walks(4, 5)
    model = rl.goal_model(log, dim=8, widths=(8,))
    with pytest.raises(TypeError, match="trajectories: expected a Trajectories"):
        rl.learn_distance(model, log.observations, **SHORT)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="objective: expected an Objective"):
        rl.learn_distance(model, log, objective=rl.Constrained, **SHORT)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="config: expected loss='squared'"):
        rl.learn_distance(model, log, config=tm.TrainingConfig(loss="huber"), **SHORT)
    with pytest.raises(ValueError, match="reach: expected a number with push='softplus' and only there"):
        rl.Constrained(push="softplus")
    with pytest.raises(ValueError, match="head: expected a distance of points of size dim=8"):
        rl.goal_model(log, head=tm.Euclidean(4), dim=8)
