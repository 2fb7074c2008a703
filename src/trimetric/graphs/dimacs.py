"""Graphs in the format of the ninth DIMACS challenge: `.gr` with weights, `.co` with coordinates."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.graph import Graph
from trimetric.printable import shown
from trimetric.tables.errors import InputError, existing

MILLIONTHS = 1e6


def read_dimacs(file: Path | str, *, symmetrise: bool = False, largest: bool = False) -> Graph:
    """A directed graph from a `.gr` file (or `.gr.gz`): `p sp NODES ARCS`, then `a FROM TO WEIGHT`, counted from 1.

    The names of the nodes are their numbers in the file.  Where a `.co` file of the same name lies beside it (lines
    `v NODE LONGITUDE LATITUDE`, in millionths of a degree) the nodes have coordinates.

    Args:
        file: the file.
        symmetrise: whether arcs go both ways.
        largest: whether to take the largest strongly connected component of several, which are an error otherwise.
    """
    file = existing(Path(file))
    header, arcs = _records(file, "a", 3)
    if len(header) != 4 or header[:2] != ["p", "sp"]:
        raise InputError(f"{file}: expected a line 'p sp NODES ARCS', got {shown(' '.join(header))}")
    nodes, count = _whole(file, header[2]), _whole(file, header[3])
    if count != len(arcs):
        raise InputError(f"{file}: expected {count:,} arcs as its line 'p sp' says, got {len(arcs):,}")
    ends = arcs[:, :2]
    bad = ((ends < 1) | (ends > nodes) | (ends % 1 != 0)).any(axis=1)
    if bad.any():
        i = int(bad.argmax())
        raise InputError(f"{file}: expected nodes from 1 to {nodes:,}, got the arc {arcs[i].tolist()}")
    places = next((_places(beside, nodes) for beside in _beside(file) if beside.exists()), None)
    tails, heads = (ends - 1).astype(np.int64).T
    names = np.arange(1, nodes + 1)
    try:
        graph = Graph.from_arcs(
            nodes, tails, heads, arcs[:, 2], directed=not symmetrise, coordinates=places, names=names
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
    return lines[lines[:, 0].argsort(), 1:] / MILLIONTHS


def _records(file: Path, kind: str, width: int) -> tuple[list[str], NDArray[np.float64]]:
    """The line `p`, and the numbers of all lines of a kind."""
    header: list[str] = []
    rows: list[str] = []
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt") as stream:
            for number, line in enumerate(stream, start=1):
                if line.startswith(kind + " "):
                    rows.append(line[2:])
                elif line.startswith("p"):
                    header = line.split()
                elif line.strip() and not line.startswith("c"):
                    raise InputError(
                        f"{file}, line {number}: expected a line that begins with c, p or {kind}, got {line[:40]!r}"
                    )
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise InputError(f"{file}: cannot be read as text ({error})") from None
    try:
        return header, np.array([row.split() for row in rows], np.float64).reshape(len(rows), width)
    except ValueError:
        wrong = next((row for row in rows if not _numbers(row, width)), "")
        raise InputError(f"{file}: expected {width} numbers after {kind!r}, got {wrong.strip()[:60]!r}") from None


def _numbers(row: str, width: int) -> bool:
    try:
        return len([float(cell) for cell in row.split()]) == width
    except ValueError:
        return False


def _whole(file: Path, text: str) -> int:
    if not text.isdigit():
        raise InputError(f"{file}: expected a whole number in its line 'p sp', got {shown(text)}")
    return int(text)
