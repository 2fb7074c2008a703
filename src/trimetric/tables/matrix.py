"""Square matrices of distances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric.tables.columns import LARGEST, first, floats, is_number, load_arrays
from trimetric.tables.errors import InputError, unknown_suffix
from trimetric.tables.pairs import PairTable
from trimetric.tables.text import DELIMITERS, numbered_rows

IDS = "ids"


def holds_a_matrix(file: Path) -> bool:
    """Whether an array file can only be a matrix: every NPY file, and an NPZ file with one matrix (and ids)."""
    suffix = file.suffix.lower()
    if suffix != ".npz" or not file.is_file():
        return suffix == ".npy"
    arrays = load_arrays(file)
    return [array.ndim for name, array in arrays.items() if name != IDS] == [2]


def read_matrix(file: Path, *, unreachable: bool = False) -> PairTable:
    """All ordered pairs of a square matrix, row to column.

    An NPY file; an NPZ file with one matrix and perhaps the names of its objects as `ids`; or a CSV or TSV file
    with or without a header of names, and then with or without a first column of them.  Without names
    the objects are 0, 1, 2, ...

    Args:
        file: its suffix tells its kind.
        unreachable: whether a distance may be infinite.
    """
    suffix = file.suffix.lower()
    if suffix in DELIMITERS:
        names, matrix = _from_text(file)
    elif suffix in (".npy", ".npz"):
        arrays = load_arrays(file)
        ids = arrays.pop(IDS, None)
        if len(arrays) != 1:
            raise InputError(f"{file}: expected one matrix (and perhaps {IDS!r}), got {sorted(arrays)}")
        matrix = next(iter(arrays.values()))
        names = None if ids is None else [str(name) for name in ids.tolist()]
    else:
        raise unknown_suffix(file, ".csv", ".tsv", ".npy", ".npz")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "iuf":
        raise InputError(f"{file}: expected a square matrix of numbers, got shape {matrix.shape} of {matrix.dtype}")
    if len(matrix) < 2:
        raise InputError(f"{file}: expected at least two objects, got {len(matrix)}")
    names = [str(i) for i in range(len(matrix))] if names is None else names
    if len(names) != len(matrix) or len(set(names)) < len(names):
        raise InputError(f"{file}: expected {len(matrix)} different names, got {len(set(names))} of {len(names)}")
    matrix = matrix.astype(np.float64)
    _check(file, names, matrix, unreachable=unreachable)
    return pairs_of_matrix(names, matrix, str(file))


def pairs_of_matrix(names: list[str], matrix: NDArray[np.float64], origin: str) -> PairTable:
    """All ordered pairs of different objects."""
    ends = np.argwhere(~np.eye(len(matrix), dtype=bool))

    def where(row: int) -> str:
        source, target = ends[row]
        return f"{origin}, from {names[source]!r} to {names[target]!r}"

    return PairTable(names=names, ends=ends, distances=matrix[ends[:, 0], ends[:, 1]], where=where)


def _check(file: Path, names: Sequence[str], matrix: NDArray[np.float64], *, unreachable: bool) -> None:
    def refuse(spot: int, expected: str) -> InputError:
        i, j = divmod(spot, len(matrix))
        return InputError(
            f"{file}, from {names[i]!r} to {names[j]!r}: expected {expected}, got {float(matrix[i, j])!r}"
        )

    flat = matrix.ravel()
    bad = first(~(flat >= 0))
    if bad is not None:
        raise refuse(bad, "a number >= 0")
    huge = first(np.isfinite(flat) & (flat > LARGEST))
    if huge is not None:
        raise refuse(huge, f"a number up to {LARGEST:.2g}")
    endless = None if unreachable else first(np.isinf(flat))
    if endless is not None:
        raise refuse(endless, "a finite number (unreachable pairs need the discounted loss)")
    loop = first(matrix.diagonal() != 0)
    if loop is not None:
        raise refuse(loop * (len(matrix) + 1), "0 from an object to itself")


def _from_text(file: Path) -> tuple[list[str] | None, NDArray[Any]]:
    lines, rows = [], []
    for line, row in numbered_rows(file):
        lines.append(line)
        rows.append([cell.strip() for cell in row])
        if len(row) != len(rows[0]):
            raise InputError(f"{file}, line {line}: expected {len(rows[0])} columns as before, got {len(row)}")
    if not rows:
        raise InputError(f"{file}: expected a matrix, got an empty file")
    names, skipped = None, 0
    if len(rows) == len(rows[0]) + 1:
        names = rows.pop(0)
    elif len(rows) == len(rows[0]) and not is_number(rows[0][0]):
        names, skipped = rows.pop(0)[1:], 1
        for line, row, name in zip(lines[1:], rows, names, strict=True):
            if row[0] != name:
                raise InputError(f"{file}, line {line}: expected {name!r} as in the header, got {row[0]!r}")
    elif len(rows) != len(rows[0]):
        raise InputError(f"{file}: expected a square matrix, got {len(rows)} rows of {len(rows[0])} columns")
    values = np.empty((len(rows), len(rows[0]) - skipped))
    for i, (line, row) in enumerate(zip(lines[len(lines) - len(rows) :], rows, strict=True)):
        try:
            values[i] = floats(row[skipped:])
        except ValueError:
            cell = next(cell for cell in row[skipped:] if not is_number(cell))
            raise InputError(f"{file}, line {line}: expected a number, got {cell!r}") from None
    return names, values
