"""Rows of comma- or tab-separated text."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trimetric.tables.errors import InputError, existing

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def text_rows(file: Path) -> Iterator[list[str]]:
    """The rows that are not blank, the header among them."""
    with _reader(file) as reader:
        yield from filter(_is_filled, reader)


def numbered_rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """The same, each with the number of its (last) line."""
    with _reader(file) as reader:
        for row in reader:
            if _is_filled(row):
                yield reader.line_num, row


def _is_filled(row: list[str]) -> bool:
    return bool(row) and row != [""]


@contextmanager
def _reader(file: Path) -> Iterator[Any]:
    with existing(file).open(encoding="utf-8-sig", newline="") as stream:
        # strict: a quote that never closes would otherwise swallow the rest of the file.
        reader = csv.reader(stream, delimiter=DELIMITERS[file.suffix.lower()], skipinitialspace=True, strict=True)
        try:
            yield reader
        except UnicodeDecodeError:
            raise _not_utf8(file) from None
        except csv.Error as error:
            raise InputError(f"{file}, line {reader.line_num}: {error}") from None


def row_and_line(file: Path, number: int) -> tuple[int, list[str]]:
    """The line and the cells of a row below the header, counted from 0.  Reads the file again: for errors."""
    rows = numbered_rows(file)
    next(rows)
    for i, found in enumerate(rows):
        if i == number:
            return found
    raise IndexError(number)


def _not_utf8(file: Path) -> InputError:
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return InputError(f"{file}, line {number}: expected text encoded as UTF-8, got the byte 0x{byte:02x}")
    return InputError(f"{file}: expected text encoded as UTF-8")
