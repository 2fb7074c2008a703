"""What makes two training runs the same run, and in which words they differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from torch import Tensor

from trimetric.training_config import TrainingConfig

NOT_PART_OF_A_RUN = ("checkpoint_seconds", "seed")
"""settings that may change; seeds are those of the members, which `settings_identity` gets apart"""
PHRASES = {
    "data": "the training pairs, their distances or the objects differ",
    "validation": "the validation pairs differ",
    "watch": "the watched pairs differ",
    "bootstrap": "where the targets come from differs",
    "loss": "the custom loss differs",
}

Shapes = Mapping[str, Tensor]


def settings_identity(config: TrainingConfig, seeds: list[int]) -> str:
    """The settings as text, so that a checkpoint can say which of them differ."""
    settings = {name: value for name, value in asdict(config).items() if name not in NOT_PART_OF_A_RUN}
    return json.dumps(settings | {"seeds": seeds}, sort_keys=True)


def network_identity(tensors: Shapes) -> str:
    """A digest of the names and shapes of parameters and buffers."""
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    return hashlib.sha256(json.dumps(shapes, sort_keys=True).encode()).hexdigest()


def check_tensors(tensors: Shapes, parameters: Shapes, buffers: Shapes, loss_sums: Tensor) -> None:
    """Refuse tensors of a checkpoint that would be broadcast, or fail only in the middle of a step.

    Args:
        tensors: of the checkpoint, by the names that they have there.
        parameters: of the run.
        buffers: of the run.
        loss_sums: of the run, one for each member.
    """
    expected = {
        **{f"parameter.{name}": value for name, value in parameters.items()},
        **{f"buffer.{name}": value for name, value in buffers.items()},
        "loss_sums": loss_sums,
    }
    for name, value in parameters.items():
        others = [f"{kind}.{name}" for kind in ("average", "best", "teacher")]
        others += [f"optimiser.{name}.{key}" for key in ("exp_avg", "exp_avg_sq")]
        expected |= {other: value for other in others if other in tensors}
    for name, value in expected.items():
        got = tensors[name]
        if got.shape != value.shape or got.dtype != value.dtype:
            raise ValueError(
                f"{name}: expected {value.dtype} of shape {tuple(value.shape)}, got {got.dtype} of shape "
                f"{tuple(got.shape)}"
            )


def differences(there: Mapping[str, str], here: Mapping[str, str], tensors_there: Shapes, tensors_here: Shapes) -> str:
    """In words, what differs between the run of a checkpoint and this one.

    Args:
        there: the identity in the checkpoint.
        here: that of this run.
        tensors_there: the parameters and buffers in the checkpoint, by the names that they have in the network.
        tensors_here: those of this run.
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
    return "; ".join(found)


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
