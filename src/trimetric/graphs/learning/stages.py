"""The stages of a long computation, kept in a checkpoint: a run that was killed resumes after the last one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from trimetric._support.printable import shown
from trimetric._support.tensor_files import CheckpointError, read_checkpoint, write_checkpoint

KIND = "stages of a map model"


class Stages:
    """Arrays that are computed one after the other, and not again if a checkpoint has them.

    Args:
        file: the checkpoint; None keeps nothing.
        identity: what decides the results, as plain data by name.

    Raises:
        CheckpointError: if the checkpoint is damaged, or of another run.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "run.checkpoint"
        ...     first = Stages(file, {"seed": 0}).get("numbers", lambda: np.arange(3, dtype=np.float32))
        ...     Stages(file, {"seed": 0}).get("numbers", lambda: np.zeros(3, np.float32))
        array([0., 1., 2.], dtype=float32)
    """

    def __init__(self, file: Path | str | None, identity: Mapping[str, Any]) -> None:
        self.file = None if file is None else Path(file)
        self.identity = dict(identity)
        self.kept: dict[str, torch.Tensor] = {}
        if self.file is not None and self.file.exists():
            self.kept, state = read_checkpoint(self.file)
            self._check(state)

    def _check(self, state: dict[str, Any]) -> None:
        if state.get("kind") != KIND or not isinstance(state.get("identity"), dict):
            raise CheckpointError(f"{self.file}: expected the checkpoint of a map model, got one of another training.")
        there = state["identity"]
        different = [name for name in {**there, **self.identity} if there.get(name) != self.identity.get(name)]
        if different:
            told = ", ".join(
                f"{name} ({shown(there.get(name))} there, {shown(self.identity.get(name))} here)"
                for name in sorted(different)[:6]
            )
            raise CheckpointError(f"{self.file}: expected a checkpoint of this run, got one that differs in {told}.")

    def get(self, name: str, compute: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
        """Return what a stage computes: from the checkpoint, or now, and then the checkpoint has it.

        Args:
            name: of the stage.
            compute: the same each time.
        """
        if name in self.kept:
            return self.kept[name].numpy()
        values = compute()
        if self.file is not None:
            self.kept[name] = torch.from_numpy(values)
            write_checkpoint(self.file, self.kept, {"kind": KIND, "identity": self.identity})
        return values


def digest(*arrays: NDArray[Any] | None) -> str:
    """Compute a short digest of arrays, for an identity.

    Args:
        arrays: some of them may be None.

    Examples:
        >>> digest(np.arange(3)) == digest(np.arange(3)), digest(np.arange(3)) == digest(np.arange(4))
        (True, False)
    """
    found = hashlib.sha256()
    for array in arrays:
        if array is None:
            found.update(b"none")
        else:
            found.update(f"{array.dtype} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]
