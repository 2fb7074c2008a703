"""Tensors and plain data in one safetensors file that can be trusted: replaced atomically, with a checksum."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from trimetric._support.atomic import WriteError, replacing, sync
from trimetric._support.printable import printable, shown

CHECKPOINT = "trimetric-checkpoint-1"
DEEPEST = 200  # of lists and dictionaries in each other; what goes through a state may be recursive


class CheckpointError(RuntimeError):
    """A file that cannot be used, and why."""


def previous(path: Path) -> Path:
    """Where the checkpoint before the newest is kept."""
    return path.with_name(path.stem + ".previous" + path.suffix)


def write_checkpoint(path: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Replace the checkpoint, keeping the one before it; killed at any moment, this leaves a whole one behind."""

    def keep_the_one_before(_: Path) -> None:
        if path.exists():
            # Not by a rename of a new link: where both names are links to one file already, since a process was killed
            # right here, a rename does nothing and leaves the new link behind.
            previous(path).unlink(missing_ok=True)
            os.link(path, previous(path))

    write_file(path, tensors, state, form=CHECKPOINT, before=keep_the_one_before)


def remove_checkpoint(path: Path) -> None:
    """Remove the newest and the one before it, when a run needs them no more."""
    # The newest last: killed in between, a run that is given again ends at once.
    for file in (previous(path), path):
        file.unlink(missing_ok=True)


def write_file(
    path: Path,
    tensors: dict[str, Tensor],
    state: dict[str, Any],
    *,
    form: str,
    before: Callable[[Path], None] | None = None,
) -> None:
    """Write or replace a file of the given form, wholly or not at all.

    Args:
        path: the file; its folder is made where there is none.
        tensors: what to keep by name.
        state: plain data, as JSON can hold it.
        form: what kind of file it is, and the version of its format.
        before: called with the path of the whole file beside, before it takes its place; where it raises, nothing
            is replaced.
    """
    own = _apart(tensors)
    text = json.dumps(state, sort_keys=True)
    content = save(own, metadata={"format": form, "state": text, "sha256": _digest(own, text)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(path, error) from error
    with replacing(path) as stream:
        stream.write(content)
        _order_metadata(stream)
        sync(stream)
        if before is not None:
            before(Path(stream.name))


def _apart(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors in memory of their own each, which safetensors asks for; most are so already."""
    own: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        value = tensor.detach().cpu().contiguous()
        storage = value.untyped_storage()
        if storage.data_ptr() in seen or storage.nbytes() != value.nbytes:
            value = value.clone()
        seen.add(storage.data_ptr())
        own[name] = value
    return own


def _order_metadata(file: BinaryIO) -> None:
    """Sort the metadata, which safetensors writes in a random order, so that equal contents are equal bytes."""
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    header = json.loads(file.read(length))
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    if len(text) <= length:  # else they are escaped in another way there, and only the order stays random
        file.seek(8)
        file.write(text.ljust(length))


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the state of a checkpoint.  Nothing in the file is ever executed."""
    return read_file(path, form=CHECKPOINT, noun="checkpoint")


def read_file(path: Path, *, form: str, noun: str, verify: bool = True) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the state of a file of the given form.  Nothing in the file is ever executed.

    Args:
        path: the file.
        form: what kind of file is expected, and the version of its format.
        noun: what error messages call it.
        verify: whether to compare the checksum; without, the tensors stay on the disk until they are used.
    """
    if not path.exists():
        raise CheckpointError(f"{path}: no such file")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, RuntimeError, MemoryError, OverflowError) as error:
        told = printable(str(error), limit=200)
        raise CheckpointError(f"{path}: cannot be read, it is truncated or no {noun} ({told}).{_hint(path)}") from None
    found = metadata.get("format")
    if found != form:
        got = "another kind of file" if found is None else printable(found, limit=80)
        raise CheckpointError(f"{path}: expected a {noun} of format {form}, got {got}.")
    text = metadata.get("state")
    if text is None:
        raise CheckpointError(f"{path}: expected its state beside the tensors, got none; it is no whole {noun}.")
    if verify and metadata.get("sha256") != _digest(tensors, text):
        raise CheckpointError(f"{path}: the checksum does not match, the file was damaged or changed.{_hint(path)}")
    try:
        state = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: expected its state as JSON, got {shown(text)} ({error}).") from None
    if not isinstance(state, dict):
        raise CheckpointError(f"{path}: expected its state by name, got {shown(state)}.")
    if nesting(state) > DEEPEST:
        raise CheckpointError(f"{path}: expected a state nested at most {DEEPEST} deep, got a deeper one.")
    return tensors, state


def nesting(value: object) -> int:
    """How deep lists and dictionaries lie in each other, without recursion."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, (dict, list))]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def _hint(path: Path) -> str:
    return f" The checkpoint before it is in {previous(path)}." if previous(path).exists() else ""


def _digest(tensors: dict[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
