"""The objects that a query is about: named on the command line, listed in a file, or found by their coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric.model import Model
from trimetric.tables.columns import first, read_table
from trimetric.tables.errors import InputError

NAMED_AT_MOST = 100_000  # objects among which a similar name is looked for
METRES_A_DEGREE = 111_195.0

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Asked:
    """Objects by the names that the answer is to have, and their rows in the model."""

    labels: list[str]
    rows: Rows
    note: str = ""
    """what to say of how they were found"""

    def __len__(self) -> int:
        return len(self.rows)


def everything(model: Model) -> Asked:
    ids = list(model.ids or ())
    return Asked(ids, np.arange(len(ids)))


def named(model: Model, names: Sequence[str], *, option: str, origin: Path) -> Asked:
    """Objects by name."""
    ids = list(model.ids or ())
    number = {name: i for i, name in enumerate(ids)}
    for name in names:
        if name not in number:
            close = get_close_matches(name, ids, n=1) if len(ids) <= NAMED_AT_MOST else []
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise InputError(f"{option}: {name!r} is not among the {len(ids):,} objects of {origin}{hint}")
    return Asked(list(names), np.array([number[name] for name in names], np.int64))


def listed(model: Model, file: Path, *, option: str, id_column: str, origin: Path) -> Asked:
    """Objects from a table: by id, or where it has columns lon and lat by the nearest place that the model knows."""
    table = read_table(file, ids=[id_column], numbers=[], optional=["lon", "lat"])
    names = list(table.names)
    labels = [names[code] for code in table.codes[id_column].tolist()]
    if len(table.numbers) < 2:
        return named(model, labels, option=option, origin=origin)
    if model.places is None:
        raise InputError(f"{option}: {file} has coordinates, but {origin} knows no places; give ids alone")
    wanted = np.stack([table.numbers["lon"], table.numbers["lat"]], axis=1)
    bad = first(~((np.abs(wanted[:, 0]) <= 180) & (np.abs(wanted[:, 1]) <= 90)))
    if bad is not None:
        raise InputError(f"{table.where(bad)}: expected degrees in lon and lat, got {wanted[bad].tolist()}")
    rows, metres = _nearest(model.places.double().cpu().numpy(), wanted)
    note = f"{file.name}: half are within {np.median(metres):.0f} m of a known place, all within {metres.max():.0f} m"
    return Asked(labels, rows, note)


def _nearest(places: NDArray[np.float64], wanted: NDArray[np.float64]) -> tuple[Rows, NDArray[np.float64]]:
    from scipy.spatial import KDTree

    # Degrees of longitude shrink towards the poles; over a map one factor for all is near enough to choose by.
    shrink = np.array([np.cos(np.radians(places[:, 1].mean())), 1.0])
    apart, rows = KDTree(places * shrink).query(wanted * shrink)
    return np.asarray(rows, np.int64), np.asarray(apart) * METRES_A_DEGREE
