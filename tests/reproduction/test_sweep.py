"""Sweeps: interrupted and resumed, batched, failing, on cores and on a Dask cluster."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster
from places import ROOT
from tiny_experiment import Batched, Deadly, Failing, Tiny

from reproduction.__main__ import main
from reproduction.frame.executors import Cores, DaskCluster
from reproduction.frame.ledger import Ledger
from reproduction.frame.sweep import sweep

# What differs between two sweeps of the same cells.
PASSING = ("seconds", "run", "commit")


def contents(path: Path) -> list[str]:
    """The lines of a ledger, without times and sorted."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(json.dumps({k: v for k, v in line.items() if k not in PASSING}) for line in lines)


def undisturbed(folder: Path, scale: str) -> list[str]:
    ledger = Ledger(folder / "undisturbed.jsonl")
    sweep(Tiny(), Tiny().cells(scale, None), ledger, Cores(1), silent=True)  # type: ignore[arg-type]
    return contents(ledger.path)


def start(arguments: list[str]) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), str(ROOT / "tests")])
    return subprocess.Popen(
        [sys.executable, "-m", "reproduction", *arguments, "--jobs", "2"],
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_killed_and_continued_is_as_undisturbed(tmp_path: Path) -> None:
    path = tmp_path / "tiny.jsonl"
    arguments = ["tiny_experiment:Tiny", "--paper", "--results", str(tmp_path), "--out", str(tmp_path)]
    process = start(arguments)
    try:
        deadline = time.monotonic() + 60
        while not path.exists() or path.read_bytes().count(b"\n") < 10:
            assert process.poll() is None, "ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its workers
    there = path.read_bytes()
    assert there.count(b"\n") < 60
    path.write_bytes(there + there[: len(there) // 20])  # and the worst moment: in the middle of a write
    before = {row.run for row in Ledger(path).rows()}

    assert main([*arguments, "--jobs", "1"]) == 0
    assert contents(path) == undisturbed(tmp_path, "paper")
    assert before <= {row.run for row in Ledger(path).rows()}  # what was there was not run again


@pytest.mark.slow
def test_a_terminated_sweep_takes_its_workers_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = tmp_path / "begun"
    begun.mkdir()
    monkeypatch.setenv("TINY_LOG", str(begun))
    process = start(["tiny_experiment:Slow", "--results", str(tmp_path), "--out", str(tmp_path)])
    try:
        deadline = time.monotonic() + 60
        while len(list(begun.iterdir())) < 2:
            assert process.poll() is None, "ended before it could be terminated"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.terminate()
        assert process.wait(timeout=30) == 130
        deadline = time.monotonic() + 10  # a process that was killed is there until it is reaped
        while any(Path(f"/proc/{file.name}").exists() for file in begun.iterdir()):
            assert time.monotonic() < deadline, "a worker goes on"
            time.sleep(0.05)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_running_again_does_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "tiny.jsonl")
    cells = Tiny().cells("default", None)
    first = sweep(Tiny(), cells[:4], ledger, Cores(1), silent=True)
    assert (first.done, first.there, first.errors) == (4, 0, [])
    second = sweep(Tiny(), [*cells, *cells], ledger, Cores(1), silent=True)
    assert (second.done, second.there) == (2, 4)
    before = ledger.path.read_bytes()
    third = sweep(Tiny(), cells, ledger, Cores(1), silent=True)
    assert (third.done, third.there) == (0, 6)
    assert ledger.path.read_bytes() == before
    assert contents(ledger.path) == undisturbed(tmp_path, "default")


def test_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("TINY_LOG", str(log))
    ledger = Ledger(tmp_path / "batched.jsonl")
    cells = Batched().cells("default", None)
    sweep(Batched(), cells[:1], ledger, Cores(1), silent=True)
    sweep(Batched(), cells, ledger, Cores(1), silent=True)
    assert log.read_text().split() == ["1", "3", "2"]  # what is there is left out of its batch
    assert len(ledger.keys()) == 6
    assert len(ledger.rows()) == 12


def test_batches_must_hold_each_cell_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tiny, "batches", lambda _, cells: [cells[1:]])
    with pytest.raises(ValueError, match=r"tiny\.batches: expected each of the 6 cells in exactly one batch"):
        sweep(Tiny(), Tiny().cells("default", None), Ledger(tmp_path / "x.jsonl"), Cores(1), silent=True)


def test_an_error_costs_its_cell_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = Ledger(tmp_path / "failing.jsonl")
    summary = sweep(Failing(), Failing().cells("default", None), ledger, Cores(1))
    assert summary.done == 6
    assert len(summary.errors) == 1
    assert "Cell(size=-1" in summary.errors[0]
    assert "a negative size" in summary.errors[0]
    assert len(ledger.keys()) == 6
    assert "failing: 7 cells, 0 of them already in the ledger" in capsys.readouterr().err


def test_results_that_are_no_json_are_an_error_of_the_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tiny, "run_batch", lambda *_: [[]])
    cells = Tiny().cells("default", None)[:1]
    summary = sweep(Tiny(), cells, Ledger(tmp_path / "x.jsonl"), Cores(1), silent=True)
    assert "expected results for each of 1 cells" in summary.errors[0]


def test_a_cell_that_kills_its_process_is_reported(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "deadly.jsonl")
    cells = Deadly().cells("default", (0,))
    summary = sweep(Deadly(), cells, ledger, Cores(2), silent=True)
    assert len(summary.errors) == 1
    assert "TerminatedWorkerError" in summary.errors[0]
    assert summary.done == len(ledger.keys()) <= 2


@pytest.fixture(scope="module")
def cluster() -> Any:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), str(ROOT / "tests")])
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", env={"PYTHONPATH": path}
    ) as cluster:
        yield cluster


@pytest.mark.slow
def test_on_a_dask_cluster_that_loses_a_worker(tmp_path: Path, cluster: Any) -> None:
    ledger = Ledger(tmp_path / "tiny.jsonl")
    address = cluster.scheduler_address
    killed: list[int] = []

    def kill_one() -> None:
        with Client(address, set_as_default=False) as client:
            pids = client.run(os.getpid)
            while not ledger.path.exists() or ledger.path.read_bytes().count(b"\n") < 10:
                time.sleep(0.01)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    summary = sweep(Tiny(), Tiny().cells("paper", None), ledger, DaskCluster(address), silent=True)
    killer.join()
    assert killed
    assert (summary.done, summary.errors) == (30, [])
    assert contents(ledger.path) == undisturbed(tmp_path, "paper")


@pytest.mark.slow
def test_a_cell_that_kills_its_workers_costs_itself_only(tmp_path: Path, cluster: Any) -> None:
    ledger = Ledger(tmp_path / "deadly.jsonl")
    cells = Deadly().cells("default", (0,))
    summary = sweep(Deadly(), cells, ledger, DaskCluster(cluster.scheduler_address), silent=True)
    assert summary.done == 2
    assert len(summary.errors) == 1
    assert "KilledWorker" in summary.errors[0]
