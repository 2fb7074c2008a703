"""Columns of ids and of numbers, from tables of any format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric._support.memory import as_gib, available_memory
from trimetric._support.optional import missing
from trimetric._support.printable import printable, shown
from trimetric.files.arrays import one_line, stored_arrays
from trimetric.files.errors import InputError, check_exists, unknown_suffix
from trimetric.files.text import DELIMITERS, find_row, find_separator, number_hint, read_rows

LARGEST = float(np.finfo(np.float32).max)  # networks compute in float32
CHUNK = 1 << 10  # small, as rows that stay in cache are transposed faster
ARRAYS = (".parquet", ".npz")
MOST_COLUMNS = 100_000  # of a matrix in an archive


@dataclass
class Table:
    """Columns of a file.

    Attributes:
        file: the file.
        separator: between the cells of a text file; None for other formats.
        names: the distinct ids of all id columns, in order of appearance, with their indices.
        codes: for each id column, the indices of its ids in `names`.
        numbers: the columns of numbers; NaN and infinities are left for the caller to judge.
    """

    file: Path
    separator: str | None = None
    names: dict[str, int] = field(default_factory=dict)
    codes: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter({**self.codes, **self.numbers}.values())))

    def where(self, row: int) -> str:
        """The place of a row in the file, for an error message.

        Args:
            row: counted from 0.
        """
        if self.separator is not None:
            return f"{self.file}, line {find_row(self.file, row, self.separator)[0]}"
        return f"{self.file}, row {row + 1}"

    def error(self, row: int, column: str, expected: str) -> InputError:
        """Make the error about a number.

        Args:
            row: counted from 0.
            column: the column of numbers.
            expected: what was expected there.
        """
        got = repr(float(self.numbers[column][row]))
        if self.separator is not None:
            header = [cell.strip() for cell in next(read_rows(self.file, self.separator))]
            got = shown(find_row(self.file, row, self.separator)[1][header.index(column)])
        return InputError(f"{self.where(row)}: {printable(column, limit=80)}: expected {expected}, got {got}")


def first_true(mask: NDArray[np.bool_]) -> int | None:
    """Find the index of the first true entry; None if there is none.

    Args:
        mask: `(n,)` booleans.
    """
    return int(mask.argmax()) if mask.any() else None


def read_table(
    file: Path,
    *,
    ids: Sequence[str],
    numbers: Sequence[str] | None,
    optional: Sequence[str] = (),
    hint: str = "",
) -> Table:
    """Read columns of a CSV, TSV, Parquet or NPZ file.

    Args:
        file: its suffix tells its format.
        ids: the columns of ids.
        numbers: the columns of numbers; None for all columns that are not ids.
        optional: further columns of numbers, which may be missing.
        hint: text to add to an error about a missing column.

    Raises:
        InputError: if the file cannot be read, with the line that is wrong.
    """
    suffix = file.suffix.lower()
    if suffix not in (*DELIMITERS, *ARRAYS):
        raise unknown_suffix(file, ".csv", ".tsv", *ARRAYS)
    table = Table(check_exists(file))
    if suffix in DELIMITERS:
        table.separator = find_separator(file, wanted=[*ids, *(numbers or ())])
        rows = read_rows(file, table.separator)
        header = [cell.strip() for cell in next(rows, [])]
        if not header:
            raise InputError(f"{file}: expected a header and rows, got an empty file")
        chosen = _chosen(file, header, ids, numbers, optional, hint)
        _fill_from_text(table, rows, header, ids, chosen)
    else:
        names, arrays = _parquet(file) if suffix == ".parquet" else _npz(file)
        chosen = _chosen(file, names, ids, numbers, optional, hint)
        _number_ids(table, {name: arrays[name]() for name in ids})
        for name in chosen:
            table.numbers[name] = _numbers_of_array(table, name, arrays[name]())
        if len({len(column) for column in (*table.codes.values(), *table.numbers.values())}) > 1:
            lengths = {name: len(column) for name, column in (*table.codes.items(), *table.numbers.items())}
            raise InputError(f"{file}: expected columns of one length, got {shown(lengths)}")
    if len(table) == 0:
        raise InputError(f"{file}: expected at least one row, got none")
    return table


def _chosen(
    file: Path,
    header: list[str],
    ids: Sequence[str],
    numbers: Sequence[str] | None,
    optional: Sequence[str],
    hint: str,
) -> list[str]:
    """Choose the columns of numbers to read."""
    if numbers is None:
        numbers = [name for name in header if name not in ids]
    for name in (*ids, *numbers):
        if name not in header:
            found = ", ".join(shown(cell, limit=30) for cell in header[:8]) + (", ..." if len(header) > 8 else "")
            raise InputError(f"{file}: expected a column {name!r}, got the columns {found}{hint}")
    chosen = [*numbers, *(name for name in optional if name in header and name not in numbers)]
    for name in (*ids, *chosen):
        if header.count(name) > 1:
            raise InputError(f"{file}: expected one column {name!r}, got {header.count(name)}")
    return chosen


def _fill_from_text(
    table: Table, rows: Iterator[list[str]], header: list[str], ids: Sequence[str], numbers: Sequence[str]
) -> None:
    codes: dict[str, list[NDArray[np.int64]]] = {name: [np.empty(0, np.int64)] for name in ids}
    values: dict[str, list[NDArray[np.float64]]] = {name: [np.empty(0)] for name in numbers}
    names, done = table.names, 0
    while chunk := list(islice(rows, CHUNK)):
        try:
            columns = list(zip(*chunk, strict=True))
        except ValueError:
            columns = []
        if len(columns) != len(header):
            row = next(i for i, cells in enumerate(chunk) if len(cells) != len(header))
            raise InputError(
                f"{table.where(done + row)}: expected {len(header)} columns as in the header, got {len(chunk[row])}"
            )
        for name in ids:
            cells = list(map(str.strip, columns[header.index(name)]))
            for cell in dict.fromkeys(cells):
                names.setdefault(cell, len(names))
            if "" in names:
                raise InputError(f"{table.where(done + cells.index(''))}: {name}: expected an id, got nothing")
            codes[name].append(np.fromiter(map(names.__getitem__, cells), np.int64, len(cells)))
        for name in numbers:
            cells = columns[header.index(name)]
            try:
                values[name].append(parse_floats(cells))
            except ValueError:
                row = next(i for i, cell in enumerate(cells) if not is_number(cell))
                where, cell = f"{table.where(done + row)}: {printable(name, limit=80)}", cells[row]
                raise InputError(f"{where}: expected a number, got {shown(cell)}{number_hint(cell)}") from None
        done += len(chunk)
    table.codes = {name: np.concatenate(parts) for name, parts in codes.items()}
    table.numbers = {name: np.concatenate(parts) for name, parts in values.items()}


def parse_floats(cells: Sequence[str]) -> NDArray[np.float64]:
    """Parse numbers as `float` does, but without underscores between digits.

    Args:
        cells: the texts.
    """
    if "_" in "".join(cells):
        raise ValueError("underscore")
    return np.fromiter(map(float, cells), np.float64, len(cells))


def is_number(cell: str) -> bool:
    """Whether `parse_floats` accepts a text."""
    try:
        parse_floats([cell])
    except ValueError:
        return False
    return True


def _number_ids(table: Table, columns: Mapping[str, NDArray[Any]]) -> None:
    """Number the ids of the columns in the order in which `_fill_from_text` meets them."""
    found = {name: _distinct_ids(table, name, column) for name, column in columns.items()}
    appearances = [
        (int(first) // CHUNK, place, int(first), str(cell))
        for place, (different, firsts, _) in enumerate(found.values())
        for cell, first in zip(different.tolist(), firsts, strict=True)
    ]
    for *_, cell in sorted(appearances):
        table.names.setdefault(cell, len(table.names))
    for name, (different, _, inverse) in found.items():
        numbers = [table.names[str(cell)] for cell in different.tolist()]
        table.codes[name] = np.array(numbers, np.int64)[inverse]


def _distinct_ids(
    table: Table, name: str, column: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """The different ids of a column, the row where each is first, and the number of that of every row."""
    _check_kind(table, name, column, "iuUTO", "whole numbers or text")
    if column.dtype.kind == "O":
        missing = first_true(np.array([not isinstance(cell, str) or not cell for cell in column], dtype=bool))
        if missing is not None:
            raise InputError(f"{table.where(missing)}: {name}: expected an id, got {shown(column[missing])}")
    different, first, inverse = np.unique(column, return_index=True, return_inverse=True)
    if column.dtype.kind == "U" and len(different) and not different[0]:
        raise InputError(f"{table.where(int((column == '').argmax()))}: {name}: expected an id, got nothing")
    return different, first, inverse


def _numbers_of_array(table: Table, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    _check_kind(table, name, column, "iuf", "numbers")
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # numbers beyond float64 become infinite, and are refused as such
        return column.astype(np.float64)


def _check_kind(table: Table, name: str, column: NDArray[Any], kinds: str, expected: str) -> None:
    if column.ndim != 1 or column.dtype.kind not in kinds:
        place = f"{table.file}: {printable(name, limit=80)}"
        got = f"shape {column.shape} of {column.dtype}"
        raise InputError(f"{place}: expected a column of {expected}, got {got}")


Columns = tuple[list[str], dict[str, Callable[[], NDArray[Any]]]]
"""The names of the columns in order, and a function that reads each of them."""


def _parquet(file: Path) -> Columns:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(missing(f"{file}: a Parquet file", error.name, "tables")) from None
    # KeyError: a name that the schema has and the columns do not.
    damaged = (pa.ArrowException, OSError, KeyError, ValueError, OverflowError)
    try:
        content = parquet.ParquetFile(file)
        names, rows = content.schema_arrow.names, content.metadata.num_rows
    except damaged as error:
        raise InputError(f"{file}: cannot be read as Parquet ({one_line(error)})") from None
    if 8 * rows > available_memory():  # a few bytes can stand for any number of equal rows
        raise InputError(f"{file}: expected columns that fit in memory, got {rows:,} rows, {as_gib(8 * rows)} each")

    def column(name: str) -> NDArray[Any]:
        place = f"{file}: {printable(name, limit=80)}"
        try:
            values = content.read(columns=[name]).column(name)
            if pa.types.is_dictionary(values.type):
                values = values.cast(values.type.value_type)
            text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
            # Whole numbers with gaps come as floats otherwise, and ids such as 7.0.
            if values.null_count and pa.types.is_integer(values.type):
                row = values.is_null().to_numpy().argmax()
                raise InputError(f"{file}, row {row + 1}: {printable(name, limit=80)}: expected a number, got nothing")
            cells = values.to_numpy()
        except InputError:
            raise
        except damaged as error:
            raise InputError(f"{place}: cannot be read ({one_line(error)})") from None
        if len(cells) != rows:
            raise InputError(f"{place}: expected {rows:,} rows, got {len(cells):,}")
        return cells.astype(object) if text and cells.dtype.kind in "UT" else cells

    return names, {name: lambda name=name: column(name) for name in names}


def _npz(file: Path) -> Columns:
    columns: dict[str, Callable[[], NDArray[Any]]] = {}
    for name, array in stored_arrays(file).items():
        if array.ndim == 2 and array.shape[1] <= MOST_COLUMNS:
            matrix = cache(array.read)
            columns.update({f"{name}[{i}]": lambda i=i, m=matrix: m()[:, i] for i in range(array.shape[1])})
        else:
            columns[name] = array.read
    return list(columns), columns
