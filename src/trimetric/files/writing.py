"""Writing tables to files, completely or not at all, and to the screen."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from trimetric._support.atomic import replacing
from trimetric._support.printable import printable
from trimetric.files.text import DELIMITERS


def write_rows(file: Path | None, header: Sequence[str], blocks: Iterable[Iterable[Sequence[object]]]) -> int:
    """Write a table block by block.

    A file or a pipe gets the cells as they are; on a terminal, control characters in them are escaped.

    Args:
        file: a CSV or TSV file; None for standard output.
        header: the names of the columns.
        blocks: blocks of rows.

    Returns:
        The number of rows.
    """
    if file is None:
        if sys.stdout.isatty():
            blocks = ([[printable(str(cell)) for cell in row] for row in block] for block in blocks)
        return _write(sys.stdout, ",", header, blocks)
    with replacing(file) as stream:
        text = TextIOWrapper(stream, encoding="utf-8", newline="")
        try:
            return _write(text, DELIMITERS[file.suffix.lower()], header, blocks)
        finally:
            text.detach()


def _write(stream: TextIO, delimiter: str, header: Sequence[str], blocks: Iterable[Iterable[Sequence[object]]]) -> int:
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    count = 0
    for block in blocks:
        rows = list(block)
        writer.writerows(rows)
        count += len(rows)
    return count
