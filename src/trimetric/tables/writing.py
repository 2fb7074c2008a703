"""Files that are written wholly or not at all."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from trimetric.tables.text import DELIMITERS


@contextmanager
def replacing(file: Path) -> Iterator[TextIO]:
    """A stream whose content replaces the file at the end; after an error the file is as it was."""
    fresh = file.with_name(file.name + ".writing")
    try:
        with fresh.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def write_rows(file: Path | None, header: Sequence[str], blocks: Iterable[Iterable[Sequence[object]]]) -> int:
    """Write a table block by block, to standard output without a file; the number of rows."""
    if file is None:
        return _write(sys.stdout, ",", header, blocks)
    with replacing(file) as stream:
        return _write(stream, DELIMITERS[file.suffix.lower()], header, blocks)


def _write(stream: TextIO, delimiter: str, header: Sequence[str], blocks: Iterable[Iterable[Sequence[object]]]) -> int:
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    count = 0
    for block in blocks:
        rows = list(block)
        writer.writerows(rows)
        count += len(rows)
    return count
