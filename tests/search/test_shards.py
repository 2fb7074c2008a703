"""Several index files answer as one index, also on a cluster that loses a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

import trimetric as tm
from trimetric._support.tensor_files import CheckpointError


@pytest.fixture
def shards(tmp_path: Path) -> tuple[tm.search.Shards, tm.search.Index, torch.Tensor]:
    points, head = torch.randn(400, 3), tm.NormInduced(tm.WideNorm(3, components=3, width=3))
    points[100:130] = points[300:330]
    tm.search.Shards.build(head, points, tmp_path / "shards", number=3, leaf_size=32)
    return tm.search.Shards.open(tmp_path / "shards"), tm.search.Index(head, points, leaf_size=32), points


def check(one: tm.search.Neighbors, other: tm.search.Neighbors) -> None:
    assert torch.equal(one.ids, other.ids)
    assert torch.equal(one.distances, other.distances)


@pytest.mark.parametrize("direction", ["from", "to"])
def test_equal_one_index(shards: tuple, direction: str) -> None:
    many, one, points = shards
    for k in (1, 6, 200, 500):
        check(many.nearest(points[:40], k, direction=direction), one.nearest(points[:40], k, direction=direction))
    here, there = (each.within(points[:40], 0.7, direction=direction) for each in (many, one))
    assert torch.equal(here.offsets, there.offsets)
    assert torch.equal(here.ids, there.ids)
    assert torch.equal(here.distances, there.distances)


@pytest.mark.slow
def test_on_a_cluster_that_loses_a_worker(shards: tuple) -> None:
    distributed = pytest.importorskip("distributed")
    many, one, points = shards
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        first = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(0.2, os.kill, (first, signal.SIGKILL))  # while it reads the files
        killer.start()
        check(many.nearest(points, 5, client=client), one.nearest(points, 5))
        killer.join()


def test_without_their_list_there_are_no_shards(shards: tuple) -> None:
    many = shards[0]
    (many.folder / "shards.json").unlink()
    with pytest.raises(CheckpointError, match="expected the list of shards"):
        tm.search.Shards.open(many.folder)


def test_a_build_that_ends_early_leaves_no_shards(shards: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    many, one, points = shards
    save, calls = tm.search.Index.save, []

    def interrupted(index: tm.search.Index, path: Path) -> Path:
        calls.append(path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return save(index, path)

    monkeypatch.setattr(tm.search.Index, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tm.search.Shards.build(one.subject.network, points, many.folder, number=3)
    with pytest.raises(CheckpointError, match="expected the list of shards"):
        tm.search.Shards.open(many.folder)  # those of the earlier build, mixed with new ones, are none
    monkeypatch.setattr(tm.search.Index, "save", save)
    check(
        tm.search.Shards.build(one.subject.network, points, many.folder, number=3).nearest(points, 5),
        one.nearest(points, 5),
    )


BUILD = """
import torch, trimetric as tm
torch.manual_seed(0)
points, head = torch.randn(3000, 3), tm.NormInduced(tm.WideNorm(3, components=3, width=3))
tm.search.Shards.build(head, points, "shards", number=60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("files", [1, 20, 50])
def test_killed_while_it_builds(files: int, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", BUILD], cwd=tmp_path)
    folder, deadline = tmp_path / "shards", time.monotonic() + 120
    while len(list(folder.glob("*.index"))) < files and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises(CheckpointError, match="expected the list of shards"):
        tm.search.Shards.open(folder)
    for file in folder.glob("*.index"):
        tm.search.Index.load(file)  # each is whole
    subprocess.run([sys.executable, "-c", BUILD], cwd=tmp_path, check=True)
    whole = tm.search.Shards.open(folder)
    assert whole.starts[-1] == 3000
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        [*(f"shard-{i:05d}.index" for i in range(60)), "shards.json"]
    )
