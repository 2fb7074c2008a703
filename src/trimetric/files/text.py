"""Rows of comma- or tab-separated text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trimetric._support.printable import printable
from trimetric.files.errors import InputError, check_exists

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
SEPARATORS = (",", ";", "\t", "|")


def find_separator(file: Path, *, wanted: Sequence[str] = ()) -> str:
    """Find the separator of a file's cells: the one its suffix suggests, unless its first row rules that out.

    Spreadsheets write `;` into `.csv` files where commas are decimal points.

    Args:
        file: a text file with a suffix of `DELIMITERS`.
        wanted: columns that the header must have.

    Returns:
        The usual separator where it finds the wanted columns, or where no other does better.
    """
    usual = DELIMITERS[file.suffix.lower()]
    header = _header(file, usual)
    if wanted and set(wanted) <= set(header):
        return usual
    others = {other: _header(file, other) for other in SEPARATORS if other != usual}
    for other, cells in others.items():
        if wanted and set(wanted) <= set(cells):
            return other
    splitting = [other for other, cells in others.items() if len(cells) > 1]
    return splitting[0] if len(header) == 1 and len(splitting) == 1 else usual


def _header(file: Path, separator: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(read_rows(file, separator), [])]
    except InputError as error:
        if isinstance(error.__cause__, csv.Error):  # quotes that make sense with another separator
            return []
        raise


def read_rows(file: Path, separator: str) -> Iterator[list[str]]:
    """Read the rows that are not blank, including the header.

    Args:
        file: the file.
        separator: between its cells.
    """
    with _reader(file, separator) as reader:
        yield from filter(_is_filled, reader)


def read_numbered_rows(file: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Read the rows that are not blank, each with the number of its (last) line.

    Args:
        file: the file.
        separator: between its cells.
    """
    with _reader(file, separator) as reader:
        for row in reader:
            if _is_filled(row):
                yield reader.line_num, row


def _is_filled(row: list[str]) -> bool:
    return bool(row) and row != [""]


@contextmanager
def _reader(file: Path, separator: str) -> Iterator[Any]:
    with check_exists(file).open(encoding="utf-8-sig", newline="") as stream:
        # strict: a quote that never closes would otherwise swallow the rest of the file.
        reader = csv.reader(stream, delimiter=separator, skipinitialspace=True, strict=True)
        try:
            yield reader
        except UnicodeDecodeError:
            raise _not_utf8(file) from None
        except csv.Error as error:
            raise InputError(f"{file}, line {reader.line_num}: {printable(str(error), limit=120)}") from error


def find_row(file: Path, number: int, separator: str) -> tuple[int, list[str]]:
    """Find the line and the cells of a row.  Reads the file again: for error messages.

    Args:
        file: the file.
        number: of the row below the header, counted from 0.
        separator: between the cells.
    """
    rows = read_numbered_rows(file, separator)
    next(rows)
    for i, found in enumerate(rows):
        if i == number:
            return found
    raise IndexError(number)


def number_hint(cell: str) -> str:
    """Explain why a cell that looks like a number is not one.

    Args:
        cell: the text.
    """
    if re.fullmatch(r"\s*[-+]?[\d.]*,\d+(?:[eE][-+]?\d+)?\s*", cell):
        return "; numbers need a point for decimals, as in 1.5, and nothing between thousands"
    if any(separator in cell for separator in SEPARATORS):
        return "; cells are separated by ',', ';', tabs or '|', by the same in all rows"
    return ""


def _not_utf8(file: Path) -> InputError:
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return InputError(f"{file}, line {number}: expected text encoded as UTF-8, got the byte 0x{byte:02x}")
    return InputError(f"{file}: expected text encoded as UTF-8")
