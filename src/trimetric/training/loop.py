"""The training loop, from the run as a whole down to one step."""

from __future__ import annotations

import math
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from trimetric._support.interruption import deferred_signals
from trimetric._support.memory import keep_freed_memory
from trimetric._support.progress import Shown, TrainingProgress
from trimetric._support.tensor_files import remove_checkpoint
from trimetric.training.checkpoints import restore_run, save_run
from trimetric.training.config import Epoch, History
from trimetric.training.pairs import shuffle as shuffle
from trimetric.training.run import TrainingRun
from trimetric.training.teachers import Probe
from trimetric.training.threads import step_threads


class DivergedError(RuntimeError):
    """The weights are no longer finite."""


def train(
    run: TrainingRun, file: Path | None, progress: Shown, after_epoch: Callable[[list[Epoch]], object]
) -> list[History]:
    """Train to the end, from where the checkpoint left off if there is one.

    Args:
        run: what to train.
        file: the checkpoint to resume from and to write; None for no checkpoint.
        progress: "silent" prints nothing.
        after_epoch: called with the records of all members after each epoch.

    Returns:
        The history of each member.

    Raises:
        DivergedError: if the weights are no longer finite; the checkpoint, which is of no use then, is removed.
    """
    if file is not None and file.exists():
        restore_run(run, file)
    keep_freed_memory()
    saved = time.monotonic()
    writes = file is not None and run.processes.first
    silent = progress == "silent" or not run.processes.first
    with (
        TrainingProgress(run.steps, silent=silent) as shown,
        deferred_signals(file is not None) as asked_to_stop,
        step_threads(run),
    ):
        while not run.finished and not asked_to_stop:
            epochs = take_step(run)
            shown.advance(run.position)
            if epochs is not None:
                shown.finished(_summarize(epochs, run.probes), last=run.finished)
                after_epoch(epochs)
                if _has_failed(run, epochs):
                    break
            if writes and (asked_to_stop or time.monotonic() - saved >= run.config.checkpoint_seconds):
                save_run(run, file)  # type: ignore[arg-type]
                saved = time.monotonic()
    if asked_to_stop and not run.finished:
        raise KeyboardInterrupt if asked_to_stop[0] == signal.SIGINT else SystemExit(128 + asked_to_stop[0])
    run.load_final_weights()
    _check_weights(run, file)
    if writes:
        save_run(run, file)  # type: ignore[arg-type]
    return run.histories


def _has_failed(run: TrainingRun, epochs: list[Epoch]) -> bool:
    """Whether no member has finite weights any more, so that all further steps are in vain."""
    lost = not any(math.isfinite(epoch.loss) for epoch in epochs)
    return lost and len(run.diverged) == len(epochs)


def _check_weights(run: TrainingRun, file: Path | None) -> None:
    """Raise an error if the training of all members diverged, and warn if that of some did."""
    diverged = run.diverged
    if not diverged:
        return
    advice = "a smaller learning_rate may help, or targets that are nearer to 1"
    if len(diverged) < len(run.seeds):
        named = ", ".join(f"models[{member}]" for member in diverged)
        warnings.warn(
            f"the training of {named} diverged: their weights are not finite; {advice}", RuntimeWarning, stacklevel=3
        )
        return
    if file is not None and run.processes.first:
        remove_checkpoint(file)
    epoch = run.position // run.steps_per_epoch
    raise DivergedError(f"the training diverged: by epoch {epoch} the weights are not finite; {advice}")


def take_step(run: TrainingRun) -> list[Epoch] | None:
    """Train on one batch of each member.

    Args:
        run: what to train; it is one step further afterwards.

    Returns:
        The record of each member where this was the last step of an epoch, otherwise None.
    """
    start = time.perf_counter()
    epoch, i = divmod(run.position, run.steps_per_epoch)
    if i == 0 or not run.orders:  # no orders: a resumed run begins in the middle of an epoch
        _begin_epoch(run, epoch)
    size = run.config.batch_size
    batches = [order[i * size : (i + 1) * size] for order in run.orders]
    rate = _set_learning_rate(run)
    run.trainee.set_training(True)
    run.trainee.set_progress(run.progress)

    run.optimizer_step.clear_gradients()
    losses = run.trainee.losses(batches)
    (losses if len(losses) == 1 else losses.sum()).backward()
    if run.config.clip_norm is not None:
        run.trainee.clip(run.config.clip_norm)
    run.optimizer_step.take()

    _update_average(run)
    run.loss_sums.add_(_mean_of_processes(run, losses.detach()), alpha=len(batches[0]))
    run.position += 1
    run.seconds += time.perf_counter() - start
    return _end_epoch(run, epoch, rate) if i + 1 == run.steps_per_epoch else None


