"""Writing travel matrices for solvers and tables, row by row from files that may be larger than memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from trimetric._support.atomic import replacing
from trimetric._support.optional import needing
from trimetric.files.errors import InputError, unknown_suffix
from trimetric.routing.costs import Annotation

Format = Literal["npy", "npz", "csv", "tsv", "parquet", "osrm", "vroom", "ortools", "tsplib", "vrplib"]
Matrices = Mapping[Annotation, NDArray[Any]]
ROWS_AT_ONCE = 64
PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class MatrixFile:
    """What a file says beside its numbers.

    Attributes:
        sources: names of the rows.
        targets: names of the columns.
        source_places: `(rows, 2)` longitude and latitude of the rows, with NaN where unknown.
        target_places: `(columns, 2)` of the columns.
        source_meters: `(rows,)` how far each place is from its street.
        target_meters: `(columns,)` of the columns.
    """

    sources: Sequence[str]
    targets: Sequence[str]
    source_places: NDArray[np.float64]
    target_places: NDArray[np.float64]
    source_meters: NDArray[np.float64]
    target_meters: NDArray[np.float64]

    @classmethod
    def of_names(cls, names: Sequence[str] | None, count: int) -> MatrixFile:
        """What is known of a square matrix without places.

        Args:
            names: of its objects; by default their numbers.
            count: how many there are.
        """
        known = [str(i) for i in range(count)] if names is None else list(names)
        nowhere, zero = np.full((count, 2), np.nan), np.zeros(count)
        return cls(known, known, nowhere, nowhere, zero, zero)


@dataclass(frozen=True)
class _Kind:
    """A format: its suffixes, what it can hold, and who writes it."""

    suffixes: tuple[str, ...]
    both: bool
    square: bool
    whole: bool
    write: Callable[[Path, MatrixFile, Matrices], None]


def check_format(file: Path, form: Format | None, *, costs: int, square: bool, whole: bool) -> Format:
    """Find the format of a file by its suffix, and refuse what it cannot hold.

    Args:
        file: to write.
        form: its format, where the suffix does not tell; None to take the first with this suffix.
        costs: how many costs are to be written.
        square: whether rows and columns are the same places.
        whole: whether the numbers are whole.

    Raises:
        InputError: if the format cannot hold the matrix.

    Examples:
        >>> check_format(Path("matrix.parquet"), None, costs=2, square=False, whole=False)
        'parquet'
    """
    suffix = file.suffix.lower()
    fitting: list[Format] = [name for name, kind in FORMATS.items() if suffix in kind.suffixes]
    if not fitting:
        raise unknown_suffix(file, *dict.fromkeys(suffix for kind in FORMATS.values() for suffix in kind.suffixes))
    if form is not None and form not in fitting:
        raise InputError(f"--format: expected {' or '.join(fitting)} for {file.name}, got {form}")
    chosen: Format = form or fitting[0]
    kind = FORMATS[chosen]
    if costs > 1 and not kind.both:
        able = ", ".join(name for name, other in FORMATS.items() if other.both)
        raise InputError(f"--annotations: expected one for the format {chosen}, got {costs}; {able} hold both")
    if kind.square and not square:
        raise InputError(f"--to: expected none for the format {chosen}, whose rows and columns are the same places")
    if kind.whole and not whole and form is not None:
        raise InputError(f"--format: expected whole numbers for {chosen}, got others; --integers rounds them up")
    if kind.whole and not whole:
        raise InputError(f"--integers: expected for the format {chosen}, which has whole numbers only")
    return chosen


def write_travel_file(file: Path, form: Format, about: MatrixFile, matrices: Matrices) -> None:
    """Write matrices in a format.  The file is replaced completely or not at all.

    Args:
        file: to write.
        form: from `check_format`.
        about: names and places.
        matrices: `(rows, columns)` costs by name; memory-mapped ones are read row by row.
    """
    FORMATS[form].write(file, about, matrices)


def can_name(file: Path, names: Sequence[str]) -> bool:
    """Whether names are read back as they are, from the header of a table or from the ids of arrays.

    Args:
        file: a `.csv`, `.tsv` or `.npz` file to write.
        names: of the rows and columns.

    Examples:
        >>> can_name(Path("x.csv"), ["a", "b c"]), can_name(Path("x.csv"), ["a", " a"])
        (True, False)
    """
    if file.suffix.lower() != ".npz" and any(name != name.strip() or set(name) & set("\r\n") for name in names):
        return False
    # NumPy drops zeros at the end, and UTF-8 has no halves of surrogate pairs.
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for name in names for char in name)


def _npy(file: Path, about: MatrixFile, matrices: Matrices) -> None:  # noqa: ARG001
    (matrix,) = matrices.values()
    with replacing(file) as stream:
        np.lib.format.write_array_header_1_0(
            stream, {"descr": np.lib.format.dtype_to_descr(matrix.dtype), "fortran_order": False, "shape": matrix.shape}
        )
        for rows in _rows(matrix):
            stream.write(np.ascontiguousarray(rows).data)


def _npz(file: Path, about: MatrixFile, matrices: Matrices) -> None:
    names = {"ids": np.array(about.sources)}
    if list(about.targets) != list(about.sources):
        names = {"sources": np.array(about.sources), "targets": np.array(about.targets)}
    arrays: dict[str, NDArray[Any]] = {"D" if len(matrices) == 1 else name: m for name, m in matrices.items()}
    with replacing(file) as stream:
        np.savez_compressed(stream, allow_pickle=False, **names, **arrays)


def _delimited(file: Path, about: MatrixFile, matrices: Matrices) -> None:
    import csv

    (matrix,) = matrices.values()
    with replacing(file) as stream:
        text = TextIOWrapper(stream, encoding="utf-8", newline="")
        writer = csv.writer(text, delimiter="\t" if file.suffix.lower() == ".tsv" else ",", lineterminator="\n")
        writer.writerow(["", *about.targets])
        at = 0
        for rows in _rows(matrix):
            for row in rows.tolist():
                writer.writerow([about.sources[at], *row])
                at += 1
        text.flush()
        text.detach()


def _parquet(file: Path, about: MatrixFile, matrices: Matrices) -> None:
    with needing("a Parquet file", "tables"):
        import pyarrow as pa
        from pyarrow import parquet
    first = next(iter(matrices.values()))
    number = pa.int64() if first.dtype.kind == "i" else pa.float64()
    words = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("from", words), ("to", words), *((name, number) for name in matrices)])
    starts, ends = pa.array(list(about.sources), pa.string()), pa.array(list(about.targets), pa.string())
    columns = first.shape[1]
    height = max(1, PAIRS_AT_ONCE // max(columns, 1))
    with replacing(file) as stream, parquet.ParquetWriter(stream, schema) as writer:
        for at in range(0, first.shape[0], height):
            rows = np.arange(at, min(at + height, first.shape[0]), dtype=np.int32)
            cells: list[Any] = [
                pa.DictionaryArray.from_arrays(np.repeat(rows, columns), starts),
                pa.DictionaryArray.from_arrays(np.tile(np.arange(columns, dtype=np.int32), len(rows)), ends),
            ]
            cells += [pa.array(np.asarray(m[rows[0] : rows[-1] + 1]).ravel(), number) for m in matrices.values()]
            writer.write_table(pa.table(cells, schema=schema))


def _osrm(file: Path, about: MatrixFile, matrices: Matrices) -> None:
    def points(names: Sequence[str], places: NDArray[np.float64], meters: NDArray[np.float64]) -> list[dict[str, Any]]:
        rows = zip(names, places.tolist(), meters.tolist(), strict=True)
        return [{"name": name, "location": place, "distance": away} for name, place, away in rows]

    with replacing(file) as stream:
        sources = points(about.sources, about.source_places, about.source_meters)
        targets = points(about.targets, about.target_places, about.target_meters)
        stream.write(f'{{"code": "Ok", "ids": {_json(list(about.sources))}'.encode())
        for name, matrix in matrices.items():
            stream.write(f', "{name}s": '.encode())
            _json_rows(stream, matrix)
        stream.write(f', "sources": {_json(sources)}, "destinations": {_json(targets)}}}\n'.encode())


def _vroom(file: Path, about: MatrixFile, matrices: Matrices) -> None:
    jobs = [{"id": i, "location_index": i, "description": name} for i, name in enumerate(about.sources) if i > 0]
    vehicle = {"id": 1, "start_index": 0, "end_index": 0, "description": about.sources[0]}
    with replacing(file) as stream:
        stream.write(f'{{"vehicles": {_json([vehicle])}, "jobs": {_json(jobs)}, '.encode())
        stream.write(f'"ids": {_json(list(about.sources))}, "matrices": {{"car": {{'.encode())
        # VROOM minimizes durations; where only lengths are known, these take their place.
        named = {"durations" if len(matrices) == 1 else f"{name}s": matrix for name, matrix in matrices.items()}
        for i, (name, matrix) in enumerate(named.items()):
            stream.write(f'{", " if i else ""}"{name}": '.encode())
            _json_rows(stream, matrix)
        stream.write(b"}}}\n")


def _ortools(file: Path, about: MatrixFile, matrices: Matrices) -> None:
    with replacing(file) as stream:
        stream.write(f'{{"ids": {_json(list(about.sources))}, "num_vehicles": 1, "depot": 0'.encode())
        for name, matrix in matrices.items():
            stream.write(f', "{"time" if name == "duration" else name}_matrix": '.encode())
            _json_rows(stream, matrix)
        stream.write(b"}\n")


def _tsplib(file: Path, about: MatrixFile, matrices: Matrices) -> None:
    _explicit(file, about, matrices, kind="ATSP", head={}, tail=())


def _vrplib(file: Path, about: MatrixFile, matrices: Matrices) -> None:
    n = len(about.sources)
    demands = [f"{i + 1} {int(i > 0)}" for i in range(n)]
    tail = ("DEMAND_SECTION", *demands, "DEPOT_SECTION", "1", "-1")
    # Every client has a demand of 1, for the user to replace.
    _explicit(file, about, matrices, kind="ACVRP", head={"CAPACITY": max(n - 1, 1)}, tail=tail)


def _explicit(
    file: Path, about: MatrixFile, matrices: Matrices, *, kind: str, head: dict[str, int], tail: Sequence[str]
) -> None:
    (matrix,) = matrices.values()
    lines = {"NAME": file.stem, "TYPE": kind, "DIMENSION": len(about.sources), "EDGE_WEIGHT_TYPE": "EXPLICIT"}
    lines |= {"EDGE_WEIGHT_FORMAT": "FULL_MATRIX", **head}
    with replacing(file) as stream:
        stream.write("".join(f"{key} : {value}\n" for key, value in lines.items()).encode())
        stream.write(b"EDGE_WEIGHT_SECTION\n")
        for rows in _rows(matrix):
            np.savetxt(stream, rows, fmt="%d")
        stream.write("".join(f"{line}\n" for line in (*tail, "EOF")).encode())


def _rows(matrix: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for at in range(0, matrix.shape[0], ROWS_AT_ONCE):
        yield np.asarray(matrix[at : at + ROWS_AT_ONCE])


def _json_rows(stream: IO[bytes], matrix: NDArray[Any]) -> None:
    """Write a matrix as lists of lists; pairs without a path become null."""
    stream.write(b"[")
    first = True
    for rows in _rows(matrix):
        for row in rows.tolist():
            cells = row if rows.dtype.kind == "i" else [None if cell == float("inf") else cell for cell in row]
            stream.write((b"" if first else b",\n") + _json(cells).encode())
            first = False
    stream.write(b"]")


def _json(value: Any) -> str:
    return json.dumps(_without_nan(value), allow_nan=False)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and value != value else value


FORMATS: dict[Format, _Kind] = {
    "npy": _Kind((".npy",), both=False, square=False, whole=False, write=_npy),
    "npz": _Kind((".npz",), both=True, square=False, whole=False, write=_npz),
    "csv": _Kind((".csv",), both=False, square=False, whole=False, write=_delimited),
    "tsv": _Kind((".tsv",), both=False, square=False, whole=False, write=_delimited),
    "parquet": _Kind((".parquet",), both=True, square=False, whole=False, write=_parquet),
    "osrm": _Kind((".json",), both=True, square=False, whole=False, write=_osrm),
    "vroom": _Kind((".json",), both=True, square=True, whole=True, write=_vroom),
    "ortools": _Kind((".json",), both=True, square=True, whole=True, write=_ortools),
    "tsplib": _Kind((".atsp", ".tsp"), both=False, square=True, whole=True, write=_tsplib),
    "vrplib": _Kind((".vrp",), both=False, square=True, whole=True, write=_vrplib),
}
