"""Features of objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric._support.printable import shown
from trimetric.files.columns import LARGEST, first_true, read_table
from trimetric.files.errors import InputError


@dataclass(frozen=True, kw_only=True)
class FeatureTable:
    """The features of objects.

    Attributes:
        names: the ids of the objects.
        columns: the names of the features.
        values: `(objects, features)`.
    """

    names: list[str]
    columns: list[str]
    values: NDArray[np.float64]


def read_features(file: Path, *, id_column: str = "id", columns: Sequence[str] | None = None) -> FeatureTable:
    """Read features from a CSV, TSV, Parquet or NPZ file.

    Args:
        file: a column of distinct ids, and columns of finite numbers.  In an NPZ file, a matrix of n rows counts as
            columns.
        id_column: the name of the column of ids.
        columns: the columns to use; by default all others.

    Raises:
        InputError: if the file cannot be read, with the line that is wrong.
    """
    table = read_table(file, ids=[id_column], numbers=columns)
    if not table.numbers:
        raise InputError(f"{file}: expected columns of numbers beside {id_column!r}, got none")
    codes = table.codes[id_column]
    if len(table.names) < len(table):
        seen = np.zeros(len(table), dtype=bool)
        seen[np.unique(codes, return_index=True)[1]] = True
        again = int((~seen).argmax())
        before = int((codes == codes[again]).argmax())
        name = list(table.names)[codes[again]]
        raise InputError(
            f"{table.where(again)}: {id_column}: expected different ids, got {shown(name)} as in {table.where(before)}"
        )
    for name, values in table.numbers.items():
        bad = first_true(~(np.abs(values) <= LARGEST))
        if bad is not None:
            raise table.error(bad, name, f"a finite number up to {LARGEST:.2g}")
    order = list(table.names)
    return FeatureTable(
        names=[order[code] for code in codes],
        columns=list(table.numbers),
        values=np.stack(list(table.numbers.values()), axis=1),
    )
