"""Graphs in the format of the ninth DIMACS challenge: `.gr` with weights, `.co` with coordinates."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric._support.memory import available_memory
from trimetric._support.printable import shown
from trimetric._support.renamed import old_keywords
from trimetric.files.arrays import one_line
from trimetric.files.columns import is_number, parse_floats
from trimetric.files.errors import InputError, check_exists
from trimetric.graphs.graph import Graph

MILLIONTHS = 1e6
LONGEST_LINE = 1000
LINES_AT_ONCE = 1 << 14
BYTES_PER_NODE, BYTES_PER_LINE = 64, 24  # of the arrays that they become


@old_keywords(symmetrise="symmetrize")
def read_dimacs(file: Path | str, *, symmetrize: bool = False, largest: bool = False) -> Graph:
    """Read a directed graph from a DIMACS `.gr` or `.gr.gz` file.

    The file has a line `p sp NODES ARCS`, then lines `a FROM TO WEIGHT` with nodes counted from 1.  The names of the
    nodes are their numbers in the file.  If the same folder has a `.co` file of the same name (lines
    `v NODE LONGITUDE LATITUDE`, in millionths of a degree), the nodes get coordinates.

    Args:
        file: the `.gr` file.
        symmetrize: whether every arc can be traversed in both directions.
        largest: whether to keep only the largest strongly connected component; without it, a graph of several
            components is an error.

    Raises:
        InputError: if the file cannot be read, with the line that is wrong.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "triangle.gr"
        ...     _ = file.write_text("p sp 3 3\\na 1 2 5\\na 2 3 1\\na 3 1 2\\n")
        ...     print(read_dimacs(file))
        3 nodes, 3 arcs
    """
    file = check_exists(Path(file))
    header, arcs = _records(file, "a", 3)
    if len(header) != 4 or header[:2] != ["p", "sp"]:
        raise InputError(f"{file}: expected a line 'p sp NODES ARCS', got {shown(' '.join(header))}")
    nodes, count = _whole(file, header[2]), _whole(file, header[3])
    if nodes * BYTES_PER_NODE > available_memory():
        raise InputError(f"{file}: expected a graph that fits in memory, got {nodes:,} nodes in its line 'p sp'")
    if count != len(arcs):
        raise InputError(f"{file}: expected {count:,} arcs as its line 'p sp' says, got {len(arcs):,}")
    ends = arcs[:, :2]
    bad = ~((ends >= 1) & (ends <= nodes) & (ends == np.floor(ends))).all(axis=1)
    if bad.any():
        i = int(bad.argmax())
        raise InputError(f"{file}: expected nodes from 1 to {nodes:,}, got the arc {arcs[i].tolist()}")
    bad = ~((arcs[:, 2] >= 0) & np.isfinite(arcs[:, 2]))
    if bad.any():
        line, text = _record(file, "a", int(bad.argmax()))
        raise InputError(f"{file}, line {line}: expected a finite weight >= 0, got {shown(text.split()[-1])}")
    places = next((_places(beside, nodes) for beside in _beside(file) if beside.exists()), None)
    tails, heads = (ends - 1).astype(np.int64).T
    names = np.arange(1, nodes + 1)
    try:
        graph = Graph.from_arcs(
            nodes, tails, heads, arcs[:, 2], directed=not symmetrize, coordinates=places, names=names
        )
        return graph.connected(largest=largest)
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None


def _beside(file: Path) -> list[Path]:
    stem = file.name.removesuffix(".gz").removesuffix(".gr")
    return [file.with_name(stem + ".co"), file.with_name(stem + ".co.gz")]


def _places(file: Path, nodes: int) -> NDArray[np.float64]:
    _, lines = _records(file, "v", 3)
    if len(lines) != nodes or set(lines[:, 0]) != set(range(1, nodes + 1)):
        raise InputError(f"{file}: expected a line 'v' for each of the {nodes:,} nodes, got {len(lines):,}")
    if not np.isfinite(lines).all():
        node = int(lines[~np.isfinite(lines).all(axis=1)][0, 0])
        raise InputError(f"{file}: expected finite coordinates, got others for node {node:,}")
    return lines[lines[:, 0].argsort(), 1:] / MILLIONTHS


def _records(file: Path, kind: str, width: int) -> tuple[list[str], NDArray[np.float64]]:
    """Read the line `p`, and the numbers of all lines of a kind."""
    header: list[str] = []
    rows: list[NDArray[np.float64]] = []
    for numbers, lines in _blocks(file):
        kept: list[str] = []
        places: list[int] = []
        for number, line in zip(numbers, lines, strict=True):
            if line.startswith(kind + " "):
                kept.append(line[2:])
                places.append(number)
            elif line.startswith("p"):
                header = line.split()
            elif line.strip() and not line.startswith("c"):
                got = shown(line, limit=40)
                raise InputError(f"{file}, line {number}: expected a line that begins with c, p or {kind}, got {got}")
        rows.append(_numbers(file, kind, width, places, kept))
    return header, np.concatenate(rows) if rows else np.empty((0, width))


def _record(file: Path, kind: str, wanted: int) -> tuple[int, str]:
    """Find the number and text of a line, counted from 0 among its kind.  Reads the file again: for error messages."""
    lines = (item for numbers, block in _blocks(file) for item in zip(numbers, block, strict=True))
    return next(islice((item for item in lines if item[1].startswith(kind + " ")), wanted, None))


def _numbers(file: Path, kind: str, width: int, places: list[int], lines: list[str]) -> NDArray[np.float64]:
    cells = [line.split() for line in lines]
    if all(len(row) == width for row in cells):
        try:
            return parse_floats([cell for row in cells for cell in row]).reshape(len(lines), width)
        except ValueError:
            pass  # the error below names the line
    i = next(i for i, row in enumerate(cells) if len(row) != width or not all(map(is_number, row)))
    got = shown(lines[i].strip(), limit=60)
    raise InputError(f"{file}, line {places[i]}: expected {width} numbers after {kind!r}, got {got}")


def _blocks(file: Path) -> Iterator[tuple[range, list[str]]]:
    """Read the lines in blocks with their numbers; a compressed file may hold far more than its size suggests."""
    done, room = 0, available_memory()
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt", encoding="utf-8") as stream:
            while lines := list(islice(iter(lambda: stream.readline(LONGEST_LINE), ""), LINES_AT_ONCE)):
                long = next((i for i, line in enumerate(lines) if len(line) == LONGEST_LINE), None)
                if long is not None:
                    raise InputError(
                        f"{file}, line {done + long + 1}: expected a short line, got {shown(lines[long], limit=40)}"
                    )
                if (done + len(lines)) * BYTES_PER_LINE > room:
                    raise InputError(f"{file}: expected a graph that fits in memory, got more than {done:,} lines")
                yield range(done + 1, done + len(lines) + 1), lines
                done += len(lines)
    except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file}: cannot be read as text ({one_line(error)})") from None


def _whole(file: Path, text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise InputError(f"{file}: expected a whole number in its line 'p sp', got {shown(text)}")
    return int(text)
