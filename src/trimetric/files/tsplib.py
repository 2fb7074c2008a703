"""Matrices of TSPLIB, the library of traveling salesman problems, and of VRPLIB, which has the same format."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric._support.printable import printable, shown
from trimetric.files.columns import is_number, parse_floats
from trimetric.files.errors import InputError

_TRIANGLES = {
    "UPPER_ROW": (True, 1),
    "LOWER_ROW": (False, -1),
    "UPPER_DIAG_ROW": (True, 0),
    "LOWER_DIAG_ROW": (False, 0),
}


TSPLIB_SUFFIXES = (".atsp", ".tsp", ".vrp")
FIRST_WORDS = ("NAME", "TYPE", "COMMENT", "DIMENSION")
# Other words that may come first, with a colon: without it they may be names of the columns of a matrix.
_OTHER_WORDS = (
    *("CAPACITY", "DISTANCE", "SERVICE_TIME", "VEHICLES", "SALESMEN", "DEPOTS", "TRUCKS", "COMMODITIES"),
    *("EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT", "EDGE_DATA_FORMAT", "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE"),
)
_BEGINNING = re.compile(rf"{'|'.join(FIRST_WORDS)}|(?:{'|'.join(_OTHER_WORDS)})[ \t]*:|[A-Z_]+_SECTION[ \t:]*[\r\n]")
_MATRIX = re.compile(r"(?m)^[ \t]*EDGE_WEIGHT_SECTION")  # a comment may name it too
_KEYWORD = re.compile(r"(?<!\S)[A-Z]")  # and not the E of 1E3


def is_tsplib(file: Path) -> bool:
    """Whether a file is read as an instance of TSPLIB or VRPLIB: by its suffix, or as a text that begins like one.

    Args:
        file: must exist, if it is a `.txt` file.
    """
    suffix = file.suffix.lower()
    if suffix != ".txt":
        return suffix in TSPLIB_SUFFIXES
    with file.open("rb") as stream:
        start = stream.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").decode("latin-1")
    return _BEGINNING.match(start) is not None


def with_other_matrix(file: Path, matrix: NDArray[np.int64]) -> str:
    """Write an instance with another matrix of the same size; all other sections stay as they are.

    Args:
        file: an instance with an explicit matrix, which `read_tsplib` has read.
        matrix: `(n, n)` whole numbers.

    Returns:
        The text of the new instance.
    """
    head, _, rest = _parts(file.read_text(encoding="utf-8-sig"))
    head = re.sub(r"(?m)^\s*EDGE_WEIGHT_FORMAT\s*:.*$", "EDGE_WEIGHT_FORMAT : FULL_MATRIX", head)
    rows = "\n".join(" ".join(map(str, row)) for row in matrix.tolist())
    return f"{head}EDGE_WEIGHT_SECTION\n{rows}\n{rest or 'EOF'}".rstrip() + "\n"


def _parts(text: str) -> tuple[str, str | None, str]:
    """Split an instance into what is before its matrix, the numbers (None without a matrix), and what follows."""
    found = _MATRIX.search(text)
    if found is None:
        return text, None, ""
    follows = _KEYWORD.search(text, found.end())
    end = len(text) if follows is None else follows.start()
    return text[: found.start()], text[found.end() : end], text[end:]


def read_tsplib(file: Path) -> NDArray[np.float64]:
    """Read the explicit matrix of an instance.  Its diagonal, which is not a distance there, becomes 0.

    Args:
        file: a `.tsp`, `.atsp` or `.vrp` file.
    """
    try:
        head, body, _ = _parts(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{file}: expected text encoded as UTF-8") from None
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())}
    kind = fields.get("EDGE_WEIGHT_TYPE")
    if body is None or kind != "EXPLICIT":
        got = "none" if kind is None else f"{printable(kind, limit=80)}{' without one' if body is None else ''}"
        raise InputError(f"{file}: expected EDGE_WEIGHT_TYPE EXPLICIT with a matrix, got {got}")
    size = fields.get("DIMENSION", "nothing")
    if not size.isdecimal() or len(size) > 12 or int(size) < 1:
        raise InputError(f"{file}: DIMENSION: expected a number of nodes, got {printable(size, limit=80)}")
    n = int(size)
    form = fields.get("EDGE_WEIGHT_FORMAT", "FULL_MATRIX")
    if form not in ("FULL_MATRIX", *_TRIANGLES):
        known = ", ".join(("FULL_MATRIX", *_TRIANGLES))
        raise InputError(f"{file}: EDGE_WEIGHT_FORMAT: expected one of {known}, got {printable(form, limit=80)}")
    cells = body.split()
    # Counted before memory is allocated for them.
    upper, offset = _TRIANGLES.get(form, (True, 0))
    expected = n * n if form == "FULL_MATRIX" else n * (n + 1 - 2 * abs(offset)) // 2
    if len(cells) != expected:
        raise InputError(f"{file}: expected {expected} numbers for {n} nodes, got {len(cells)}")
    try:
        numbers = parse_floats(cells)
    except ValueError:
        cell = next(cell for cell in cells if not is_number(cell))
        raise InputError(f"{file}: EDGE_WEIGHT_SECTION: expected a number, got {shown(cell)}") from None
    if form == "FULL_MATRIX":
        matrix = numbers.reshape(n, n)
    else:
        matrix = np.zeros((n, n))
        matrix[np.triu_indices(n, offset) if upper else np.tril_indices(n, offset)] = numbers
        np.fill_diagonal(matrix, 0.0)
        matrix = matrix + matrix.T  # one of the two is 0; their maximum would hide what is negative
    np.fill_diagonal(matrix, 0.0)
    return matrix
