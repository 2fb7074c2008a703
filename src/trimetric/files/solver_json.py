"""Matrices in JSON: OSRM's table service, VROOM's instances, and the lists of lists that OR-Tools takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric._support.printable import shown
from trimetric.files.costs import Cost
from trimetric.files.errors import InputError

# The names of the matrices of a cost: OSRM and VROOM, then the examples of OR-Tools, then arguments of PyVRP.
NAMES: dict[Cost, tuple[str, ...]] = {
    "duration": ("durations", "time_matrix", "duration_matrix", "duration_matrices"),
    "distance": ("distances", "distance_matrix", "distance_matrices"),
}
LARGEST = 1e300
KNOWN = "a list of lists, or an object with one of " + ", ".join(name for names in NAMES.values() for name in names)


def read_json_matrix(
    file: Path, *, cost: Cost | None = None, gaps: bool = False
) -> tuple[list[str] | None, NDArray[Any]]:
    """Read a square matrix from a JSON file.

    Args:
        file: a list of lists of numbers; an object with `durations` or `distances` (OSRM's table service), with
            `matrices` of one profile (VROOM), or with `time_matrix` or `distance_matrix` (OR-Tools).
        cost: which matrix, where there are both; by default the durations.
        gaps: whether an entry may be null; it becomes NaN.

    Returns:
        The ids of the objects where the file has `ids`, and the matrix.

    Raises:
        InputError: if the file is not such a file.
    """
    _, data = parse_json(file)
    names = _ids(file, data)
    for key in path_to_matrix(file, data, cost):
        data = data[key]
    return names, _matrix(file, data, gaps=gaps)


def path_to_matrix(file: Path, data: Any, cost: Cost | None) -> tuple[str | int, ...]:
    """Find the keys that lead to the matrix in the contents of a file.

    Args:
        file: for error messages.
        data: its contents, parsed.
        cost: which matrix, where there are both; by default the durations.

    Raises:
        InputError: if there is no such matrix.
    """
    path: tuple[str | int, ...] = ()
    if isinstance(data, Mapping) and isinstance(data.get("matrices"), Mapping):
        profiles = data["matrices"]
        if len(profiles) != 1:
            raise InputError(f"{file}: matrices: expected one profile, got {len(profiles)}")
        profile, data = next(iter(profiles.items()))
        path = ("matrices", profile)
    if isinstance(data, Mapping):
        return (*path, *_chosen(file, data, cost))
    if cost is not None:
        raise InputError(f"{file}: expected an object that names its matrix {cost}, got {_kind(data)}")
    return path


def parse_json(file: Path) -> tuple[str, Any]:
    """Read a JSON file: its text, and what it holds.

    Args:
        file: must exist.

    Raises:
        InputError: if it is not JSON.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        return text, json.loads(text)
    except UnicodeDecodeError:
        raise InputError(f"{file}: expected text encoded as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: expected JSON, got {shown(str(error), limit=80)}") from None


def _ids(file: Path, data: Any) -> list[str] | None:
    ids = data.get("ids") if isinstance(data, Mapping) else None
    if ids is None:
        return None
    if not isinstance(ids, list) or not all(isinstance(name, (str, int)) for name in ids):
        raise InputError(f"{file}: ids: expected a list of names, got {_kind(ids)}")
    return [str(name) for name in ids]


def _chosen(file: Path, data: Mapping[str, Any], cost: Cost | None) -> tuple[str | int, ...]:
    for wanted in ("duration", "distance") if cost is None else (cost,):
        for name in NAMES[wanted]:
            if data.get(name) is not None:
                found = data[name]
                several = name.endswith("_matrices")
                if several and (not isinstance(found, list) or len(found) != 1):
                    raise InputError(f"{file}: {name}: expected a list of one matrix, got {_kind(found)}")
                return (name, 0) if several else (name,)
    asked = KNOWN if cost is None else f"an object with one of {', '.join(NAMES[cost])}"
    keys = ", ".join(shown(key, limit=20) for key in list(data)[:8]) or "an empty object"
    raise InputError(f"{file}: expected {asked}, got {keys}")


def _matrix(file: Path, rows: Any, *, gaps: bool) -> NDArray[np.float64]:
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{file}: expected {KNOWN}, got {_kind(rows)}")
    found = np.empty((len(rows), len(rows)))
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(rows):
            got = f"{len(row)} entries" if isinstance(row, list) else _kind(row)
            raise InputError(f"{file}: row {i}: expected {len(rows)} numbers, one for each row, got {got}")
        for j, entry in enumerate(row):
            if entry is None and gaps:
                found[i, j] = np.nan
                continue
            if isinstance(entry, bool) or not isinstance(entry, (int, float)) or not abs(entry) < LARGEST:
                raise InputError(f"{file}: row {i}, column {j}: expected a number, got {_kind(entry)}")
            found[i, j] = entry
    return found


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, (int, float, bool)):
        return shown(str(value)[:40])
    return {list: "a list", dict: "an object", str: "text"}.get(type(value), type(value).__name__)
