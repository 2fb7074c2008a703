"""Several index files answer as one index, also on a cluster that loses a worker."""

from __future__ import annotations

import os
import signal
import threading
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
