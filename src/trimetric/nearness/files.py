"""Distance matrices in files: CSV, NumPy and TSPLIB."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

READERS = (".csv", ".txt", ".tsv", ".npy", ".npz", ".atsp", ".tsp")


def read_matrix(path: Path | str) -> np.ndarray:
    """The matrix in a file, by its ending.

    - `.csv`, `.tsv`, `.txt`: numbers between commas, tabs, semicolons or blanks; empty cells and "nan" are NaN; a
      first row of names is skipped, and with it a first column of names;
    - `.npy`; `.npz` with one array, or with one named `D`;
    - `.atsp`, `.tsp`: TSPLIB with an explicit matrix; its diagonal, which is no distance there, becomes 0.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in READERS:
        raise ValueError(f"file: expected one of {', '.join(READERS)}, got {path.name!r}")
    if not path.is_file():
        raise FileNotFoundError(f"file: expected a distance matrix at {path}, found no such file")
    if kind == ".npy":
        return np.load(path, allow_pickle=False)
    if kind == ".npz":
        return _read_npz(path)
    return _read_tsplib(path) if kind in (".atsp", ".tsp") else _read_text(path)


def write_matrix(path: Path | str, matrix: np.ndarray) -> None:
    """To `.npy`, `.npz` (as `D`) or text with all digits, by the ending."""
    path = Path(path)
    if path.suffix.lower() == ".npy":
        np.save(path, matrix, allow_pickle=False)
    elif path.suffix.lower() == ".npz":
        np.savez_compressed(path, D=matrix)
    elif path.suffix.lower() in (".csv", ".tsv", ".txt"):
        separator = {".csv": ",", ".tsv": "\t", ".txt": " "}[path.suffix.lower()]
        np.savetxt(path, matrix, delimiter=separator, fmt="%.17g")
    else:
        raise ValueError(f"file: expected one of .npy, .npz, .csv, .tsv, .txt, got {path.name!r}")


def _read_npz(path: Path) -> np.ndarray:
    with np.load(path, allow_pickle=False) as arrays:
        if "D" in arrays.files:
            return arrays["D"]
        if len(arrays.files) != 1:
            raise ValueError(
                f"{path.name}: expected one array, or one named D, got {', '.join(arrays.files) or 'none'}"
            )
        return arrays[arrays.files[0]]


def _read_text(path: Path) -> np.ndarray:
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise ValueError(f"{path.name}: expected a matrix, got an empty file")
    separator = next((mark for mark in (",", "\t", ";") if any(mark in line for line in lines)), None)
    cells = [[cell.strip() for cell in line.split(separator)] for line in lines]
    if len(cells) > 1 and any(_number(cell) is None for cell in cells[0][1:]):  # names of columns
        cells = cells[1:]
        if all(_number(row[0]) is None or len(row) == len(cells) + 1 for row in cells):  # and of rows
            cells = [row[1:] for row in cells]
    widths = {len(row) for row in cells}
    if len(widths) != 1:
        raise ValueError(f"{path.name}: expected rows of one length, got {min(widths)} to {max(widths)} cells")
    matrix = np.empty((len(cells), widths.pop()))
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            value = _number(cell)
            if value is None:
                raise ValueError(f"{path.name}: expected a number in row {i + 1}, column {j + 1}, got {cell!r}")
            matrix[i, j] = value
    return matrix


def _number(cell: str) -> float | None:
    try:
        return float(cell) if cell else float("nan")
    except ValueError:
        return None


_TRIANGLES = {
    "UPPER_ROW": (True, 1),
    "LOWER_ROW": (False, -1),
    "UPPER_DIAG_ROW": (True, 0),
    "LOWER_DIAG_ROW": (False, 0),
}


def _read_tsplib(path: Path) -> np.ndarray:
    head, found, body = path.read_text().partition("EDGE_WEIGHT_SECTION")
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())}
    if not found or fields.get("EDGE_WEIGHT_TYPE") != "EXPLICIT":
        kind = fields.get("EDGE_WEIGHT_TYPE", "none")
        raise ValueError(f"{path.name}: expected EDGE_WEIGHT_TYPE EXPLICIT with a matrix, got {kind}")
    n = int(fields["DIMENSION"])
    form = fields.get("EDGE_WEIGHT_FORMAT", "FULL_MATRIX")
    numbers = np.array(re.split(r"[A-Z]", body, maxsplit=1)[0].split(), dtype=np.float64)
    matrix = np.zeros((n, n))
    if form == "FULL_MATRIX":
        expected, places = n * n, np.indices((n, n)).reshape(2, -1)
    elif form in _TRIANGLES:
        upper, offset = _TRIANGLES[form]
        places = np.stack(np.triu_indices(n, offset) if upper else np.tril_indices(n, offset))
        expected = places.shape[1]
    else:
        raise ValueError(f"{path.name}: expected FULL_MATRIX, {', '.join(_TRIANGLES)}, got {form}")
    if len(numbers) != expected:
        raise ValueError(f"{path.name}: expected {expected} numbers for {n} nodes, got {len(numbers)}")
    matrix[places[0], places[1]] = numbers
    if form in _TRIANGLES:
        matrix = np.maximum(matrix, matrix.T)
    np.fill_diagonal(matrix, 0.0)
    return matrix
