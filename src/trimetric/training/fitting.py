"""`fit` and `fit_many`: check the arguments, calibrate, then train."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Float
from torch import Tensor

from trimetric._support import checks
from trimetric._support.moved import warn
from trimetric._support.progress import Shown
from trimetric.distances import ObjectDistance
from trimetric.training.arguments import (
    check_extras,
    check_model,
    check_models,
    check_readable,
    check_seeds,
    check_settings,
    check_targets,
    checkpoint_file,
    pair_data,
    watched_items,
)
from trimetric.training.config import Epoch, History, TrainingConfig
from trimetric.training.loop import train
from trimetric.training.losses import CustomLoss
from trimetric.training.pairs import ArrayOrTensor, PairData, Pairs, shuffle
from trimetric.training.processes import connected, explain_lost_workers
from trimetric.training.run import TrainingRun
from trimetric.training.stacked import StackedModels
from trimetric.training.teachers import Probe, Teacher
from trimetric.training.trainee import SingleModel, calibrate

CALIBRATION_BATCHES = 8

PairsAndTargets = tuple[Pairs, ArrayOrTensor]


def fit(
    model: ObjectDistance,
    pairs: Pairs,
    targets: Float[Tensor, " n"] | np.ndarray,
    *,
    objects: ArrayOrTensor | None = None,
    validation: PairsAndTargets | None = None,
    watch: Mapping[str, PairsAndTargets] | None = None,
    teacher: Teacher | None = None,
    probe: Probe | None = None,
    loss: CustomLoss | None = None,
    config: TrainingConfig | None = None,
    callbacks: Iterable[Callable[[Epoch], object]] = (),
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
    bootstrap: Teacher | None = None,
) -> History:
    """Train a model on pairs of objects and their distances.

    An interrupted run resumes from its checkpoint when called again with the same arguments, and ends with the same
    weights, bit for bit, as an uninterrupted one (on a CPU, with the same number of threads).  Ctrl-C and SIGTERM
    finish the step and save before they end the run.

    Under `torchrun`, each process takes its part of every batch, and all processes end with the weights that a single
    process would have found, up to rounding.

    NumPy arrays are accepted wherever tensors are, and converted to the dtype of the weights.

    Args:
        model: a `Siamese`, or a distance between vectors.  It is trained in place, and left in evaluation mode.
        pairs: either indices `(n, 2)` into `objects`, or the two ends themselves, a tuple of two tensors of n rows.
            With indices, each distinct object of a batch is encoded once.
        targets: the n distances.
        objects: the objects that the indices refer to, one per row; by default the indices themselves, for an encoder
            such as `torch.nn.Embedding`.
        validation: pairs and targets that are not trained on; their mean squared error is reported.
        watch: more pairs and targets by name, whose mean squared errors are only recorded (`Epoch.watched`).
        teacher: provides new targets at the start of each epoch; only the length of `targets` is used in that
            case.
        probe: custom measurements to record.
        loss: a custom loss, used instead of the one that `config` names.
        config: the settings.
        callbacks: functions that are called with each finished `Epoch`.
        checkpoint: a file to keep the state of the run in; with several machines, one that all of them can read.
        progress: "silent" prints nothing.
        bootstrap: the old name of `teacher`.

    Returns:
        The record of each epoch, and how the run ended.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> _ = torch.manual_seed(0)
        >>> objects = torch.rand(10, 2)
        >>> pairs = torch.cartesian_prod(torch.arange(10), torch.arange(10))
        >>> targets = (objects[pairs[:, 1]] - objects[pairs[:, 0]]).norm(dim=1)
        >>> model = tm.Siamese(tm.MLP(2, 4), tm.Calibrated(tm.WideNorm(4)))
        >>> config = tm.TrainingConfig(epochs=2)
        >>> history = tm.fit(model, pairs, targets, objects=objects, config=config, progress="silent")
        >>> len(history.epochs)
        2
    """
    if bootstrap is not None:
        warn("fit(bootstrap=...)", "fit(teacher=...)")
        teacher = bootstrap
    check_model("model", model)
    check_settings(config, progress)
    check_extras(loss, teacher, probe)
    calls, file = checks.functions("callbacks", callbacks), checkpoint_file(checkpoint)
    config = config or TrainingConfig()
    data = PairData(pairs, targets, objects, model=model)
    held_out = [] if validation is None else [pair_data("validation", validation, objects, model)]
    watched = {name: [pair_data(f"watch[{name!r}]", own, objects, model)] for name, own in watched_items(watch)}
    if loss is None and teacher is None:
        check_targets(data.targets, config)
    return train_on(
        model,
        data,
        held_out=held_out,
        watched=watched,
        config=config,
        loss=loss,
        teacher=teacher,
        probe=probe,
        file=file,
        progress=progress,
        after_epoch=lambda epoch: [call(epoch) for call in calls],
    )


def train_on(
    model: ObjectDistance,
    data: PairData,
    *,
    held_out: list[PairData],
    watched: Mapping[str, list[PairData]],
    config: TrainingConfig,
    loss: CustomLoss | None,
    file: Path | None,
    progress: Shown,
    teacher: Teacher | None = None,
    probe: Probe | None = None,
    after_epoch: Callable[[Epoch], object] = lambda _: None,
) -> History:
    """Calibrate and train one model on pairs that are checked already: what `fit` and `distil` share.

    Args:
        model: as in `fit`.
        data: the pairs to train on.
        held_out: the validation pairs in a list, or none.
        watched: more pairs by name, in a list each.
        config: the settings.
        loss: as in `fit`.
        file: the checkpoint.
        progress: as in `fit`.
        teacher: as in `fit`.
        probe: as in `fit`.
        after_epoch: called with each finished epoch.

    Returns:
        The record of each epoch, and how the run ended.
    """
    for own in (data, *held_out, *(own for (own,) in watched.values())):
        check_readable(model, own)
    if config.calibrate and not (file is not None and file.exists()):
        rows = data.begin_epoch(config.seed, 0)[: CALIBRATION_BATCHES * config.batch_size]
        calibrate(model, data, rows)
    remedy = "Restart all of them" + (f" to resume from {file}." if file else "; with checkpoint= they would resume.")
    with connected(data.targets.device) as processes, explain_lost_workers(processes, remedy):
        trainee = SingleModel(model, data, config, processes, loss)
        run = TrainingRun(
            trainee,
            [data],
            held_out,
            watched,
            [config.seed],
            config,
            processes,
            teachers=[] if teacher is None else [teacher],
            probes=[] if probe is None else [probe],
            loss="" if loss is None else loss.identity,
        )
        return train(run, file, progress, lambda epochs: after_epoch(epochs[0]))[0]


def fit_many(
    models: Sequence[ObjectDistance],
    pairs: Pairs | Sequence[Pairs],
    targets: Float[Tensor, " n"] | np.ndarray | Sequence[Float[Tensor, " n"]],
    *,
    seeds: Sequence[int],
    objects: ArrayOrTensor | None = None,
    validation: PairsAndTargets | Sequence[PairsAndTargets] | None = None,
    watch: Mapping[str, PairsAndTargets | Sequence[PairsAndTargets]] | None = None,
    teachers: Sequence[Teacher] = (),
    probes: Sequence[Probe] = (),
    config: TrainingConfig | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
    bootstrap: Sequence[Teacher] = (),
) -> list[History]:
    """Train several models of one architecture in one vectorized loop.

    Each model ends with the weights that `fit` would have found with `config.seed` set to its seed, up to rounding.
    This saves time if a step of one model is too small to keep the machine busy (`python -m benchmarks many`).

    Args:
        models: models with the same architecture, each with its own weights.
        pairs: as in `fit`, shared by all models, or a list with the same number of pairs for each model.
        targets: shared by all models, or a list with one entry per model.
        seeds: of the order of the pairs, one for each model.
        objects: as in `fit`, shared by all models.
        validation: pairs and targets shared by all models, or a list with one entry per model.
        watch: as in `fit`, shared by all models, or lists with one entry per model.
        teachers: as in `fit`, one for each model, or none.
        probes: as in `fit`, one for each model, or none.
        config: the settings of all models; its seed is not used.
        checkpoint: as in `fit`.
        progress: "silent" prints nothing.
        bootstrap: the old name of `teachers`.

    Returns:
        The history of each model.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> pairs, targets = torch.tensor([[0, 1], [1, 2], [2, 0]]), torch.tensor([1.0, 2.0, 2.5])
        >>> models = [tm.Siamese(torch.nn.Embedding(3, 4), tm.WideNorm(4)) for _ in range(2)]
        >>> config = tm.TrainingConfig(epochs=2)
        >>> histories = tm.fit_many(models, pairs, targets, seeds=[0, 1], config=config, progress="silent")
        >>> [len(history.epochs) for history in histories]
        [2, 2]
    """
    if bootstrap:
        warn("fit_many(bootstrap=...)", "fit_many(teachers=...)")
        teachers = bootstrap
    check_models(models)
    check_seeds(seeds, len(models))
    check_settings(config, progress)
    file = checkpoint_file(checkpoint)
    config = config or TrainingConfig()
    if config.compile or config.precision != "full":
        raise ValueError("config: expected compile=False and precision='full', the only settings for several models")
    for name, own in (("teachers", teachers), ("probes", probes)):
        if len(own) not in (0, len(models)):
            raise ValueError(f"{name}: expected one for each of the {len(models)} models, or none, got {len(own)}")
    if isinstance(targets, (Tensor, np.ndarray)):
        data = [PairData(pairs, targets, objects, model=models[0])] * len(models)  # type: ignore[arg-type]
    else:
        for name, own in (("pairs", pairs), ("targets", targets)):
            if not isinstance(own, (list, tuple)) or len(own) != len(models):
                got = len(own) if isinstance(own, (list, tuple)) else type(own).__name__
                raise ValueError(f"{name}: expected {len(models)}, one for each model, got {got}")
        names = [(f"pairs[{i}]", f"targets[{i}]") for i in range(len(models))]
        parts = zip(pairs, targets, names, models, strict=True)
        data = [PairData(own, goals, objects, name, model) for own, goals, name, model in parts]  # type: ignore[arg-type]
    held_out = [] if validation is None else _members("validation", validation, objects, models)
    watched = {name: _members(f"watch[{name!r}]", own, objects, models) for name, own in watched_items(watch)}
    for model, own in zip(models, data, strict=True):
        if not teachers:
            check_targets(own.targets, config)
        check_readable(model, own)
    if config.calibrate and not (file is not None and file.exists()):
        for model, own, seed in zip(models, data, seeds, strict=True):
            calibrate(model, own, _first_rows(own, replace(config, seed=seed)))
    with connected(data[0].targets.device) as processes:
        if processes.size > 1:
            raise ValueError("fit_many: expected one process, got several; spread the seeds over them, or use fit")
        trainee = StackedModels(models, data, config)
        run = TrainingRun(trainee, data, held_out, watched, seeds, config, processes, teachers=teachers, probes=probes)
        return train(run, file, progress, lambda _: None)


def _first_rows(data: PairData, config: TrainingConfig) -> Tensor:
    return shuffle(len(data), config.seed, 0)[: CALIBRATION_BATCHES * config.batch_size]


def _members(
    name: str,
    given: PairsAndTargets | Sequence[PairsAndTargets],
    objects: ArrayOrTensor | None,
    models: Sequence[ObjectDistance],
) -> list[PairData]:
    """The pairs of each member, from those of all or from a list."""
    if isinstance(given, tuple):
        return [pair_data(name, given, objects, models[0])] * len(models)
    if not isinstance(given, list) or len(given) != len(models):
        got = f"a list of {len(given)}" if isinstance(given, list) else type(given).__name__
        raise ValueError(f"{name}: expected a tuple (pairs, targets), or a list of {len(models)} of them, got {got}")
    return [pair_data(f"{name}[{i}]", own, objects, models[i]) for i, own in enumerate(given)]
