"""A cache of computed arrays, in files named by a hash of what the arrays were computed from."""

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
    """A folder of results.  Damaged files count as absent, and files that are being written are not seen.

    Args:
        folder: where the files are; it is created when needed.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def read(self, key: str) -> dict[str, NDArray[np.generic]] | None:
        """Read the arrays of a key; None if there are none.

        Args:
            key: what `content_key` made.
        """
        try:
            tensors, _ = read_file(self._file(key), form=FORMAT, noun="cache file")
            return {name: tensor.numpy() for name, tensor in tensors.items()}
        except (CheckpointError, TypeError):  # TypeError: a dtype that NumPy does not have
            return None

    def write(self, key: str, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Keep arrays under a key.

        Args:
            key: what `content_key` made.
            arrays: the arrays by name.
        """
        write_file(self._file(key), {name: torch.from_numpy(a) for name, a in arrays.items()}, {}, form=FORMAT)

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.safetensors"


def content_key(*parts: str | int | float | NDArray[np.generic]) -> str:
    """Hash texts, numbers and arrays into a key for `ArrayCache`.

    Args:
        *parts: everything that the result depends on.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype} {part.shape};".encode())
            digest.update(np.ascontiguousarray(part).data)
        else:
            digest.update(f"{part!r};".encode())
    return digest.hexdigest()


def default_folder() -> Path:
    """The folder where the command line keeps results: `trimetric` in XDG_CACHE_HOME, or in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trimetric"
