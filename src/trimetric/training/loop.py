"""The one training loop."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from trimetric._support import checks
from trimetric._support.interruption import deferred_signals
from trimetric._support.progress import Shown, TrainingProgress
from trimetric.distances import Distance
from trimetric.distances.siamese import Siamese
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
from trimetric.training.losses import CustomLoss
from trimetric.training.pairs import ArrayOrTensor, PairData, Pairs
from trimetric.training.processes import clear_loss_of_workers, connected
from trimetric.training.run import TrainingRun, shuffled
from trimetric.training.stacked import Stack
from trimetric.training.teachers import Probe, Teacher
from trimetric.training.trainee import Single, calibrate

CALIBRATION_BATCHES = 8

PairsAndTargets = tuple[Pairs, ArrayOrTensor]


def fit(
    model: Siamese | Distance,
    pairs: Pairs,
    targets: Float[Tensor, " n"] | np.ndarray,
    *,
    objects: ArrayOrTensor | None = None,
    validation: PairsAndTargets | None = None,
    watch: Mapping[str, PairsAndTargets] | None = None,
    bootstrap: Teacher | None = None,
    probe: Probe | None = None,
    loss: CustomLoss | None = None,
    config: TrainingConfig | None = None,
    callbacks: Iterable[Callable[[Epoch], object]] = (),
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> History:
    """Train a model on pairs of objects and their distances.

    A run that was killed goes on from its checkpoint when called again with the same arguments, and ends with the
    same weights, bit for bit, as an undisturbed one (on a CPU, with the same number of threads).  Ctrl-C and SIGTERM
    finish the step and save before they end it.

    Under `torchrun` each process takes its part of every batch, and all of them end with the weights that one process
    would have found, up to rounding.

    NumPy arrays are taken wherever tensors are, in the dtype of the weights.

    Args:
        model: a `Siamese`, or a distance between vectors.  It is trained in place, and left in evaluation mode.
        pairs: either indices `(n, 2)` into `objects`, or the two ends themselves, a tuple of two tensors of n rows.
            With indices each distinct object of a batch is encoded once.
        targets: the n distances.
        objects: what the indices point at, one row each; by default the indices themselves, for an encoder
            such as `torch.nn.Embedding`.
        validation: pairs and targets that are not trained on; their mean squared error is reported.
        watch: more pairs and targets by name, whose mean squared errors are only recorded (`Epoch.watched`).
        bootstrap: where new targets come from at the start of each epoch; of `targets` only the number counts then.
        probe: numbers of one's own to record.
        loss: in the place of the one that `config` names.
        config: the settings.
        callbacks: called with each finished `Epoch`.
        checkpoint: a file to keep the state of the run in; with several machines, one that all of them can read.
        progress: "silent" prints nothing.
    """
    check_model("model", model)
    check_settings(config, progress)
    check_extras(loss, bootstrap, probe)
    calls, file = checks.functions("callbacks", callbacks), checkpoint_file(checkpoint)
    config = config or TrainingConfig()
    data = PairData(pairs, targets, objects, model=model)
    held_out = [] if validation is None else [pair_data("validation", validation, objects, model)]
    watched = {name: [pair_data(f"watch[{name!r}]", own, objects, model)] for name, own in watched_items(watch)}
    if loss is None and bootstrap is None:
        check_targets(data.targets, config)
    for own in (data, *held_out, *(own for (own,) in watched.values())):
        check_readable(model, own)
    if config.calibrate and not (file is not None and file.exists()):
        calibrate(model, data, _first_rows(data, config))
    remedy = "Start all of them again" + (f" to go on from {file}." if file else "; with checkpoint= it would go on.")
    with connected(data.targets.device) as processes, clear_loss_of_workers(processes, remedy):
        trainee = Single(model, data, config, processes, loss)
        run = TrainingRun(
            trainee,
            [data],
            held_out,
            watched,
            [config.seed],
            config,
            processes,
            bootstrap=[] if bootstrap is None else [bootstrap],
            probes=[] if probe is None else [probe],
            loss="" if loss is None else loss.identity,
        )
        return _complete(run, file, progress, lambda epochs: [call(epochs[0]) for call in calls])[0]


def fit_many(
    models: Sequence[Siamese | Distance],
    pairs: Pairs | Sequence[Pairs],
    targets: Float[Tensor, " n"] | np.ndarray | Sequence[Float[Tensor, " n"]],
    *,
    seeds: Sequence[int],
    objects: ArrayOrTensor | None = None,
    validation: PairsAndTargets | Sequence[PairsAndTargets] | None = None,
    watch: Mapping[str, PairsAndTargets | Sequence[PairsAndTargets]] | None = None,
    bootstrap: Sequence[Teacher] = (),
    probes: Sequence[Probe] = (),
    config: TrainingConfig | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> list[History]:
    """Train several models of one architecture in one vectorised loop.

    Each ends where `fit` would have brought it with `config.seed` set to its seed, up to rounding.  This pays where a
    step of one model is too small to keep the machine busy (`python -m benchmarks many`).

    Args:
        models: of one architecture, each with weights of its own.
        pairs: as in `fit`, for all models, or a list with as many pairs for each of them.
        targets: for all models, or a list with those of each.
        seeds: of the order of the pairs, one for each model.
        objects: as in `fit`, for all models.
        validation: pairs and targets for all models, or a list with those of each.
        watch: as in `fit`, for all models or lists with those of each.
        bootstrap: as in `fit`, one for each model, or none.
        probes: as in `fit`, one for each model, or none.
        config: the settings of all models; its seed is not used.
        checkpoint: as in `fit`.
        progress: "silent" prints nothing.
    """
    check_models(models)
    check_seeds(seeds, len(models))
    check_settings(config, progress)
    file = checkpoint_file(checkpoint)
    config = config or TrainingConfig()
    if config.compile or config.precision != "full":
        raise ValueError("config: expected compile=False and precision='full', the only settings for several models")
    for name, own in (("bootstrap", bootstrap), ("probes", probes)):
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
        if not bootstrap:
            check_targets(own.targets, config)
        check_readable(model, own)
    if config.calibrate and not (file is not None and file.exists()):
        for model, own, seed in zip(models, data, seeds, strict=True):
            calibrate(model, own, _first_rows(own, replace(config, seed=seed)))
    with connected(data[0].targets.device) as processes:
        if processes.size > 1:
            raise ValueError("fit_many: expected one process, got several; spread the seeds over them, or use fit")
        trainee = Stack(models, data, config)
        run = TrainingRun(
            trainee, data, held_out, watched, seeds, config, processes, bootstrap=bootstrap, probes=probes
        )
        return _complete(run, file, progress, lambda _: None)


def _complete(
    run: TrainingRun, file: Path | None, progress: Shown, finished: Callable[[list[Epoch]], object]
) -> list[History]:
    if file is not None and file.exists():
        run.restore(file)
    saved = time.monotonic()
    writes = file is not None and run.processes.first
    silent = progress == "silent" or not run.processes.first
    with TrainingProgress(run.steps, silent=silent) as shown, deferred_signals(file is not None) as asked_to_stop:
        while not run.finished and not asked_to_stop:
            epochs = run.step()
            shown.advance(run.position)
            if epochs is not None:
                shown.finished(_summary(epochs, run.probes), last=run.finished)
                finished(epochs)
            if writes and (asked_to_stop or time.monotonic() - saved >= run.config.checkpoint_seconds):
                run.save(file)  # type: ignore[arg-type]
                saved = time.monotonic()
    if asked_to_stop and not run.finished:
        raise KeyboardInterrupt if asked_to_stop[0] == signal.SIGINT else SystemExit(128 + asked_to_stop[0])
    if writes:
        run.save(file)  # type: ignore[arg-type]
    return run.finish()


def _summary(epochs: list[Epoch], probes: Sequence[Probe]) -> str:
    if len(epochs) == 1 and probes and probes[0].text is not None and epochs[0].watched:
        return f"epoch {epochs[0].epoch + 1}  {probes[0].text(epochs[0].watched)}"
    if len(epochs) == 1:
        return str(epochs[0])
    losses = torch.tensor([epoch.loss for epoch in epochs])
    return f"epoch {epochs[0].epoch + 1}  loss {losses.min():.4g} to {losses.max():.4g} of {len(epochs)} models"


def _first_rows(data: PairData, config: TrainingConfig) -> Tensor:
    return shuffled(len(data), config.seed, 0)[: CALIBRATION_BATCHES * config.batch_size]


def _members(
    name: str,
    given: PairsAndTargets | Sequence[PairsAndTargets],
    objects: ArrayOrTensor | None,
    models: Sequence[Siamese | Distance],
) -> list[PairData]:
    """The pairs of each member, from those of all or from a list."""
    if isinstance(given, tuple):
        return [pair_data(name, given, objects, models[0])] * len(models)
    if not isinstance(given, list) or len(given) != len(models):
        got = f"a list of {len(given)}" if isinstance(given, list) else type(given).__name__
        raise ValueError(f"{name}: expected a tuple (pairs, targets), or a list of {len(models)} of them, got {got}")
    return [pair_data(f"{name}[{i}]", own, objects, models[i]) for i, own in enumerate(given)]