def _mean_of_processes(run: TrainingRun, losses: Tensor) -> Tensor:
    if run.processes.size == 1:
        return losses.cpu()
    return run.processes.sum(losses.double().cpu()) / run.processes.size


def _begin_epoch(run: TrainingRun, epoch: int) -> None:
    run.orders = [data.begin_epoch(seed, epoch) for data, seed in zip(run.data, run.seeds, strict=True)]
    if run.teachers:
        _ask_teachers(run)


@torch.no_grad()
def _ask_teachers(run: TrainingRun) -> None:
    """Set the targets of this epoch; they are the same again in a run that resumes in the middle of it."""
    run.trainee.set_training(False)
    with run.trainee.with_parameters(run.teacher_weights):
        answers = run.pair_trainee.predictions(run.questions([teacher.pairs for teacher in run.teachers]))
    targets = [teacher.targets(own) for teacher, own in zip(run.teachers, answers, strict=True)]
    run.pair_trainee.set_targets(torch.stack(targets).to(answers.dtype))


def _set_learning_rate(run: TrainingRun) -> float:
    rate = run.config.learning_rate * run.schedule(run.progress)
    for group in run.optimizer.param_groups:
        group["lr"] = rate
    return rate


def _update_average(run: TrainingRun) -> None:
    if run.config.average:
        for name, average in run.average.items():
            average.lerp_(run.trainee.parameters[name].detach(), 1 - run.config.average)


def _end_epoch(run: TrainingRun, epoch: int, rate: float) -> list[Epoch]:
    for name, weight in run.teacher_weights.items():
        weight.lerp_(run.trainee.parameters[name].detach(), 1 - run.teachers[0].decay)
    due = (epoch + 1) % run.config.validation_epochs == 0 or epoch + 1 == run.config.epochs
    validation, watched = _measure(run) if due else (None, {})
    records = []
    for member, loss_sum in enumerate(run.loss_sums.tolist()):
        record = Epoch(
            epoch=epoch,
            loss=loss_sum / len(run.data[0]),
            validation_mse=None if validation is None else validation[member],
            learning_rate=rate,
            seconds=run.seconds,
            watched={name: errors[member] for name, errors in watched.items()},
        )
        records.append(record)
        if not run.histories[member].stopped_early:
            _record(run, member, record)
    run.loss_sums.zero_()
    run.seconds = 0.0
    return records


@torch.no_grad()
def _measure(run: TrainingRun) -> tuple[list[float] | None, dict[str, list[float]]]:
    """The errors of each member on its validation pairs and on those to watch, and what its probe says."""
    run.trainee.set_training(False)
    with run.trainee.with_parameters(run.evaluated_weights()):
        validation = run.pair_trainee.errors(run.validation) if run.validation else None
        watched = {name: run.pair_trainee.errors(data) for name, data in run.watch.items()}
        watched |= run.trainee.numbers()
        if run.probes:
            answers = run.pair_trainee.predictions(run.questions([probe.pairs for probe in run.probes]))
            found = [probe.measure(own) for probe, own in zip(run.probes, answers, strict=True)]
            watched |= {name: [numbers[name] for numbers in found] for name in found[0]}
        return validation, watched


def _record(run: TrainingRun, member: int, record: Epoch) -> None:
    """Add an epoch to a member's history, keep its weights if they are its best, and see whether it stops."""
    history, patience = run.histories[member], run.config.patience
    history.epochs.append(record)
    best = history.best_validation_mse
    if record.validation_mse is not None and (best is None or record.validation_mse < best):
        history.best_epoch = record.epoch
        if patience is not None:
            run.keep_as_best(member)
    if patience is not None and history.best_epoch is not None:
        history.stopped_early = record.epoch - history.best_epoch >= patience


def _summarize(epochs: list[Epoch], probes: Sequence[Probe]) -> str:
    if len(epochs) == 1 and probes and probes[0].text is not None and epochs[0].watched:
        return f"epoch {epochs[0].epoch + 1}  {probes[0].text(epochs[0].watched)}"
    if len(epochs) == 1:
        return str(epochs[0])
    losses = torch.tensor([epoch.loss for epoch in epochs])
    return f"epoch {epochs[0].epoch + 1}  loss {losses.min():.4g} to {losses.max():.4g} of {len(epochs)} models"
