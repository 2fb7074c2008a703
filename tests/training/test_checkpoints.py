"""Checkpoints: an interrupted run ends with the same weights as an uninterrupted one, and no wrong file is used."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from uphill import model, problem, weights

import trimetric as tm
from trimetric._support.tensor_files import CheckpointError, previous, read_checkpoint


def assert_same(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


@pytest.mark.parametrize("stop_after", [1, 7, 50, 99, 137])
@pytest.mark.parametrize("options", [{}, {"average": 0.9, "clip_norm": 1.0, "weight_decay": 0.1}, {"patience": 2}])
def test_resuming_is_bit_identical(tmp_path: Path, stop_after: int, options: dict[str, float]) -> None:
    objects, pairs, targets = problem(30)
    config = tm.TrainingConfig(epochs=5, batch_size=32, learning_rate=1e-2, checkpoint_seconds=0, **options)  # type: ignore[arg-type]
    data = {"objects": objects, "validation": (pairs[:50], targets[:50]), "config": config, "progress": "silent"}

    class Dropping(nn.Dropout):
        """Ends the run in the middle of an epoch, and needs the state of the global generator."""

        left = stop_after

        def forward(self, input: Tensor) -> Tensor:
            if self.training and torch.is_grad_enabled():
                self.left -= 1
                if self.left < 0:
                    raise KeyboardInterrupt
            return super().forward(input)

    def with_dropout(left: int) -> tm.Siamese:
        trained = model()
        dropping = Dropping(0.3)
        dropping.left = left
        trained.encoder.insert(1, dropping)  # type: ignore[operator]
        return trained

    undisturbed = with_dropout(10**9)
    expected = tm.fit(undisturbed, pairs, targets, **data)  # type: ignore[arg-type]
    file = tmp_path / "run.safetensors"
    torch.manual_seed(0)
    with contextlib.suppress(KeyboardInterrupt):
        tm.fit(with_dropout(stop_after), pairs, targets, checkpoint=file, **data)  # type: ignore[arg-type]
    torch.manual_seed(12345)
    resumed = with_dropout(10**9)
    history = tm.fit(resumed, pairs, targets, checkpoint=file, **data)  # type: ignore[arg-type]
    assert_same(weights(undisturbed), weights(resumed))
    assert [e.loss for e in history.epochs] == [e.loss for e in expected.epochs]
    # A finished run is not run again.
    again = with_dropout(0)
    assert tm.fit(again, pairs, targets, checkpoint=file, **data).epochs == history.epochs  # type: ignore[arg-type]
    assert_same(weights(undisturbed), weights(again))


def finished_run(tmp_path: Path) -> Path:
    objects, pairs, targets = problem(10)
    file = tmp_path / "run.safetensors"
    config = tm.TrainingConfig(epochs=2, batch_size=32, checkpoint_seconds=0)
    tm.fit(model(), pairs, targets, objects=objects, config=config, checkpoint=file, progress="silent")
    return file


@pytest.mark.parametrize("damage", ["truncated", "changed", "foreign", "text", "empty"])
def test_a_damaged_checkpoint_is_refused_and_the_previous_one_is_there(tmp_path: Path, damage: str) -> None:
    file = finished_run(tmp_path)
    content = file.read_bytes()
    if damage == "truncated":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "changed":
        middle = len(content) - 40
        file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif damage == "foreign":
        from safetensors.torch import save_file

        save_file({"a": torch.zeros(3)}, file)
    else:
        file.write_bytes(b"" if damage == "empty" else b"hello")
    objects, pairs, targets = problem(10)
    with pytest.raises(CheckpointError, match=r"run\.safetensors: "):
        tm.fit(model(), pairs, targets, objects=objects, checkpoint=file, progress="silent")
    read_checkpoint(previous(file))


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    file = finished_run(tmp_path)
    objects, pairs, targets = problem(10)
    config = tm.TrainingConfig(epochs=3, batch_size=32)
    with pytest.raises(CheckpointError, match=r"another run: epochs: 2 there, 3 here\. Resume"):
        tm.fit(model(), pairs, targets, objects=objects, config=config, checkpoint=file, progress="silent")
    config = tm.TrainingConfig(epochs=2, batch_size=32)
    with pytest.raises(CheckpointError, match="another run: the training data, or what is learned from them, differ"):
        tm.fit(model(), pairs, targets + 1, objects=objects, config=config, checkpoint=file, progress="silent")
    with pytest.raises(CheckpointError, match="another run: the training data, or what is learned from them, differ"):
        tm.fit(model(), pairs, targets, objects=objects + 1, config=config, checkpoint=file, progress="silent")
    with pytest.raises(CheckpointError, match="another run: the validation pairs differ"):
        tm.fit(
            model(),
            pairs,
            targets,
            objects=objects,
            validation=(pairs, targets),
            config=config,
            checkpoint=file,
            progress="silent",
        )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_the_step_saves_and_ends(tmp_path: Path, number: signal.Signals) -> None:
    objects, pairs, targets = problem(20)
    file = tmp_path / "run.safetensors"
    config = tm.TrainingConfig(epochs=6, batch_size=50, learning_rate=1e-2)
    data = {"objects": objects, "config": config, "checkpoint": file, "progress": "silent"}
    stopped, undisturbed = model(), model()
    handler = signal.getsignal(number)

    def stop(epoch: tm.Epoch) -> None:
        if epoch.epoch == 2:
            signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt if number == signal.SIGINT else SystemExit):
        tm.fit(stopped, pairs, targets, callbacks=[stop], **data)  # type: ignore[arg-type]
    assert signal.getsignal(number) is handler
    assert read_checkpoint(file)[1]["position"] == 3 * 8
    tm.fit(stopped, pairs, targets, **data)  # type: ignore[arg-type]
    tm.fit(undisturbed, pairs, targets, objects=objects, config=config, progress="silent")
    assert_same(weights(stopped), weights(undisturbed))
