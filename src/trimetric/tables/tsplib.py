"""Matrices of the travelling salesman library TSPLIB."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric.printable import SHOWN, printable
from trimetric.tables.errors import InputError

_TRIANGLES = {
    "UPPER_ROW": (True, 1),
    "LOWER_ROW": (False, -1),
    "UPPER_DIAG_ROW": (True, 0),
    "LOWER_DIAG_ROW": (False, 0),
}


def read_tsplib(file: Path) -> NDArray[np.float64]:
    """The explicit matrix of an instance.  Its diagonal, which is no distance there, becomes 0."""
    try:
        head, found, body = file.read_text(encoding="utf-8").partition("EDGE_WEIGHT_SECTION")
    except UnicodeDecodeError:
        raise InputError(f"{file}: expected text encoded as UTF-8") from None
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())}
    if not found or fields.get("EDGE_WEIGHT_TYPE") != "EXPLICIT":
        kind = printable(fields.get("EDGE_WEIGHT_TYPE", "none"), limit=SHOWN)
        raise InputError(f"{file}: expected EDGE_WEIGHT_TYPE EXPLICIT with a matrix, got {kind}")
    size = fields.get("DIMENSION", "nothing")
    if not size.isdecimal() or int(size) < 1:
        raise InputError(f"{file}: DIMENSION: expected a number of nodes, got {printable(size, limit=SHOWN)}")
    n = int(size)
    form = fields.get("EDGE_WEIGHT_FORMAT", "FULL_MATRIX")
    try:
        numbers = np.array(re.split(r"[A-Z]", body, maxsplit=1)[0].split(), dtype=np.float64)
    except ValueError as error:
        raise InputError(
            f"{file}: EDGE_WEIGHT_SECTION: expected numbers ({printable(str(error), limit=200)})"
        ) from None
    matrix = np.zeros((n, n))
    if form == "FULL_MATRIX":
        places = np.indices((n, n)).reshape(2, -1)
    elif form in _TRIANGLES:
        upper, offset = _TRIANGLES[form]
        places = np.stack(np.triu_indices(n, offset) if upper else np.tril_indices(n, offset))
    else:
        raise InputError(f"{file}: expected FULL_MATRIX, {', '.join(_TRIANGLES)}, got {printable(form, limit=SHOWN)}")
    if len(numbers) != places.shape[1]:
        raise InputError(f"{file}: expected {places.shape[1]} numbers for {n} nodes, got {len(numbers)}")
    matrix[places[0], places[1]] = numbers
    if form in _TRIANGLES:
        matrix = np.maximum(matrix, matrix.T)
    np.fill_diagonal(matrix, 0.0)
    return matrix
