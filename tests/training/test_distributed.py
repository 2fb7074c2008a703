"""Two processes that share each batch end where one would have ended."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from distributed_run import train
from places import TESTS


def torchrun(*arguments: str) -> subprocess.CompletedProcess[str]:
    # torchrun checks its workers every two seconds only: sooner, it could end the survivor by SIGTERM before
    # the survivor has noticed the loss itself, which is what is tested here.
    rarely = ["--monitor-interval", "2"] if "die" in arguments else []
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *rarely]
    command = [*launch, str(TESTS / "distributed_run.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=TESTS.parent, check=False)


@pytest.fixture(scope="module")
def alone() -> dict:
    return train(None, die=False)


def assert_same(got: dict, expected: dict) -> None:
    for key, values in expected.items():
        assert got[key] == pytest.approx(values, rel=1e-5), key


def test_two_processes_follow_the_loss_of_one(alone: dict) -> None:
    result = torchrun("-")
    assert result.returncode == 0, result.stderr
    assert_same(json.loads(result.stdout), alone)


@pytest.mark.slow
def test_a_dead_worker_ends_the_run_and_it_goes_on_from_its_checkpoint(alone: dict, tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    dead = torchrun(str(file), "die")
    assert dead.returncode != 0
    assert "one of the 2 processes of this run has died, so process 0 stops" in dead.stderr
    assert f"Restart all of them to resume from {file}" in dead.stderr
    resumed = torchrun(str(file))
    assert resumed.returncode == 0, resumed.stderr
    assert_same(json.loads(resumed.stdout), alone)
