"""What makes two training runs the same run, and in which words they differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from trimetric._support.printable import printable, shown
from trimetric.training.config import Epoch, History, TrainingConfig

NOT_PART_OF_A_RUN = ("checkpoint_seconds", "seed")
"""settings that may change; `settings_identity` takes the seeds of the members separately"""
PHRASES = {
    "data": "the training data, or what is learned from them, differ",
    "validation": "the validation pairs differ",
    "watch": "the watched pairs differ",
    "bootstrap": "where the targets come from differs",
    "loss": "the custom loss differs",
}

TOLD = 6
"""differences that a message names"""
MOMENTS = "optimiser"
"""what a checkpoint calls the state of the optimizer; files of earlier versions spell it so"""
MOMENT_NAMES = ("step", "exp_avg", "exp_avg_sq")

Shapes = Mapping[str, Tensor]


def settings_identity(config: TrainingConfig, seeds: list[int]) -> str:
    """Write the settings as text, so that a checkpoint can say which of them differ.

    Args:
        config: the settings.
        seeds: of the members.

    Returns:
        JSON.
    """
    settings = {name: value for name, value in asdict(config).items() if name not in NOT_PART_OF_A_RUN}
    return json.dumps(settings | {"seeds": seeds}, sort_keys=True)


def network_identity(tensors: Shapes) -> str:
    """Compute a digest of the names and shapes of parameters and buffers.

    Args:
        tensors: the parameters and buffers by name.
    """
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    return hashlib.sha256(json.dumps(shapes, sort_keys=True).encode()).hexdigest()


def check_tensors(
    tensors: Shapes, parameters: Shapes, buffers: Shapes, loss_sums: Tensor, wholes: Mapping[str, bool]
) -> None:
    """Refuse tensors of a checkpoint that would be broadcast, or would fail only in the middle of a step.

    Args:
        tensors: of the checkpoint, by the names that they have there.
        parameters: of the run.
        buffers: of the run.
        loss_sums: of the run, one for each member.
        wholes: kinds of tensors that exist for all parameters or for none, such as "average", and whether the run
            needs them.

    Raises:
        ValueError: if one is missing, or has another shape or dtype.
    """
    expected = {
        **{f"parameter.{name}": value for name, value in parameters.items()},
        **{f"buffer.{name}": value for name, value in buffers.items()},
        "loss_sums": loss_sums,
    }
    for kind, needed in wholes.items():
        if needed or any(name.startswith(f"{kind}.") for name in tensors):
            expected |= {f"{kind}.{name}": value for name, value in parameters.items()}
    for name, value in parameters.items():
        if any(f"{MOMENTS}.{name}.{key}" in tensors for key in MOMENT_NAMES):  # none before its first gradient
            expected |= {f"{MOMENTS}.{name}.{key}": value for key in ("exp_avg", "exp_avg_sq")}
            expected[f"{MOMENTS}.{name}.step"] = torch.zeros(())
    for name, value in expected.items():
        if name not in tensors:
            raise ValueError(f"{name}: expected {value.dtype} of shape {tuple(value.shape)}, got nothing")
        got = tensors[name]
        if got.shape != value.shape or got.dtype != value.dtype:
            raise ValueError(
                f"{name}: expected {value.dtype} of shape {tuple(value.shape)}, got {got.dtype} of shape "
                f"{tuple(got.shape)}"
            )


def history_of(record: Any) -> History:
    """Read the history of a member from the state of a checkpoint.

    Args:
        record: what the checkpoint holds.

    Returns:
        The history.

    Raises:
        ValueError: if it is not a history; also a TypeError or a KeyError.
    """
    epochs = [Epoch(**epoch) for epoch in record["epochs"]]
    for number, epoch in enumerate(epochs):
        numbers = [epoch.loss, epoch.learning_rate, epoch.seconds, *epoch.watched.values()]
        if type(epoch.epoch) is not int or epoch.epoch != number:
            raise ValueError(f"epochs: expected number {number}, got {shown(epoch.epoch)}")
        if not all(_is_number(value) for value in numbers) or not _is_number(epoch.validation_mse, optional=True):
            raise ValueError(f"epochs[{number}]: expected numbers, got {shown(record['epochs'][number])}")
    best, stopped = record["best_epoch"], record["stopped_early"]
    if best is not None and (
        type(best) is not int or not 0 <= best < len(epochs) or epochs[best].validation_mse is None
    ):
        raise ValueError(f"best_epoch: expected one of {len(epochs)} epochs with a validation error, got {shown(best)}")
    if type(stopped) is not bool:
        raise ValueError(f"stopped_early: expected true or false, got {shown(stopped)}")
    return History(epochs=epochs, best_epoch=best, stopped_early=stopped)


def _is_number(value: object, *, optional: bool = False) -> bool:
    return type(value) in (int, float) or (optional and value is None)


def differences(there: Mapping[str, str], here: Mapping[str, str], tensors_there: Shapes, tensors_here: Shapes) -> str:
    """Say in words what differs between the run of a checkpoint and this one.

    Args:
        there: the identity in the checkpoint.
        here: that of this run.
        tensors_there: the parameters and buffers in the checkpoint, by the names that they have in the network.
        tensors_here: those of this run.

    Returns:
        The differences, separated by semicolons.

    Examples:
        >>> differences({"config": '{"epochs": 2}'}, {"config": '{"epochs": 3}'}, {}, {})
        'epochs: 2 there, 3 here'
    """
    found: list[str] = []
    for key in sorted({*there, *here}, key=lambda key: (key != "config", key != "model", key)):
        if there.get(key) == here.get(key):
            continue
        if key == "config":
            found += _settings(json.loads(there.get(key, "{}")), json.loads(here.get(key, "{}")))
        elif key == "model":
            found.append(_network(tensors_there, tensors_here))
        else:
            found.append(PHRASES.get(key, f"{key} differs"))
    more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
    return "; ".join(printable(one, limit=120) for one in found[:TOLD]) + more


def _settings(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    names = [name for name in sorted({*there, *here}) if there.get(name) != here.get(name)]
    return [f"{_name(name, here)}: {_value(there, name)} there, {_value(here, name)} here" for name in names]


def _name(name: str, here: Mapping[str, Any]) -> str:
    return "seed" if name == "seeds" and len(here.get(name, ())) == 1 else name


def _value(settings: Mapping[str, Any], name: str) -> str:
    value = settings.get(name)
    if name == "seeds" and isinstance(value, list) and len(value) == 1:
        value = value[0]
    return "none" if value is None else str(value)


def _network(there: Shapes, here: Shapes) -> str:
    shapes = [{name: tuple(tensor.shape) for name, tensor in tensors.items()} for tensors in (there, here)]
    names = [name for name in sorted({*there, *here}) if shapes[0].get(name) != shapes[1].get(name)]
    if not names:
        return "the network differs"
    first, more = names[0], len(names) - 1
    sizes = [str(own.get(first, "absent")) for own in shapes]
    rest = f", and {more} more" if more else ""
    return f"the network: {first}: shape {sizes[0]} there, {sizes[1]} here{rest}"
