"""Checkpoints and cache files that are signed but wrong: refused, or absent, and never half used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fuzz.state_readers import _run

from trimetric._support.tensor_files import CheckpointError, read_checkpoint, write_checkpoint
from trimetric.graphs import Graph, ShortestPaths
from trimetric.training.checkpoints import restore_run, save_run
from trimetric.training.loop import take_step

Change = Callable[[dict[str, torch.Tensor], dict[str, Any]], object]
FIRST = "encoder.weight"
CHANGES: dict[str, tuple[Change, str]] = {
    "a moment is missing": (
        lambda tensors, _: tensors.pop(f"optimiser.{FIRST}.exp_avg"),
        f"optimiser.{FIRST}.exp_avg: expected torch.float32 of shape (3, 2), got nothing",
    ),
    "the average is missing": (
        lambda tensors, _: [tensors.pop(name) for name in list(tensors) if name.startswith("average.")],
        "expected torch.float32 of shape",
    ),
    "half of the best weights": (lambda tensors, _: tensors.pop(f"best.{FIRST}"), f"best.{FIRST}: expected"),
    "text as the best epoch": (
        lambda _, state: state["histories"][0].update(best_epoch="wide"),
        "best_epoch: expected one of 1 epochs with a validation error, got 'wide'",
    ),
    "text as a loss": (
        lambda _, state: state["histories"][0]["epochs"][0].update(loss="low"),
        "epochs[0]: expected numbers, got {",
    ),
    "no settings": (
        lambda _, state: state["identity"].update(config="{}"),
        "belongs to another run: average: none there, 0.9 here; ",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_checkpoints_that_are_not_whole(case: str, tmp_path: Path) -> None:
    file, run = tmp_path / "run.safetensors", _run()
    for _ in range(2):
        take_step(run)
    save_run(run, file)
    restore_run(_run(), file)
    tensors, state = read_checkpoint(file)
    change, message = CHANGES[case]
    change(tensors, state)
    write_checkpoint(file, tensors, state)
    with pytest.raises(CheckpointError) as caught:
        restore_run(_run(), file)
    assert message in str(caught.value)
    assert len(str(caught.value).replace(str(tmp_path), "")) < 450


@pytest.mark.parametrize(
    "kept",
    [
        {"distances": np.array([7.0])},
        {"distances": np.array([7.0, -1.0, 7.0])},
        {"distances": np.array([7, 7, 7])},
        {"others": np.array([7.0, 7.0, 7.0])},
    ],
    ids=["too few", "negative", "whole numbers", "another name"],
)
def test_a_cache_file_of_something_else_counts_as_absent(kept: dict[str, np.ndarray], tmp_path: Path) -> None:
    graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [1.0, 2.0, 4.0], directed=True)
    paths = ShortestPaths(graph, cache=tmp_path, engine="scipy", jobs=1, progress="silent")
    ends = np.array([0, 1, 2]), np.array([2, 0, 1])
    assert paths.cache is not None
    paths.cache.write(paths._key(*ends), kept)
    assert paths.pairs(*ends).tolist() == [3, 6, 5]
