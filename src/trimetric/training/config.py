"""The settings of a training run, and the record of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from trimetric._support import checks
from trimetric.training.losses import LossName, make_loss
from trimetric.training.schedules import ScheduleName, make_schedule


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Settings of `fit`."""

    epochs: int = 100
    """passes over the pairs"""
    batch_size: int = 256
    """pairs a step"""
    learning_rate: float = 1e-3
    """of Adam, before the schedule"""
    weight_decay: float = 0.0
    """decoupled (AdamW); 0 is Adam"""
    schedule: ScheduleName = "cosine"
    """of the learning rate: constant, step, thirds, cosine or one_cycle"""
    clip_norm: float | None = None
    """largest norm of the gradient"""
    loss: LossName = "squared"
    """see trimetric.training.losses"""
    huber_delta: float = 1.0
    """where the Huber loss becomes linear"""
    gamma: float = 0.9
    """of the discounted loss"""
    calibrate: bool = True
    """set the output scale of a Calibrated distance before the first step"""
    average: float | None = None
    """decay of an exponential average of the weights, such as 0.999; the model ends with the average"""
    patience: int | None = None
    """epochs without a better validation error before stopping; the model ends with the best weights"""
    seed: int = 0
    """of the order of the pairs"""
    validation_epochs: int = 1
    """epochs between measurements of the validation error; the last epoch is always measured"""
    compile: bool = False
    """compile the networks; pays for long runs, and falls back with a warning where there is no compiler"""
    precision: Literal["full", "bfloat16"] = "full"
    """of the forward pass; bfloat16 helps on GPUs and on CPUs that have it (weights and loss stay as they are)"""
    checkpoint_seconds: float = 30.0
    """time between checkpoints"""

    def __post_init__(self) -> None:
        checks.positive_int("epochs", self.epochs)
        checks.positive_int("batch_size", self.batch_size)
        checks.positive_int("validation_epochs", self.validation_epochs)
        checks.finite_number("learning_rate", self.learning_rate, above=0)
        checks.finite_number("weight_decay", self.weight_decay, at_least=0)
        checks.finite_number("checkpoint_seconds", self.checkpoint_seconds, at_least=0)
        checks.boolean("calibrate", self.calibrate)
        checks.boolean("compile", self.compile)
        checks.seed("seed", self.seed)
        make_schedule(self.schedule)
        make_loss(self.loss, huber_delta=self.huber_delta, gamma=self.gamma)
        checks.one_of("precision", self.precision, ("full", "bfloat16"))
        if self.clip_norm is not None:
            checks.finite_number("clip_norm", self.clip_norm, above=0)
        if self.average is not None:
            checks.finite_number("average", self.average, above=0, below=1)
        if self.patience is not None:
            checks.positive_int("patience", self.patience)


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """What one epoch came to."""

    epoch: int
    loss: float
    validation_mse: float | None
    learning_rate: float
    seconds: float
    watched: dict[str, float] = field(default_factory=dict)
    """the mean squared errors on the pairs to `watch`"""

    def __str__(self) -> str:
        validation = "" if self.validation_mse is None else f"  validation MSE {self.validation_mse:.4g}"
        return f"epoch {self.epoch + 1}  loss {self.loss:.4g}{validation}  rate {self.learning_rate:.2g}"


@dataclass(kw_only=True)
class History:
    """The epochs of a run, and how it ended."""

    epochs: list[Epoch] = field(default_factory=list)
    best_epoch: int | None = None
    stopped_early: bool = False

    @property
    def best_validation_mse(self) -> float | None:
        return None if self.best_epoch is None else self.epochs[self.best_epoch].validation_mse
