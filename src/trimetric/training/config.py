"""The settings of a training run, and the record of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from trimetric._support import checks
from trimetric.training.losses import LOSSES, LossName
from trimetric.training.schedules import ScheduleName, make_schedule


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Settings of `fit`.

    Args:
        epochs: the number of passes over the pairs.
        batch_size: the number of pairs per step.
        learning_rate: of Adam, before the schedule.
        weight_decay: decoupled weight decay (AdamW); 0 is Adam.
        schedule: of the learning rate: "constant", "step", "thirds", "cosine" or "one_cycle"; see
            `trimetric.training.schedules`.
        clip_norm: the largest norm of the gradient; None for no limit.
        loss: "squared", "absolute", "relative", "huber", "discounted", "lower_bound" or "upper_bound"; see
            `trimetric.training.losses`.
        huber_delta: the error at which the Huber loss becomes linear.
        gamma: the discount of the discounted loss, between 0 and 1.
        calibrate: whether to set the output scale of a `Calibrated` distance before the first step.
        average: the decay of an exponential average of the weights, such as 0.999; the model ends with the average.
            None for no average.
        patience: the number of epochs without a better validation error before training stops; the model ends with
            the best weights.  None to train to the end.
        seed: of the order of the pairs.
        validation_epochs: the number of epochs between measurements of the validation error; the last epoch is always
            measured.
        compile: whether to compile the network; useful for long runs.  Parts that run in fused passes on a CPU are not
            compiled, because that would be slower.  If nothing is left to compile, or there is no compiler, a warning
            says so.
        precision: of the forward pass: "full", or "bfloat16", which is faster on GPUs and on CPUs that support it.
            Weights and loss keep their precision.
        checkpoint_seconds: the time between checkpoints.

    Examples:
        >>> import trimetric as tm
        >>> tm.TrainingConfig(epochs=20, loss="relative", patience=3).schedule
        'cosine'
    """

    epochs: int = 100
    batch_size: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    schedule: ScheduleName = "cosine"
    clip_norm: float | None = None
    loss: LossName = "squared"
    huber_delta: float = 1.0
    gamma: float = 0.9
    calibrate: bool = True
    average: float | None = None
    patience: int | None = None
    seed: int = 0
    validation_epochs: int = 1
    compile: bool = False
    precision: Literal["full", "bfloat16"] = "full"
    checkpoint_seconds: float = 30.0

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
        checks.one_of("loss", self.loss, LOSSES)
        checks.finite_number("huber_delta", self.huber_delta, above=0)
        checks.finite_number("gamma", self.gamma, above=0, below=1)
        checks.one_of("precision", self.precision, ("full", "bfloat16"))
        if self.clip_norm is not None:
            checks.finite_number("clip_norm", self.clip_norm, above=0)
        if self.average is not None:
            checks.finite_number("average", self.average, above=0, below=1)
        if self.patience is not None:
            checks.positive_int("patience", self.patience)


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """The record of one epoch.

    Args:
        epoch: its number, from 0.
        loss: the mean training loss.
        validation_mse: the mean squared error on the validation pairs; None if it was not measured.
        learning_rate: at its last step.
        seconds: the time that its steps took.
        watched: the mean squared errors on the pairs to `watch`, and the numbers of the probe, by name.

    Examples:
        >>> import trimetric as tm
        >>> print(tm.Epoch(epoch=0, loss=2.5, validation_mse=3.0, learning_rate=1e-3, seconds=0.1))
        epoch 1  loss 2.5  validation MSE 3  rate 0.001
    """

    epoch: int
    loss: float
    validation_mse: float | None
    learning_rate: float
    seconds: float
    watched: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        validation = "" if self.validation_mse is None else f"  validation MSE {self.validation_mse:.4g}"
        return f"epoch {self.epoch + 1}  loss {self.loss:.4g}{validation}  rate {self.learning_rate:.2g}"


@dataclass(kw_only=True)
class History:
    """The epochs of a run, and how it ended.

    Args:
        epochs: the records, in order.
        best_epoch: the number of the epoch with the lowest validation error; None without validation.
        stopped_early: whether the run ended because of `TrainingConfig.patience`.

    Examples:
        >>> import trimetric as tm
        >>> record = tm.Epoch(epoch=0, loss=2.5, validation_mse=3.0, learning_rate=1e-3, seconds=0.1)
        >>> tm.History(epochs=[record], best_epoch=0).best_validation_mse
        3.0
    """

    epochs: list[Epoch] = field(default_factory=list)
    best_epoch: int | None = None
    stopped_early: bool = False

    @property
    def best_validation_mse(self) -> float | None:
        """The lowest validation error; None without validation."""
        return None if self.best_epoch is None else self.epochs[self.best_epoch].validation_mse
