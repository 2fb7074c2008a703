"""Distillation: a metric learns from a function that is not a metric, on pairs without labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import ObjectDistance, Siamese
from trimetric.training.arguments import check_model, check_settings, checkpoint_file, pair_data
from trimetric.training.asked_functions import Function, asked_functions, check_own_weights, head_name
from trimetric.training.config import Epoch, History, TrainingConfig
from trimetric.training.drawn_pairs import BATCHES, DrawnPairs, answers
from trimetric.training.fitting import train_on
from trimetric.training.losses import CustomLoss
from trimetric.training.pairs import ArrayOrTensor, PairData

OF_NETWORKS, OF_POINTS = (2e-3, 0.1), (3e-2, 0.0)
"""learning rate and weight decay where a network is trained, and where a table of points is: its points lie far from
where they start, and there are no others to which it must generalize"""

OF_EVERY_STUDENT = ("steps", "batch_size", "learning_rate", "weight_decay", "average", "seed", "checkpoint_seconds")
"""settings that have an effect without labeled pairs too"""


@dataclass(frozen=True, kw_only=True)
class DistillationConfig:
    """Settings of `distil`, and of how `metrize` trains its base.

    Args:
        steps: the number of steps; rounded up to whole epochs of 50.
        batch_size: fresh pairs without labels per step.
        labeled: labeled pairs per step; only for `distil` with `pairs`.
        labeled_weight: weight of the mean loss of the labeled pairs, where the weight of the others is 1; only for
            `distil` with `pairs`.
        learning_rate: of AdamW, decaying to 0 along a cosine; by default 0.002, or 0.03 if a table of points is
            trained (`torch.nn.Embedding` below a distance).
        weight_decay: of AdamW; by default 0.1, or 0 for a table of points.
        average: the decay of an exponential average of the weights; None for no average.
        seed: of the random draws.
        checkpoint_seconds: the time between checkpoints.

    Examples:
        >>> import trimetric as tm
        >>> tm.DistillationConfig(steps=120).epochs
        3
    """

    steps: int = 3000
    batch_size: int = 1024
    labeled: int = 256
    labeled_weight: float = 1.0
    learning_rate: float | None = None
    weight_decay: float | None = None
    average: float | None = None
    seed: int = 0
    checkpoint_seconds: float = 30.0

    def __post_init__(self) -> None:
        checks.positive_int("steps", self.steps)
        checks.positive_int("batch_size", self.batch_size)
        checks.positive_int("labeled", self.labeled)
        checks.finite_number("labeled_weight", self.labeled_weight, above=0)
        checks.seed("seed", self.seed)
        if self.learning_rate is not None:
            checks.finite_number("learning_rate", self.learning_rate, above=0)
        if self.weight_decay is not None:
            checks.finite_number("weight_decay", self.weight_decay, at_least=0)

    @property
    def epochs(self) -> int:
        """The number of epochs, of 50 steps each."""
        return -(-self.steps // BATCHES)

    def check_used(self, used: Sequence[str], why: str) -> None:
        """Refuse settings that would have no effect.

        Args:
            used: names of the settings that have an effect; all others must have their defaults.
            why: the others have none.

        Examples:
            >>> DistillationConfig(steps=7).check_used(["seed"], "no base is trained")
            Traceback (most recent call last):
                ...
            ValueError: config: steps=7 has no effect, because no base is trained
        """
        for own in fields(self):
            if own.name not in used and getattr(self, own.name) != own.default:
                value = getattr(self, own.name)
                raise ValueError(f"config: {own.name}={value!r} has no effect, because {why}")

    def training(self, student: ObjectDistance, batch_size: int, *, epochs: int | None = None) -> TrainingConfig:
        """Make the settings of the training loop.

        Args:
            student: what is trained.
            batch_size: pairs per step, with and without labels.
            epochs: by default those of `steps`.
        """
        points = isinstance(student, Siamese) and type(student.encoder) is nn.Embedding
        rate, decay = OF_POINTS if points else OF_NETWORKS
        epochs = self.epochs if epochs is None else epochs
        return TrainingConfig(
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=rate if self.learning_rate is None else self.learning_rate,
            weight_decay=decay if self.weight_decay is None else self.weight_decay,
            average=self.average,
            seed=self.seed,
            validation_epochs=max(1, epochs // 10),
            checkpoint_seconds=self.checkpoint_seconds,
        )


def distil(
    f: Function | Sequence[Function],
    student: ObjectDistance,
    objects: ArrayOrTensor,
    *,
    pairs: Int[Tensor, "n 2"] | np.ndarray | None = None,
    targets: Float[Tensor, " n"] | np.ndarray | None = None,
    validation: tuple[ArrayOrTensor, ArrayOrTensor] | None = None,
    symmetric: bool = False,
    config: DistillationConfig | None = None,
    callbacks: Sequence[Callable[[Epoch], object]] = (),
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> History:
    """Train a student to agree with a function on fresh pairs of objects, without labels.

    A metric that learns from labeled pairs sees each pair many times.  A teacher can label any number of pairs, so
    every step draws new ones.  The student keeps its promises, and has no floor (see `metrize`).

    An interrupted run resumes from its checkpoint and ends with the same weights, bit for bit, as in `fit`, as long as
    the teachers give the same answers again.

    Args:
        f: the teacher: a model, or any function from two tensors `(n, dim)` to n numbers.  Several teachers are used
            alternately, so that the student learns their mean.
        student: a `Siamese` or a distance between vectors.  It is trained in place, and left in evaluation mode.
        objects: what to draw pairs from, one row each.
        pairs: pairs with known distances to mix in: indices `(n, 2)` into `objects`.
        targets: their n distances.
        validation: pairs and targets that are not trained on; their mean squared error is reported.
        symmetric: whether to ask the teachers for both directions of each pair, alternately; for a student that is
            symmetric.
        config: the settings.
        callbacks: functions that are called with each finished `Epoch`.
        checkpoint: a file to keep the state of the run in.
        progress: "silent" prints nothing.

    Returns:
        The record of each epoch.

    Raises:
        ValueError: if f is NaN or infinite for two different objects.
        RuntimeError: if the training diverges.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> _ = torch.manual_seed(0)
        >>> objects = torch.rand(50, 2)
        >>> student = tm.Siamese(tm.MLP(2, 8), tm.Calibrated(tm.WideNorm(8)))
        >>> config = tm.DistillationConfig(steps=100, batch_size=64)
        >>> def squared(x, y):
        ...     return (y - x).square().sum(-1)
        >>> history = tm.distil(squared, student, objects, config=config, progress="silent")
        >>> len(history.epochs), student.axioms.triangle
        (2, True)
    """
    check_model("student", student)
    config = distillation_config(config)
    table = checks.as_tensor("objects", objects, student)
    teachers = asked_functions(f, table)
    check_own_weights("student", student, teachers)
    if checks.boolean("symmetric", symmetric) and not student.axioms.symmetric:
        raise ValueError(f"student: expected a symmetric one, as symmetric=True, got {head_name(student)}")
    labeled = None
    if (pairs is None) != (targets is None):
        raise ValueError("pairs, targets: expected both or none, got one of them")
    if pairs is not None:
        labeled = labeled_pairs(pairs, targets, table, student)
    if labeled is None:
        config.check_used(OF_EVERY_STUDENT, "there are no labeled pairs")
    held_out = [] if validation is None else [pair_data("validation", validation, table, student)]
    return teach(
        teachers,
        student,
        table,
        labeled=labeled,
        held_out=held_out,
        symmetric=symmetric,
        config=config,
        callbacks=callbacks,
        checkpoint=checkpoint,
        progress=progress,
    )


def distillation_config(config: object) -> DistillationConfig:
    """Check the settings, and return the defaults for None."""
    if config is not None:
        checks.instance("config", config, DistillationConfig, hint="such as DistillationConfig(steps=1000)")
    return config or DistillationConfig()  # type: ignore[return-value]


def labeled_pairs(pairs: object, targets: object, objects: Tensor, model: nn.Module) -> PairData:
    """Check pairs with known distances; here they must be finite."""
    found = pair_data("pairs, targets", (pairs, targets), objects, model)
    checks.finite("targets", found.targets)
    return found


def teach(
    teachers: Sequence[ObjectDistance],
    student: ObjectDistance,
    objects: Tensor,
    *,
    symmetric: bool,
    config: DistillationConfig,
    checkpoint: Path | str | None,
    progress: Shown,
    labeled: PairData | None = None,
    held_out: Sequence[PairData] = (),
    shift: float = 0.0,
    loss: CustomLoss | None = None,
    callbacks: Sequence[Callable[[Epoch], object]] = (),
) -> History:
    """Train a student on what teachers say of fresh pairs, plus `shift`; the rest is as in `distil`."""
    check_settings(None, progress)
    calls = checks.functions("callbacks", callbacks)
    if len(objects) < 2:
        raise ValueError(f"objects: expected at least two, got {len(objects)}")
    directions = (False, True) if symmetric else (False,)
    asked = [answers(own, objects, reverse=reverse) for reverse in directions for own in teachers]
    data = DrawnPairs(
        asked,
        objects,
        unlabeled=config.batch_size,
        labeled=labeled,
        labeled_pairs=config.labeled,
        labeled_weight=config.labeled_weight,
        shift=shift,
    )
    return train_on(
        student,
        data,
        held_out=list(held_out),
        watched={},
        config=config.training(student, data.batch_size),
        loss=loss,
        file=checkpoint_file(checkpoint),
        progress=progress,
        after_epoch=lambda epoch: [call(epoch) for call in calls],
    )
