"""Logs in files: one .npz archive, or a folder of .npy files that are mapped into memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trimetric._support.atomic import replacing
from trimetric._support.printable import printable
from trimetric.files.arrays import StoredArray, stored_arrays

if TYPE_CHECKING:
    from trimetric.rl.trajectories.trajectories import Trajectories

NEEDED = ("observations", "ends")
STORED = (*NEEDED, "actions", "terminated", "costs", "action_low", "action_high", "num_actions")
MAPPED = ("observations", "actions")


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> Path:
    """Write arrays to an .npz file or, under any other name, to a folder of .npy files."""
    if path.suffix == ".npz":
        with replacing(path) as stream:
            np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
        return path
    if path.is_file():
        raise ValueError(f"path: expected a folder or a name that ends in .npz, got the file {path}")
    path.mkdir(parents=True, exist_ok=True)
    for name in STORED:
        file = path / f"{name}.npy"
        if name in arrays:
            with replacing(file) as stream:
                np.lib.format.write_array(stream, arrays[name], allow_pickle=False)
        else:
            file.unlink(missing_ok=True)
    return path


def read_trajectories(path: Path | str) -> Trajectories:
    """Read a log that `Trajectories.write` has written, or an .npz file of OGBench.

    The observations and actions of a folder stay on disk and are read when needed, after one pass that checks them.

    Args:
        path: an .npz file or a folder.

    Returns:
        The log.

    Raises:
        ValueError: if the file is no log; the message says what is wrong, and in which row.

    Examples:
        >>> import tempfile
        >>> from trimetric.rl import Trajectories
        >>> log = Trajectories(observations=np.zeros((3, 2)), ends=np.array([2]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     in_memory = read_trajectories(log.write(f"{folder}/log.npz"))
        ...     mapped = read_trajectories(log.write(f"{folder}/log"))
        ...     type(in_memory.observations).__name__, type(mapped.observations).__name__
        ('ndarray', 'memmap')
    """
    from trimetric.rl.trajectories.trajectories import Trajectories

    file = Path(path)
    folder = file.is_dir()
    stored = _of_folder(file) if folder else _of_archive(file)
    ogbench = "terminals" in stored and "ends" not in stored
    for name in ("observations", "actions", "terminals") if ogbench else NEEDED:
        if name not in stored:
            held = ", ".join(printable(own, limit=30) for own in list(stored)[:8]) or "none"
            raise ValueError(f"{file}: expected an array {name!r}, got {held}")
    try:
        if ogbench:
            return Trajectories.from_ogbench({name: array.read() for name, array in stored.items()})
        found: dict[str, Any] = {
            name: _map(array) if folder and name in MAPPED else array.read()
            for name, array in stored.items()
            if name in STORED
        }
        low, high = found.pop("action_low", None), found.pop("action_high", None)
        if (low is None) != (high is None):
            raise ValueError("action_low, action_high: expected both or none, got one of them")
        count = found.pop("num_actions", None)
        return Trajectories(
            **found,
            action_range=None if low is None else (low, high),
            num_actions=None if count is None or found.get("actions") is None else int(count),
        )
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _of_archive(file: Path) -> dict[str, StoredArray]:
    if not file.is_file():
        raise ValueError(f"{file}: no such file or folder")
    arrays = stored_arrays(file)
    if "" in arrays:
        raise ValueError(f"{file}: expected an .npz archive or a folder of arrays, got a single array")
    return arrays


def _of_folder(folder: Path) -> dict[str, StoredArray]:
    files = {name: folder / f"{name}.npy" for name in STORED}
    return {name: stored_arrays(file)[""] for name, file in files.items() if file.is_file()}


def _map(array: StoredArray) -> np.ndarray:
    if array.dtype.kind not in "biuf" or array.dtype.itemsize * int(np.prod(array.shape)) > array.size:
        return array.read()  # which says what is wrong
    order = "F" if array.fortran else "C"
    return np.memmap(array.file, dtype=array.dtype, mode="r", offset=array.start, shape=array.shape, order=order)
