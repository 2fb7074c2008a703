"""Logged transitions: for many users, everything that is known about their world."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from trimetric._support.atomic import replacing
from trimetric._support.printable import printable
from trimetric.files.arrays import stored_arrays

STORED = ("observations", "next_observations", "costs", "actions", "terminals")
KEYS = (*STORED, "rewards")

MOST_MERGED = 0.01
"""share of the rows in float64 that may become equal to others in float32"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Transitions:
    """A log of steps: the observations before and after each step, and the cost of the step.

    Args:
        observations: the observation before each step (n, ...), finite numbers.  They are kept as float32, and refused
            if that would make different states equal (more than 1 % of the rows, if they are float64).
        next_observations: the observation after each step, of the same shape.
        costs: cost of each step (n,), above 0, so that the cost of a cheapest path is a quasimetric.
        actions: number of the action of each step (n,); only an `Agent` needs them.
        terminals: whether the episode ended with each step (n,).

    Examples:
        >>> log = Transitions(
        ...     observations=np.array([[0.0], [1.0]]), next_observations=np.array([[1.0], [0.0]]), costs=np.ones(2)
        ... )
        >>> len(log), log.states.tolist(), log.ends.tolist()
        (2, [[0.0], [1.0]], [[0, 1], [1, 0]])
    """

    observations: np.ndarray
    next_observations: np.ndarray
    costs: np.ndarray
    actions: np.ndarray | None = None
    terminals: np.ndarray | None = None

    def __post_init__(self) -> None:
        given = tuple(np.asarray(value) for value in (self.observations, self.next_observations))
        for name in ("observations", "next_observations", "costs"):
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        n = len(self.costs) if self.costs.ndim else 0
        if self.costs.shape != (n,) or not n:
            raise ValueError(f"costs: expected one for each step, shape (n,), got shape {self.costs.shape}")
        if self.observations.ndim < 2 or len(self.observations) != n:
            raise ValueError(
                f"observations: expected one row for each of the {n} costs, shape ({n}, ...), "
                f"got shape {self.observations.shape}"
            )
        if self.next_observations.shape != self.observations.shape:
            raise ValueError(
                f"next_observations: expected the shape of observations, {self.observations.shape}, "
                f"got {self.next_observations.shape}"
            )
        row = first_merged_row(*given)
        if row is not None:
            name = "observations" if row < n else "next_observations"
            raise ValueError(
                f"{name}: expected rows that float32 can tell apart, got one in row {row % n} that becomes equal to "
                "another state; subtract their offset, or round them"
            )
        if not (self.costs > 0).all():
            row = int((self.costs <= 0).argmax())
            raise ValueError(
                f"costs: expected all above 0 (rewards below 0), got {self.costs[row]:g} in row {row}; "
                "a step that costs nothing would make two states one"
            )
        for name, kind in (("actions", np.int64), ("terminals", np.bool_)):
            value = getattr(self, name)
            if value is not None:
                given = np.asarray(value)
                if given.shape != (n,) or not (given.dtype == np.bool_ or np.issubdtype(given.dtype, np.integer)):
                    raise ValueError(
                        f"{name}: expected {n} whole numbers, one for each step, "
                        f"got shape {given.shape} and dtype {given.dtype}"
                    )
                if name == "actions" and (given < 0).any():
                    row = int((given < 0).argmax())
                    raise ValueError(f"actions: expected numbers from 0, got {given[row]} in row {row}")
                object.__setattr__(self, name, given.astype(kind))

    def __len__(self) -> int:
        return len(self.costs)

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        n = len(self)
        both = np.concatenate([self.observations, self.next_observations]) + 0.0  # -0 is 0
        rows = np.ascontiguousarray(both.reshape(2 * n, -1))
        _, first, numbers = np.unique(_keys(rows), return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        order = np.argsort(first)  # numbered in the order of the log, not of their bytes
        rank[order] = np.arange(len(first))
        return both[first[order]], rank[numbers.ravel()].reshape(2, n)

    @property
    def states(self) -> np.ndarray:
        """The distinct observations (m, ...), in the order in which they were first seen."""
        return self._distinct[0]

    @property
    def ends(self) -> np.ndarray:
        """The states before and after each step (2, n), by number."""
        return self._distinct[1]

    def holds_same_as(self, other: Transitions) -> bool:
        """Tell whether two logs are equal, number by number.

        Args:
            other: the log to compare with.

        Returns:
            Whether all of their arrays are equal.
        """
        pairs = ((getattr(self, name), getattr(other, name)) for name in STORED)
        return all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in pairs)

    def write(self, path: Path | str, *, overwrite: bool = True) -> Path:
        """Write the log to one .npz file, which is replaced completely or not at all.

        Args:
            path: the file.
            overwrite: whether to replace a file that holds anything but this log.  With False an existing file is left
                as it is: it is accepted if it holds this log, as when an interrupted run collects its log again.

        Returns:
            The path of the file.

        Raises:
            FileExistsError: with `overwrite=False`, if the file holds anything else.
        """
        file = Path(path)
        if not overwrite and file.exists():
            try:
                same = self.holds_same_as(read_transitions(file))
            except ValueError:
                same = False
            if same:
                return file
            raise FileExistsError(f"{file}: exists already and holds something else than these {len(self):,} steps")
        arrays = {name: getattr(self, name) for name in STORED}
        with replacing(file) as stream:
            np.savez_compressed(stream, **{name: value for name, value in arrays.items() if value is not None})
        return file


