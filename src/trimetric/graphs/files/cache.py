"""Arrays that were computed before, kept in files named by a hash of what they were computed from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from trimetric._support.tensor_files import CheckpointError, read_file, write_file

FORMAT = "trimetric-cache-1"


class ArrayCache:
    """A folder of results; a file that is damaged counts as absent, and one that is being written is not seen."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def read(self, key: str) -> dict[str, NDArray[np.generic]] | None:
        try:
            tensors, _ = read_file(self._file(key), form=FORMAT, noun="cache file")
            return {name: tensor.numpy() for name, tensor in tensors.items()}
        except (CheckpointError, TypeError):  # TypeError: numbers of a kind that NumPy does not have
            return None

    def write(self, key: str, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        write_file(self._file(key), {name: torch.from_numpy(a) for name, a in arrays.items()}, {}, form=FORMAT)

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.safetensors"


def content_key(*parts: str | int | float | NDArray[np.generic]) -> str:
    """A hash of texts, numbers and arrays."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype} {part.shape};".encode())
            digest.update(np.ascontiguousarray(part).data)
        else:
            digest.update(f"{part!r};".encode())
    return digest.hexdigest()


def default_folder() -> Path:
    """Where the command line keeps what it computed: `trimetric` in XDG_CACHE_HOME, or in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trimetric"
