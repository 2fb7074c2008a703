"""Columns of ids and of numbers, from any kind of table."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric.printable import shown
from trimetric.tables.errors import InputError, existing, unknown_suffix
from trimetric.tables.text import DELIMITERS, row_and_line, text_rows

LARGEST = float(np.finfo(np.float32).max)  # what a network can read
CHUNK = 1 << 10  # small: rows that stay in cache are transposed faster
ARRAYS = (".parquet", ".npz")


@dataclass
class Table:
    """Columns of a file.

    Attributes:
        names: the different ids of all id columns, in the order in which they came.
        codes: for each id column, the numbers of its ids in `names`.
        numbers: the columns of numbers; NaN and infinities are left for the caller to judge.
    """

    file: Path
    names: dict[str, int] = field(default_factory=dict)
    codes: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter({**self.codes, **self.numbers}.values())))

    def where(self, row: int) -> str:
        """The place of a row, for a message."""
        if self.file.suffix.lower() in DELIMITERS:
            return f"{self.file}, line {row_and_line(self.file, row)[0]}"
        return f"{self.file}, row {row + 1}"

    def error(self, row: int, column: str, expected: str) -> InputError:
        """What was expected in a column of numbers, and what came."""
        got = repr(float(self.numbers[column][row]))
        if self.file.suffix.lower() in DELIMITERS:
            header = [cell.strip() for cell in next(text_rows(self.file))]
            got = shown(row_and_line(self.file, row)[1][header.index(column)])
        return InputError(f"{self.where(row)}: {column}: expected {expected}, got {got}")


def first(mask: NDArray[np.bool_]) -> int | None:
    """Where the mask is first true."""
    return int(mask.argmax()) if mask.any() else None


def read_table(
    file: Path,
    *,
    ids: Sequence[str],
    numbers: Sequence[str] | None,
    optional: Sequence[str] = (),
    hint: str = "",
) -> Table:
    """Columns of a CSV, TSV, Parquet or NPZ file.

    Args:
        file: its suffix tells its kind.
        ids: the columns of ids.
        numbers: the columns of numbers; None for all that are no ids.
        optional: more columns of numbers, where they are there.
        hint: what to say after an error about a missing column.
    """
    suffix = file.suffix.lower()
    if suffix not in (*DELIMITERS, *ARRAYS):
        raise unknown_suffix(file, ".csv", ".tsv", *ARRAYS)
    table = Table(existing(file))
    if suffix in DELIMITERS:
        rows = text_rows(file)
        header = [cell.strip() for cell in next(rows, [])]
        if not header:
            raise InputError(f"{file}: expected a header and rows, got an empty file")
        chosen = _chosen(file, header, ids, numbers, optional, hint)
        _fill_from_text(table, rows, header, ids, chosen)
    else:
        arrays = _parquet(file) if suffix == ".parquet" else _npz(file)
        chosen = _chosen(file, list(arrays), ids, numbers, optional, hint)
        for name in ids:
            table.codes[name] = _codes_of_array(table, name, arrays[name]())
        for name in chosen:
            table.numbers[name] = _numbers_of_array(table, name, arrays[name]())
        if len({len(column) for column in (*table.codes.values(), *table.numbers.values())}) > 1:
            lengths = {name: len(column) for name, column in (*table.codes.items(), *table.numbers.items())}
            raise InputError(f"{file}: expected columns of one length, got {lengths}")
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
    """The columns of numbers to read."""
    if numbers is None:
        numbers = [name for name in header if name not in ids]
    for name in (*ids, *numbers):
        if name not in header:
            found = ", ".join(shown(cell, limit=40) for cell in header[:8]) + (", ..." if len(header) > 8 else "")
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
                values[name].append(floats(cells))
            except ValueError:
                row = next(i for i, cell in enumerate(cells) if not is_number(cell))
                where = table.where(done + row)
                raise InputError(f"{where}: {name}: expected a number, got {shown(cells[row])}") from None
        done += len(chunk)
    table.codes = {name: np.concatenate(parts) for name, parts in codes.items()}
    table.numbers = {name: np.concatenate(parts) for name, parts in values.items()}


def floats(cells: Sequence[str]) -> NDArray[np.float64]:
    """Numbers as people write them in tables: those of `float`, without its underscores."""
    if "_" in "".join(cells):
        raise ValueError("underscore")
    return np.fromiter(map(float, cells), np.float64, len(cells))


def is_number(cell: str) -> bool:
    try:
        floats([cell])
    except ValueError:
        return False
    return True


def _codes_of_array(table: Table, name: str, column: NDArray[Any]) -> NDArray[np.int64]:
    if column.ndim != 1 or column.dtype.kind not in "iuUTO":
        raise InputError(
            f"{table.file}: {name}: expected a column of whole numbers or text, got shape {column.shape} of "
            f"{column.dtype}"
        )
    if column.dtype.kind == "O":
        missing = first(np.array([not isinstance(cell, str) or not cell for cell in column], dtype=bool))
        if missing is not None:
            raise InputError(f"{table.where(missing)}: {name}: expected an id, got {shown(column[missing])}")
    different, inverse = np.unique(column, return_inverse=True)
    numbers = [table.names.setdefault(str(cell), len(table.names)) for cell in different.tolist()]
    return np.array(numbers, np.int64)[inverse]


def _numbers_of_array(table: Table, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise InputError(
            f"{table.file}: {name}: expected a column of numbers, got shape {column.shape} of {column.dtype}"
        )
    return column.astype(np.float64)


Columns = dict[str, Callable[[], NDArray[Any]]]


def _parquet(file: Path) -> Columns:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError(f"{file}: Parquet files need the extra: pip install 'trimetric[tables]'") from None
    try:
        content = parquet.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file}: cannot be read as Parquet ({_one_line(error)})") from None

    def column(name: str) -> NDArray[Any]:
        values = content.read(columns=[name]).column(name)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type) or values.null_count == 0:
            cells = values.to_numpy()
            return cells.astype(object) if cells.dtype.kind in "UT" else cells
        # Whole numbers with gaps come as floats otherwise, and ids such as 7.0.
        if pa.types.is_integer(values.type):
            row = values.is_null().to_numpy().argmax()
            raise InputError(f"{file}, row {row + 1}: {name}: expected a number, got nothing")
        return values.to_numpy()

    return {name: lambda name=name: column(name) for name in content.schema_arrow.names}


def _npz(file: Path) -> Columns:
    arrays = load_arrays(file)
    columns: Columns = {}
    for name, array in arrays.items():
        if array.ndim == 2:
            columns.update({f"{name}[{i}]": lambda c=array[:, i]: c for i in range(array.shape[1])})
        else:
            columns[name] = lambda array=array: array
    return columns


def load_arrays(file: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an NPY (named "") or NPZ file.  Nothing in it is executed."""
    try:
        content = np.load(existing(file), allow_pickle=False)
        if isinstance(content, np.ndarray):
            return {"": content}
        with content:
            return {name: content[name] for name in content.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{file}: cannot be read as arrays of NumPy ({_one_line(error)})") from None


def _one_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