def read_transitions(path: Path | str) -> Transitions:
    """Read the transitions of an .npz file.

    Its arrays are `observations` and `next_observations` (n, ...), `costs` or `rewards` (n,), where rewards are minus
    the costs, and, if known, `actions` and `terminals` (n,).

    Args:
        path: the file.

    Returns:
        The log.

    Examples:
        >>> import tempfile
        >>> line = np.arange(3.0)[:, None]
        >>> log = Transitions(observations=line[:-1], next_observations=line[1:], costs=np.ones(2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(read_transitions(log.write(f"{folder}/log.npz")))
        2
    """
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"{file}: no such file")
    arrays = stored_arrays(file)
    if "" in arrays:
        raise ValueError(f"{file}: expected an .npz archive of arrays of numbers, got a single array")
    found: dict[str, Any] = {name: array.read() for name, array in arrays.items() if name in KEYS}
    held = ", ".join(printable(name, limit=30) for name in list(arrays)[:8]) or "none"
    for name in ("observations", "next_observations"):
        if name not in found:
            raise ValueError(f"{file}: expected an array {name!r}, got {held}")
    if ("costs" in found) == ("rewards" in found):
        raise ValueError(f"{file}: expected an array 'costs' or an array 'rewards' (minus the costs), got {held}")
    if "rewards" in found:
        found["costs"] = -_numbers(f"{file}: rewards", found.pop("rewards"))
    try:
        return Transitions(**found)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def first_merged_row(*parts: np.ndarray) -> int | None:
    """Find the first row that is different from an earlier row, but becomes equal to it in float32.

    Numbers of objects must all stay different.  A few measurements in float64 may differ by noise alone, such as those
    of a body at rest; up to 1 % of the rows may become equal to others.

    Args:
        *parts: arrays of rows of numbers, one after the other.

    Returns:
        Its number, counted over all parts; None if there is none.
    """
    if all(np.can_cast(part.dtype, np.float32) for part in parts):
        return None
    whole = np.concatenate(parts)
    rows = np.ascontiguousarray(whole.reshape(len(whole), -1)) + whole.dtype.type(0)  # -0 is 0
    with np.errstate(under="ignore"):
        small = rows.astype(np.float32) + np.float32(0)
    if np.array_equal(small.astype(rows.dtype), rows):
        return None
    _, first, numbers = np.unique(_keys(small), return_index=True, return_inverse=True)
    other = (rows != rows[first[numbers.ravel()]]).any(axis=1)
    allowed = MOST_MERGED * len(rows) if np.issubdtype(whole.dtype, np.floating) else 0
    return int(other.argmax()) if other.sum() > allowed else None


def _keys(rows: np.ndarray) -> np.ndarray:
    """Each row as one value, equal for equal bytes."""
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _numbers(name: str, value: Any) -> np.ndarray:
    array = np.asarray(value)
    if not (array.dtype == np.bool_ or np.issubdtype(array.dtype, np.number)) or np.iscomplexobj(array):
        raise ValueError(f"{name}: expected real numbers, got dtype {array.dtype}")
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # numbers that are too large become infinite, and are refused as such
        array = array.astype(np.float64 if name.endswith(("costs", "rewards")) else np.float32)
    bad = int((~np.isfinite(array)).sum())
    if bad:
        row = int(np.argwhere(~np.isfinite(array))[0][0]) if array.ndim else 0
        raise ValueError(f"{name}: expected finite numbers, got {bad} NaN or infinite, the first in row {row}")
    return array
