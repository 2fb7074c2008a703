"""Tensors and plain data in one safetensors file that can be trusted: replaced atomically, with a checksum."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

CHECKPOINT = "trimetric-checkpoint-1"


class CheckpointError(RuntimeError):
    """A file that cannot be used, and why."""


def previous(path: Path) -> Path:
    """Where the checkpoint before the newest is kept."""
    return path.with_name(path.stem + ".previous" + path.suffix)


def write_checkpoint(path: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Replace the checkpoint, keeping the one before it; killed at any moment, this leaves a whole one behind."""
    fresh = _write_beside(path, tensors, state, CHECKPOINT)
    if path.exists():
        kept = path.with_name(path.name + ".keeping")
        kept.unlink(missing_ok=True)
        os.link(path, kept)
        kept.replace(previous(path))
    fresh.replace(path)


def remove_checkpoint(path: Path) -> None:
    """The newest and the one before it, when a run needs them no more."""
    for file in (path, previous(path)):
        file.unlink(missing_ok=True)


def write_file(path: Path, tensors: dict[str, Tensor], state: dict[str, Any], *, form: str) -> None:
    """Write or replace a file of the given form, wholly or not at all."""
    _write_beside(path, tensors, state, form).replace(path)


def _write_beside(path: Path, tensors: dict[str, Tensor], state: dict[str, Any], form: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Copies: safetensors refuses tensors that share memory.
    own = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    text = json.dumps(state, sort_keys=True)
    fresh = path.with_name(path.name + ".writing")
    save_file(own, fresh, metadata={"format": form, "state": text, "sha256": _digest(own, text)})
    with fresh.open("rb+") as file:
        os.fsync(file.fileno())
    return fresh


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the state of a checkpoint.  Nothing in the file is ever executed."""
    return read_file(path, form=CHECKPOINT, noun="checkpoint")


def read_file(path: Path, *, form: str, noun: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the state of a file of the given form.  Nothing in the file is ever executed."""
    if not path.exists():
        raise CheckpointError(f"{path}: no such file")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path}: cannot be read, it is truncated or no {noun} ({error}).{_hint(path)}") from None
    if metadata.get("format") != form:
        raise CheckpointError(
            f"{path}: expected a {noun} of format {form}, got {metadata.get('format', 'another kind of file')}."
        )
    if metadata.get("sha256") != _digest(tensors, metadata["state"]):
        raise CheckpointError(f"{path}: the checksum does not match, the file was damaged or changed.{_hint(path)}")
    return tensors, json.loads(metadata["state"])


def _hint(path: Path) -> str:
    return f" The checkpoint before it is in {previous(path)}." if previous(path).exists() else ""


def _digest(tensors: dict[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
