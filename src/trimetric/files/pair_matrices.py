"""Matrices as Parquet tables of pairs, one row for each entry."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric._support.optional import needing
from trimetric._support.printable import printable, shown
from trimetric.files.costs import Cost
from trimetric.files.errors import InputError

MOST = 1 << 26
"""entries of a matrix that is read at once: half a GiB"""


def read_pair_matrix(
    file: Path, *, cost: Cost | None = None, gaps: bool = False
) -> tuple[list[str], NDArray[np.float64]]:
    """Read a square matrix from a Parquet file with the columns from, to, and duration or distance.

    Args:
        file: a row for each ordered pair; the diagonal may be absent.
        cost: which column, where there are both; by default duration.
        gaps: whether pairs may be absent or null; they become NaN.

    Returns:
        The ids in the order in which they first appear in `from`, and the matrix.

    Raises:
        InputError: if the file is not such a table, or a pair is absent or repeated.
    """
    starts, ends, values, column = _columns(file, cost)
    ids = list(dict.fromkeys(starts))
    number = {name: i for i, name in enumerate(ids)}
    if not ids or len(ids) ** 2 > MOST:
        raise InputError(f"{file}: expected a matrix of 1 to {int(MOST**0.5):,} objects, got {len(ids):,}")
    unknown = next((name for name in ends if name not in number), None)
    if unknown is not None:
        raise InputError(f"{file}: to: expected names that also are in from, got {shown(unknown)}")
    rows, columns = np.array([number[name] for name in starts]), np.array([number[name] for name in ends])
    place = rows * len(ids) + columns
    if len(np.unique(place)) < len(place):
        again = int(np.flatnonzero(np.bincount(place) > 1)[0])
        pair = f"{shown(ids[again // len(ids)])} to {shown(ids[again % len(ids)])}"
        raise InputError(f"{file}: expected each pair once, got several from {pair}")
    matrix = np.full((len(ids), len(ids)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    matrix[rows, columns] = values
    absent = np.isnan(matrix)
    if absent.any() and not gaps:
        i, j = np.argwhere(absent)[0]
        raise InputError(f"{file}: expected a {column} from {shown(ids[i])} to {shown(ids[j])}, got none")
    return ids, matrix


def _columns(file: Path, cost: Cost | None) -> tuple[list[str], list[str], NDArray[np.float64], str]:
    with needing("a Parquet file", "tables"):
        import pyarrow as pa
        from pyarrow import parquet
    try:
        table = parquet.read_table(file)
        wanted = ("duration", "distance") if cost is None else (cost,)
        column = next((name for name in wanted if name in table.column_names), None)
        if column is None or not {"from", "to"} <= set(table.column_names):
            got = ", ".join(shown(name, limit=20) for name in table.column_names[:8]) or "none"
            raise InputError(f"{file}: expected the columns from, to and {' or '.join(wanted)}, got {got}")
        starts, ends = (table[name].cast(pa.string()).to_pylist() for name in ("from", "to"))
        values = table[column].cast(pa.float64()).to_numpy()
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: cannot be read as such a table ({printable(str(error), limit=120)})") from None
    if None in starts or None in ends:
        raise InputError(f"{file}: expected a name in from and to of each row, got null")
    return starts, ends, np.asarray(values, np.float64), column
