"""What is told about a checkpoint that belongs to another run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import trimetric as tm
from trimetric._support.tensor_files import CheckpointError
from trimetric.training.identity import differences

CONFIG = tm.TrainingConfig(epochs=2, batch_size=8)
PAIRS, TARGETS = torch.tensor([[0, 1], [1, 2], [2, 0]]), torch.tensor([1.0, 2.0, 3.0])


def fit(file: Path, *, dim: int = 4, **changes: object) -> None:
    model = tm.Siamese(torch.nn.Embedding(3, dim), tm.Calibrated(tm.Euclidean(dim)))
    config = replace(CONFIG, **changes)  # type: ignore[arg-type]
    tm.fit(model, PAIRS, TARGETS, config=config, checkpoint=file, progress="silent")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epochs": 5}, "epochs: 2 there, 5 here"),
        ({"epochs": 5, "loss": "huber"}, "epochs: 2 there, 5 here; loss: squared there, huber here"),
        ({"seed": 7}, "seed: 0 there, 7 here"),
        ({"clip_norm": 0.5}, "clip_norm: none there, 0.5 here"),
        ({"dim": 5}, "the network: encoder.weight: shape (3, 4) there, (3, 5) here"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_resuming_another_run_names_what_differs(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    file = tmp_path / "run.safetensors"
    fit(file)
    with pytest.raises(CheckpointError) as caught:
        fit(file, **changes)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"{file}: belongs to another run: {words}. Resume with")


def test_what_may_change_does_not_refuse(tmp_path: Path) -> None:
    fit(tmp_path / "run.safetensors")
    fit(tmp_path / "run.safetensors", checkpoint_seconds=1.0)


def test_settings_and_layers_that_one_of_them_has_not() -> None:
    there, here = {"config": '{"old": 1}', "model": "a", "new": "x"}, {"config": '{"young": 2}', "model": "b"}
    layers = {"a.weight": torch.zeros(2), "b.weight": torch.zeros(3)}
    assert differences(there, here, layers, {}) == (
        "old: 1 there, none here; young: none there, 2 here; "
        "the network: a.weight: shape (2,) there, absent here, and 1 more; new differs"
    )
    assert differences({}, {"model": "b"}, layers, layers) == "the network differs"
