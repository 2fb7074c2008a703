"""Square matrices in files: text, NumPy and TSPLIB.  `matrix_pairs.py` reads them as pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric._support.atomic import replacing
from trimetric._support.printable import shown
from trimetric.files.arrays import stored_arrays
from trimetric.files.columns import is_number, parse_floats
from trimetric.files.costs import Cost
from trimetric.files.errors import InputError, check_exists, unknown_suffix
from trimetric.files.pair_matrices import read_pair_matrix
from trimetric.files.solver_json import read_json_matrix
from trimetric.files.suffixes import MATRIX_SUFFIXES
from trimetric.files.text import DELIMITERS, find_separator, number_hint, read_numbered_rows
from trimetric.files.tsplib import TSPLIB_SUFFIXES, is_tsplib, read_tsplib

IDS = "ids"
MATRIX = "D"
WRITTEN = {".csv": ",", ".tsv": "\t", ".txt": " ", ".npy": "", ".npz": ""}


@dataclass(frozen=True)
class SquareMatrix:
    """A square matrix of numbers, and the names of its objects where the file has them.

    Attributes:
        values: `(n, n)` numbers.
        names: the names of the n objects; None if the file has none.
        place: tells the place in the file of a row and column, counted from 0.
    """

    values: NDArray[np.float64]
    names: list[str] | None
    place: Callable[[int, int], str]


def read_square_matrix(file: Path, *, gaps: bool = False, cost: Cost | None = None) -> SquareMatrix:
    """Read a square matrix, in the format determined by the suffix.

    - `.csv`, `.tsv`, `.txt` (numbers separated by blanks): with or without a header of names; with one, the first
      column may repeat them.
    - `.npy`; `.npz` with one matrix, or one named `D`, and optionally the names of its objects as `ids`.
    - `.atsp`, `.tsp`, `.vrp`: TSPLIB and VRPLIB with an explicit matrix; its diagonal, which is not a distance there,
      becomes 0.  A `.txt` file that begins like one is read in the same way.
    - `.json`: a response of OSRM's table service, a VROOM instance, or matrices as OR-Tools takes them; see
      `trimetric.files.solver_json`.
    - `.parquet`: a table of pairs with the columns from, to and a cost.

    Args:
        file: with one of these suffixes.
        gaps: whether cells may be empty; they become NaN.
        cost: which matrix to read of a JSON or Parquet file that has both durations and distances; by default the
            durations.

    Raises:
        InputError: if the file cannot be read, with the line that is wrong.
    """
    suffix = file.suffix.lower()
    names: list[str] | None = None
    place = _row_and_column
    if suffix in (".txt", *TSPLIB_SUFFIXES) and is_tsplib(check_exists(file)):
        values = read_tsplib(file)
    elif suffix == ".json":
        names, values = read_json_matrix(check_exists(file), cost=cost, gaps=gaps)
    elif suffix == ".parquet":
        names, values = read_pair_matrix(check_exists(file), cost=cost, gaps=gaps)
    elif suffix in DELIMITERS or suffix == ".txt":
        names, values, place = _from_text(file, gaps=gaps)
    elif suffix in (".npy", ".npz"):
        names, values = _from_arrays(file)
    else:
        raise unknown_suffix(file, *MATRIX_SUFFIXES)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or values.dtype.kind not in "iuf":
        raise InputError(f"{file}: expected a square matrix of numbers, got shape {values.shape} of {values.dtype}")
    if names is not None and "" in names:
        raise InputError(f"{file}: expected a name for each column, got none for column {names.index('') + 1}")
    if names is not None and (len(names) != len(values) or len(set(names)) < len(names)):
        raise InputError(f"{file}: expected {len(values)} different names, got {len(set(names))} of {len(names)}")
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # those beyond float64 become infinite, which is for the caller to judge
        return SquareMatrix(values.astype(np.float64), names, place)


def read_matrix(file: Path | str) -> NDArray[np.float64]:
    """Read the numbers of a square matrix; empty cells become NaN.

    Args:
        file: a `.csv`, `.tsv`, `.txt`, `.npy`, `.npz`, `.parquet`, `.json`, `.atsp`, `.tsp` or `.vrp` file, see
            `read_square_matrix`.

    Raises:
        InputError: if the file cannot be read, with the line that is wrong.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_matrix(Path(folder) / "matrix.csv", np.array([[0.0, 1.0], [2.0, 0.0]]))
        ...     print(read_matrix(Path(folder) / "matrix.csv"))
        [[0. 1.]
         [2. 0.]]
    """
    return read_square_matrix(Path(file), gaps=True).values


def holds_matrix(file: Path) -> bool:
    """Whether a file can only be a matrix: every NPY file, and an NPZ file with one matrix (and ids).

    Args:
        file: need not exist.
    """
    suffix = file.suffix.lower()
    if suffix != ".npz" or not file.is_file():
        return suffix == ".npy"
    arrays = stored_arrays(file)
    return [array.ndim for name, array in arrays.items() if name != IDS] == [2]


def write_matrix(file: Path | str, matrix: NDArray[Any]) -> None:
    """Write a matrix.  The file is replaced completely or not at all.

    Args:
        file: a `.npy` or `.npz` file (where the matrix is named `D`), or a `.csv`, `.tsv` or `.txt` file with all
            digits.
        matrix: the matrix.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_matrix(Path(folder) / "matrix.csv", np.array([[0, 1], [2, 0]]))
        ...     (Path(folder) / "matrix.csv").read_text()
        '0,1\\n2,0\\n'
    """
    file = Path(file)
    suffix = file.suffix.lower()
    if suffix not in WRITTEN:
        raise unknown_suffix(file, *WRITTEN)
    with replacing(file) as stream:
        if suffix == ".npy":
            np.save(stream, matrix, allow_pickle=False)
        elif suffix == ".npz":
            np.savez_compressed(stream, D=matrix)
        else:
            np.savetxt(stream, matrix, delimiter=WRITTEN[suffix], fmt="%.17g")


def _row_and_column(i: int, j: int) -> str:
    return f"row {i}, column {j} (counted from 0)"


def _from_arrays(file: Path) -> tuple[list[str] | None, NDArray[Any]]:
    arrays = stored_arrays(file)
    ids = arrays.pop(IDS, None)
    if MATRIX not in arrays and len(arrays) != 1:
        found = ", ".join(shown(name, limit=30) for name in sorted(arrays)[:8]) or "none"
        raise InputError(f"{file}: expected one matrix, or one named {MATRIX} (and perhaps {IDS!r}), got {found}")
    values = arrays[MATRIX] if MATRIX in arrays else next(iter(arrays.values()))
    if values.ndim != 2 or values.shape[0] != values.shape[1]:  # before it is read
        raise InputError(f"{file}: expected a square matrix of numbers, got shape {values.shape} of {values.dtype}")
    if ids is None:
        return None, values.read()
    if ids.ndim != 1 or ids.dtype.kind not in "iuU":
        raise InputError(f"{file}: {IDS}: expected names as text, got shape {ids.shape} of {ids.dtype}")
    return [str(name) for name in ids.read().tolist()], values.read()


def _from_text(file: Path, *, gaps: bool) -> tuple[list[str] | None, NDArray[Any], Callable[[int, int], str]]:
    lines, rows = [], []
    for line, row in _text_rows(file):
        lines.append(line)
        rows.append([cell.strip() for cell in row])
        if len(row) != len(rows[0]):
            raise InputError(f"{file}, line {line}: expected {len(rows[0])} columns as before, got {len(row)}")
    if not rows:
        raise InputError(f"{file}: expected a matrix, got an empty file")
    names, skipped = None, 0
    if len(rows) == len(rows[0]) + 1:
        names = rows.pop(0)
    elif len(rows) == len(rows[0]) and not is_number(rows[0][0]) and not (gaps and _begins_with_a_gap(file, rows)):
        names, skipped = rows.pop(0)[1:], 1
    elif len(rows) != len(rows[0]):
        raise InputError(f"{file}: expected a square matrix, got {len(rows)} rows of {len(rows[0])} columns")
    if not rows:
        raise InputError(f"{file}: expected rows of numbers below the names, got none")
    lines = lines[len(lines) - len(rows) :]
    if skipped:
        for line, row, name in zip(lines, rows, names or [], strict=True):
            if row[0] != name:
                raise InputError(f"{file}, line {line}: expected {shown(name)} as in the header, got {shown(row[0])}")
    values = np.empty((len(rows), len(rows[0]) - skipped))
    for i, (line, row) in enumerate(zip(lines, rows, strict=True)):
        cells = [cell or "nan" for cell in row[skipped:]] if gaps else row[skipped:]
        try:
            values[i] = parse_floats(cells)
        except ValueError:
            cell = next(cell for cell in cells if not is_number(cell))
            raise InputError(f"{file}, line {line}: expected a number, got {shown(cell)}{number_hint(cell)}") from None
    return names, values, lambda i, j: f"line {lines[i]}, column {j + 1 + skipped}"


def _begins_with_a_gap(file: Path, rows: list[list[str]]) -> bool:
    """Whether an empty first cell is a missing entry, and not the corner of a header and a column of names."""
    across, down = rows[0][1:], [row[0] for row in rows[1:]]
    if rows[0][0] or not all(cell == "" or is_number(cell) for cell in across):
        return False
    if across != down or not any(across):
        return True
    if not any(rows[i][i] for i in range(1, len(rows))):
        raise InputError(
            f"{file}: expected zeros on the diagonal; with empty cells there, the first row may be names or distances"
        )
    return False


def _text_rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Read the numbers and cells of lines; in a `.txt` file, blanks separate cells and # starts a comment."""
    if file.suffix.lower() in DELIMITERS:
        yield from read_numbered_rows(file, find_separator(file))
        return
    with check_exists(file).open(encoding="utf-8-sig") as stream:
        try:
            for number, line in enumerate(stream, start=1):
                if cells := line.partition("#")[0].split():
                    yield number, cells
        except UnicodeDecodeError:
            raise InputError(f"{file}: expected text encoded as UTF-8") from None
