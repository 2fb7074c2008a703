"""Pairs of objects from square matrices of distances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric._support.printable import shown
from trimetric.files.columns import LARGEST, first_true
from trimetric.files.errors import InputError
from trimetric.files.matrices import read_square_matrix
from trimetric.files.pairs import PairTable


def read_matrix_pairs(file: Path, *, unreachable: bool = False) -> PairTable:
    """Read all ordered pairs of a square matrix of distances, row to column.

    Without names, the objects are 0, 1, 2, ...

    Args:
        file: its suffix tells its format, see `read_square_matrix`.
        unreachable: whether a distance may be infinite.

    Raises:
        InputError: if the file cannot be read or a number is not a distance.
    """
    square = read_square_matrix(file)
    matrix = square.values
    if len(matrix) < 2:
        raise InputError(f"{file}: expected at least two objects, got {len(matrix)}")
    names = [str(i) for i in range(len(matrix))] if square.names is None else square.names
    _check(file, names, matrix, unreachable=unreachable)
    return pairs_of_matrix(names, matrix, str(file))


def pairs_of_matrix(names: list[str], matrix: NDArray[np.float64], origin: str) -> PairTable:
    """List all ordered pairs of different objects.

    Args:
        names: the names of the n objects.
        matrix: `(n, n)` distances, row to column.
        origin: where the matrix is from, for error messages.
    """
    ends = np.argwhere(~np.eye(len(matrix), dtype=bool))

    def where(row: int) -> str:
        source, target = ends[row]
        return f"{origin}, from {shown(names[source])} to {shown(names[target])}"

    return PairTable(names=names, ends=ends, distances=matrix[ends[:, 0], ends[:, 1]], where=where)


def _check(file: Path, names: Sequence[str], matrix: NDArray[np.float64], *, unreachable: bool) -> None:
    def refuse(spot: int, expected: str) -> InputError:
        i, j = divmod(spot, len(matrix))
        return InputError(
            f"{file}, from {shown(names[i])} to {shown(names[j])}: expected {expected}, got {float(matrix[i, j])!r}"
        )

    flat = matrix.ravel()
    bad = first_true(~(flat >= 0))
    if bad is not None:
        raise refuse(bad, "a number >= 0")
    huge = first_true(np.isfinite(flat) & (flat > LARGEST))
    if huge is not None:
        raise refuse(huge, f"a number up to {LARGEST:.2g}")
    endless = None if unreachable else first_true(np.isinf(flat))
    if endless is not None:
        raise refuse(endless, "a finite number (unreachable pairs need the discounted loss)")
    loop = first_true(matrix.diagonal() != 0)
    if loop is not None:
        raise refuse(loop * (len(matrix) + 1), "0 from an object to itself")
