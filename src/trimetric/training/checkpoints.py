"""Checkpoints of training runs: write one, and resume from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from trimetric._support.printable import printable, shown
from trimetric._support.tensor_files import CheckpointError, read_checkpoint, write_checkpoint
from trimetric.training.identity import (
    MOMENTS,
    check_tensors,
    differences,
    history_of,
    network_identity,
    settings_identity,
)
from trimetric.training.pairs import TrainingData
from trimetric.training.run import TrainingRun


def save_run(run: TrainingRun, path: Path) -> None:
    """Write the state of a run.

    Args:
        run: the run, between two steps.
        path: the file to write or replace.
    """
    moments = {
        f"{MOMENTS}.{name}.{key}": value
        for name, parameter in run.trainee.parameters.items()
        for key, value in run.optimizer.state[parameter].items()
    }
    tensors = {
        **{f"parameter.{name}": value for name, value in run.trainee.parameters.items()},
        **{f"buffer.{name}": value for name, value in run.trainee.buffers.items()},
        **moments,
        **{f"average.{name}": value for name, value in run.average.items()},
        **{f"best.{name}": value for name, value in run.best.items()},
        **{f"teacher.{name}": value for name, value in run.teacher_weights.items()},
        "generator": torch.get_rng_state(),
        "loss_sums": run.loss_sums,
    }
    state = {
        "identity": _identity(run),
        "position": run.position,
        "seconds": run.seconds,
        "histories": [asdict(history) for history in run.histories],
    }
    write_checkpoint(path, tensors, state)


@torch.no_grad()
def restore_run(run: TrainingRun, path: Path) -> None:
    """Put a run into the state of a checkpoint.

    Args:
        run: a run that was made with the same arguments.
        path: the checkpoint.

    Raises:
        CheckpointError: if it belongs to another run, lacks something, or has it in another shape.
    """
    tensors, state = read_checkpoint(path)
    try:
        _restore(run, path, tensors, state)
    except CheckpointError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        told = printable(" ".join(str(error).split()), limit=200)
        kind = type(error).__name__
        raise CheckpointError(f"{path}: is no whole checkpoint of this run ({kind}: {told}).") from None


def _restore(run: TrainingRun, path: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    def part(kind: str) -> dict[str, Tensor]:
        prefix = f"{kind}."
        return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}

    def weights(kind: str) -> dict[str, Tensor]:
        return {name: value.to(run.trainee.parameters[name].device) for name, value in part(kind).items()}

    if state["identity"] != _identity(run):
        network = part("parameter") | part("buffer")
        found = differences(state["identity"], _identity(run), network, _network(run))
        raise CheckpointError(
            f"{path}: belongs to another run: {found}. Resume with the same arguments, or give another checkpoint file."
        )

    _check(run, tensors, state)
    moments = part(MOMENTS)
    for name, parameter in run.trainee.parameters.items():
        parameter.copy_(tensors[f"parameter.{name}"])
        run.optimizer.state[parameter] = {
            key: moments[f"{name}.{key}"].to(parameter.device)
            for key in ("step", "exp_avg", "exp_avg_sq")
            if f"{name}.{key}" in moments
        }
    for name, buffer in run.trainee.buffers.items():
        buffer.copy_(tensors[f"buffer.{name}"])
    run.average, run.best, run.teacher_weights = weights("average"), weights("best"), weights("teacher")
    torch.set_rng_state(tensors["generator"])
    run.position, run.seconds, run.loss_sums = state["position"], state["seconds"], tensors["loss_sums"]
    run.histories = [history_of(record) for record in state["histories"]]


def _check(run: TrainingRun, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    wholes = {"average": bool(run.config.average), "teacher": bool(run.teachers), "best": False}
    check_tensors(tensors, run.trainee.parameters, run.trainee.buffers, run.loss_sums, wholes)
    position, histories = state["position"], state["histories"]
    if type(position) is not int or not 0 <= position <= run.steps:
        raise ValueError(f"position: expected a step from 0 to {run.steps}, got {shown(position)}")
    if not isinstance(state["seconds"], (int, float)) or len(histories) != len(run.seeds):
        raise ValueError(f"histories: expected {len(run.seeds)} and the seconds, got {shown(histories)}")


def _network(run: TrainingRun) -> dict[str, Tensor]:
    return run.trainee.parameters | run.trainee.buffers


def _identity(run: TrainingRun) -> dict[str, str]:
    """What must be the same for a checkpoint to fit.  Files of earlier versions have these keys too."""
    return {
        "config": settings_identity(run.config, list(run.seeds)),
        "data": _fingerprint(run.data),
        "validation": _fingerprint(run.validation),
        "watch": " ".join(f"{name} {_fingerprint(data)}" for name, data in sorted(run.watch.items())),
        "bootstrap": " ".join(teacher.fingerprint() for teacher in run.teachers),
        "model": network_identity(_network(run)),
        **({"loss": run.loss} if run.loss else {}),
    }


def _fingerprint(members: Sequence[TrainingData]) -> str:
    distinct = {id(data): data for data in members}
    digests = {key: data.fingerprint() for key, data in distinct.items()}
    return " ".join(digests[id(data)] for data in members)
