"""Losses over batches that are drawn anew, such as rows of a log, on the training loop of the package."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from trimetric._support.progress import Shown
from trimetric.training.config import Epoch, History, TrainingConfig
from trimetric.training.drawn_pairs import BATCHES
from trimetric.training.loop import train
from trimetric.training.processes import connected
from trimetric.training.run import TrainingRun
from trimetric.training.trainee import Trainee

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
Columns = Mapping[str, Tensor]
"""what is drawn, by name: one row for each example of a batch, or, before they are taken apart, of each batch"""


class DrawnTask(nn.Module, ABC):
    """A loss over batches that are drawn anew; its parameters with gradients are what is trained.

    Everything else in its `state_dict`, such as a target network, is kept in checkpoints as well.
    """

    @abstractmethod
    def draw(self, shape: tuple[int, int], generator: torch.Generator) -> Columns:
        """Draw the batches of an epoch.

        Args:
            shape: batches and examples per batch: the first axes of all columns.
            generator: the only source of randomness.
        """

    @abstractmethod
    def loss(self, batch: Columns, progress: float) -> Tensor:
        """Compute the mean loss of a batch.

        Args:
            batch: one of those that were drawn.
            progress: the part of the run that is done, from 0 to below 1.
        """

    @abstractmethod
    def fingerprint(self) -> str:
        """Tells whether a checkpoint belongs to the same task: its data and settings."""

    def numbers(self) -> dict[str, float]:
        """What to record in `Epoch.watched`."""
        return {}


class _DrawnBatches:
    """The batches of one epoch."""

    def __init__(self, task: DrawnTask, batch_size: int) -> None:
        self.task, self.batch_size = task, batch_size
        self.columns: Columns = {}

    def __len__(self) -> int:
        return BATCHES * self.batch_size

    def begin_epoch(self, seed: int, epoch: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
        self.columns = self.task.draw((BATCHES, self.batch_size), generator)
        return torch.arange(len(self))

    def batch(self, rows: Tensor) -> Columns:
        number = int(rows[0]) // self.batch_size
        return {name: column[number] for name, column in self.columns.items()}

    def fingerprint(self) -> str:
        return f"{BATCHES} {self.task.fingerprint()}"


class _TaskTrainee(Trainee):
    """A task as the loop trains it."""

    def __init__(self, task: DrawnTask, data: _DrawnBatches) -> None:
        self.task, self.data, self.progress = task, data, 0.0
        named = dict(task.named_parameters())
        self.parameters = {name: p for name, p in named.items() if p.requires_grad}
        frozen = {name: p for name, p in named.items() if not p.requires_grad}
        self.buffers = dict(task.named_buffers()) | frozen

    def set_progress(self, progress: float) -> None:
        self.progress = progress

    def losses(self, batches: Sequence[Tensor]) -> Tensor:
        return self.task.loss(self.data.batch(batches[0]), self.progress).reshape(1)

    def numbers(self) -> dict[str, list[float]]:
        return {name: [value] for name, value in self.task.numbers().items()}

    def of_member(self, value: Tensor, member: int) -> Tensor:  # noqa: ARG002
        return value

    def clip(self, max_norm: float) -> None:
        nn.utils.clip_grad_norm_(self.parameters.values(), max_norm)

    def set_training(self, training: bool) -> None:
        if self.task.training != training:
            self.task.train(training)

    @torch.no_grad()
    def load(self, values: dict[str, Tensor]) -> None:
        for name, value in values.items():
            self.parameters[name].copy_(value)


def train_task(
    task: DrawnTask,
    *,
    steps: int,
    config: TrainingConfig,
    file: Path | None,
    progress: Shown,
    after_epoch: Callable[[Epoch], object] = lambda _: None,
) -> History:
    """Train a task to the end, from where its checkpoint left off if there is one.

    Args:
        task: what to train; it is left in evaluation mode.
        steps: the number of steps, rounded up to whole epochs of 50.
        config: the settings; its epochs are not used, and its losses neither.
        file: the checkpoint to resume from and to write; None for no checkpoint.
        progress: "silent" prints nothing.
        after_epoch: called with each finished epoch.

    Returns:
        The record of each epoch.

    Raises:
        DivergedError: if the weights are no longer finite.
    """
    data = _DrawnBatches(task, config.batch_size)
    device = next((p.device for p in task.parameters()), torch.device("cpu"))
    with connected(device) as processes:
        if processes.size > 1:
            raise ValueError("processes: expected one, as a batch is one draw, got several; train on one of them")
        trainee = _TaskTrainee(task, data)
        if not trainee.parameters:
            raise ValueError(f"task: expected parameters to train, got {type(task).__name__} without any")
        run = TrainingRun(trainee, [data], [], {}, [config.seed], for_steps(config, steps), processes)
        return train(run, file, progress, lambda epochs: after_epoch(epochs[0]))[0]


def settings_text(settings: object) -> str | None:
    """Write the settings of a loss or an objective as text that is the same in every process.

    Args:
        settings: an object that is compared by its `repr`, or, without one of its own, by its class and attributes.

    Returns:
        The text; None if it would contain the address of an object, which differs from process to process.

    Examples:
        >>> settings_text(TrainingConfig(epochs=3)) == repr(TrainingConfig(epochs=3))
        True
        >>> settings_text(object()) is None
        True
    """
    text = repr(settings)
    if not ADDRESS.search(text):
        return text
    if type(settings).__repr__ is not object.__repr__ or not hasattr(settings, "__dict__"):
        return None
    kind = type(settings)
    parts = [f"{name}={_value_text(value)}" for name, value in sorted(vars(settings).items())]
    text = f"{kind.__module__}.{kind.__qualname__}({', '.join(parts)})"
    return None if ADDRESS.search(text) else text


def _value_text(value: object) -> str:
    if isinstance(value, (Tensor, np.ndarray)):  # their repr leaves out what is in the middle
        array = value.detach().cpu().numpy() if isinstance(value, Tensor) else value
        return f"{array.dtype}{array.shape}{hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}"
    return repr(value)


def checked_settings(name: str, settings: object, file: Path | None) -> str:
    """Write settings as text, and refuse those that a checkpoint could never be compared with.

    Args:
        name: of the argument that has the settings.
        settings: a loss or an objective.
        file: the checkpoint; None for none.

    Returns:
        The text.

    Raises:
        ValueError: if there is a checkpoint, and the text would be another one in every process.
    """
    text = settings_text(settings)
    if text is None and file is not None:
        raise ValueError(
            f"checkpoint: expected None with {type(settings).__name__}, as nothing tells in another process whether "
            f"its settings are the same; define __repr__ in the class of {name}, got {file}"
        )
    return repr(settings) if text is None else text


def for_steps(config: TrainingConfig, steps: int) -> TrainingConfig:
    """Set the epochs of a configuration so that they have at least so many steps.

    Args:
        config: the settings.
        steps: the number of steps.

    Examples:
        >>> for_steps(TrainingConfig(batch_size=8), 120).epochs
        3
    """
    epochs = -(-steps // BATCHES)
    return replace(config, epochs=epochs, validation_epochs=max(1, epochs // 10))
