"""What a kill leaves behind, moment by moment, and that equal runs leave equal bytes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

import trimetric as tm
from trimetric._support.tensor_files import previous, read_checkpoint, remove_checkpoint, write_checkpoint
from trimetric.graphs import ShortestPaths

TENSORS = {"weights": torch.arange(3.0)}


def test_killed_before_the_new_checkpoint_takes_its_place(tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    write_checkpoint(file, TENSORS, {"position": 1})
    os.link(file, previous(file))  # both names mean one file then, and a rename of one to the other does nothing
    write_checkpoint(file, TENSORS, {"position": 2})
    assert sorted(tmp_path.iterdir()) == sorted([file, previous(file)])
    assert [read_checkpoint(path)[1]["position"] for path in (file, previous(file))] == [2, 1]


def test_killed_while_checkpoints_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.checkpoint"
    write_checkpoint(file, TENSORS, {"position": 1})
    write_checkpoint(file, TENSORS, {"position": 2})
    unlink, removed = Path.unlink, []

    def killed_after_one(path: Path, *, missing_ok: bool = False) -> None:
        if removed:
            raise KeyboardInterrupt
        removed.append(path)
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", killed_after_one)
        with pytest.raises(KeyboardInterrupt):
            remove_checkpoint(file)
    assert read_checkpoint(file)[1]["position"] == 2  # the run is not done over again
    remove_checkpoint(file)
    assert not list(tmp_path.iterdir())


def test_equal_models_are_equal_bytes(tmp_path: Path) -> None:
    model = tm.Model(tm.Siamese(torch.nn.Embedding(3, 4), tm.WideNorm(4)), ["a", "b", "ü\n\x01"], notes={"from": "é\t"})
    saved = {model.save(tmp_path / f"{number}.safetensors").read_bytes() for number in range(20)}
    assert len(saved) == 1
    assert tm.Model.load(tmp_path / "0.safetensors").ids == model.ids


def test_the_engine_does_not_depend_on_what_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("trimetric.graphs.paths.shortest_paths.CHUNK", 100)
    graph = tm.graphs.torus3d(seed=0, side=10)
    ends = tm.graphs.random_pairs(graph.num_nodes, 600, seed=0)
    first = ShortestPaths(graph, jobs=1, cache=tmp_path, progress="silent")
    undisturbed = first.pairs(*ends.T)
    assert first.engine(len(ends)).name == "landmarks"  # the other one would be taken for a few pairs
    sorted(tmp_path.rglob("*.safetensors"))[0].unlink()
    resumed = ShortestPaths(graph, jobs=1, cache=tmp_path, progress="silent")
    np.testing.assert_array_equal(resumed.pairs(*ends.T), undisturbed)
    assert resumed.work == first.work
