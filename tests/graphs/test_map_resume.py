"""A map model that was interrupted resumes after its last stage, and its numbers are those of an undisturbed run."""

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

import trimetric as tm
from trimetric._support.tensor_files import CheckpointError
from trimetric.graphs import Graph, learn_graph, torus3d_directed
from trimetric.graphs.learning.map_choices import finer_at_equal_bytes
from trimetric.graphs.learning.trips import Trips

pytest.importorskip("numba")

QUIET: dict[str, Any] = {"progress": "silent", "dim": 4, "epochs": 1}


@pytest.fixture(scope="module")
def torus() -> Graph:
    return torus3d_directed(seed=0, side=4)


def points_of(learned: Any) -> np.ndarray:
    return learned.model.embed().numpy()


@pytest.mark.parametrize("stages", [1, 2])
def test_resumes_after_a_stage(torus: Graph, stages: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = points_of(learn_graph(torus, **QUIET))
    file, calls = tmp_path / "run.checkpoint", []
    from trimetric.graphs.learning import map_training

    train = map_training.train_potentials

    def interrupted(*arguments: Any, **options: Any) -> Any:
        if len(calls) == stages - 1:
            raise KeyboardInterrupt
        calls.append(1)
        return train(*arguments, **options)

    monkeypatch.setattr(map_training, "train_potentials", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learn_graph(torus, checkpoint=file, **QUIET)
    counted: list[int] = []
    monkeypatch.setattr(map_training, "train_potentials", lambda *a, **o: counted.append(1) or train(*a, **o))
    monkeypatch.setattr("trimetric.graphs.learning.map_recipe.choose_start", None)  # is in the checkpoint
    resumed = points_of(learn_graph(torus, checkpoint=file, **QUIET))
    assert len(counted) == 3 - stages
    assert np.array_equal(resumed, whole)
    learn_graph(torus, checkpoint=file, **QUIET)  # all stages are there
    assert len(counted) == 3 - stages


def test_the_checkpoint_of_another_run_is_refused(torus: Graph, tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    learn_graph(torus, checkpoint=file, **QUIET)
    with pytest.raises(CheckpointError, match=r"differs in seed \(0 there, 1 here\)"):
        learn_graph(torus, checkpoint=file, seed=1, **QUIET)
    with pytest.raises(CheckpointError, match="differs in graph"):
        learn_graph(torus3d_directed(seed=1, side=4), checkpoint=file, **QUIET)
    with pytest.raises(CheckpointError, match="differs in queries"):
        learn_graph(torus, checkpoint=file, queries=[[0, 1], [2, 3]], **QUIET)
    with pytest.raises(ValueError, match="checkpoint: expected only for a guarantee other than upper"):
        learn_graph(torus, checkpoint=file, guarantee="upper", dim=4, progress="silent")
    network = tmp_path / "network.checkpoint"
    learn_graph(torus, head="wide", dim=4, epochs=1, widths=(4,), checkpoint=network, progress="silent")
    with pytest.raises(CheckpointError, match="expected the checkpoint of a map model"):
        learn_graph(torus, checkpoint=network, **QUIET)


@pytest.mark.slow
def test_killed_and_started_again(torus: Graph, tmp_path: Path) -> None:
    rows = np.stack([torus.tails, torus.indices, torus.weights], axis=1)
    lines = ["from,to,weight", *(f"{int(a)},{int(b)},{w!r}" for a, b, w in rows.tolist())]
    (tmp_path / "edges.csv").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "trimetric", "fit", "--graph", "edges.csv", "--dim", "8", "--cache", "paths", "-o"]
    subprocess.run([*command, "whole.safetensors"], cwd=tmp_path, check=True, capture_output=True)
    process = subprocess.Popen([*command, "killed.safetensors"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "killed.safetensors.checkpoint"
    deadline = time.monotonic() + 60
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert checkpoint.exists()
    assert not (tmp_path / "killed.safetensors").exists()
    subprocess.run([*command, "killed.safetensors"], cwd=tmp_path, check=True, capture_output=True)
    whole, again = (tm.Model.load(tmp_path / f"{name}.safetensors") for name in ("whole", "killed"))
    assert np.array_equal(whole.embed().numpy(), again.embed().numpy())
    assert whole.notes["kept"] == again.notes["kept"]
    assert not list(tmp_path.glob("*.checkpoint*"))


def test_half_as_many_numbers_of_16_bits_where_8_are_too_coarse() -> None:
    """Distances of a long line: steps of 8 bits are longer than the short trips."""
    start = np.stack([np.arange(0, 10_000.0), np.arange(10_000.0, 0, -1)] * 2, axis=1).astype(np.float32)
    lengths = np.ones(100, np.float32)
    ends = np.arange(100, dtype=np.int32)
    short = {"short": Trips(ends, ends + 1, lengths)}
    finer = finer_at_equal_bytes(start, short, "int8", directed=False)
    assert finer is not None
    assert finer.shape == (10_000, 2)
    assert finer_at_equal_bytes(start, short, "int16", directed=False) is None
    assert finer_at_equal_bytes(start[:, :1], short, "int8", directed=False) is None
    # Of two kinds of trips each half is right about one: all of them in 8 bits are better.
    few = np.array([[0, 0], [1, 0], [0, 1]], np.float32)
    trips = Trips(np.array([0, 0], np.int32), np.array([1, 2], np.int32), np.ones(2, np.float32))
    assert finer_at_equal_bytes(few, {"random": trips}, "int8", directed=False) is None


def test_8_bits_are_never_worse_than_landmarks_of_equal_bytes() -> None:
    """A line of a thousand nodes with random lengths, whose neighbors are close and whose ends are far."""
    n = 1000
    weights = np.random.default_rng(0).integers(1, 30, n - 1).astype(float)
    line = Graph.from_arcs(n, np.arange(n - 1), np.arange(1, n), weights, directed=False)
    learned = learn_graph(line, dim=8, precision="int8", epochs=1, trees=20, progress="silent")
    assert learned.candidates[0].bytes_per_node == 8
    assert "4 numbers of 16 bits instead of 8" in learned.model.notes["kept"]
    for errors in learned.model.notes["relative_errors"].values():
        assert errors["model"] <= errors["chosen landmarks"] + 1e-4
    assert learned.model.notes["relative_errors"]["short"]["model"] < 0.05
