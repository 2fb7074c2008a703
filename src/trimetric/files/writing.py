"""Writing tables to files, completely or not at all, and to the screen."""

from __future__ import annotations

import csv
import sys
from collections.abc import Collection, Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from trimetric._support.atomic import replacing
from trimetric._support.optional import needing
from trimetric._support.printable import printable
from trimetric.files.text import DELIMITERS


def write_rows(
    file: Path | None,
    header: Sequence[str],
    blocks: Iterable[Iterable[Sequence[object]]],
    *,
    numbers: Collection[str] = (),
) -> int:
    """Write a table block by block.

    A file or a pipe gets the cells as they are; on a terminal, control characters in them are escaped.

    Args:
        file: a CSV, TSV or Parquet file; None for standard output.
        header: the names of the columns.
        blocks: blocks of rows.
        numbers: the columns that hold numbers, which a Parquet file keeps as such; others hold text.

    Returns:
        The number of rows.
    """
    if file is None:
        if sys.stdout.isatty():
            blocks = ([[printable(str(cell)) for cell in row] for row in block] for block in blocks)
        return _write(sys.stdout, ",", header, blocks)
    if file.suffix.lower() == ".parquet":
        return _write_parquet(file, header, blocks, numbers)
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


def _write_parquet(
    file: Path, header: Sequence[str], blocks: Iterable[Iterable[Sequence[object]]], numbers: Collection[str]
) -> int:
    with needing("a Parquet file", "tables"):
        import pyarrow as pa
        from pyarrow import parquet
    schema = pa.schema([(name, pa.float64() if name in numbers else pa.string()) for name in header])
    count = 0
    with replacing(file) as stream, parquet.ParquetWriter(stream, schema) as writer:
        for block in blocks:
            rows = list(block)
            columns = [[row[i] for row in rows] for i in range(len(header))]
            cells = [
                [float(cell) for cell in column] if name in numbers else [str(cell) for cell in column]  # type: ignore[arg-type]
                for name, column in zip(header, columns, strict=True)
            ]
            if rows:
                writer.write_table(pa.table([pa.array(c, t.type) for c, t in zip(cells, schema, strict=True)], schema))
            count += len(rows)
    return count
