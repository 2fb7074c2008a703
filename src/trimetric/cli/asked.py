"""The objects of a query: named on the command line, listed in a file, or found by their coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric._support.printable import shown
from trimetric.files.columns import read_table
from trimetric.files.errors import InputError
from trimetric.models.model import Model

NAMED_AT_MOST = 100_000  # objects among which a similar name is looked for

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Asked:
    """Objects by their names in the answer, and their rows in the model."""

    labels: list[str]
    """their names in the answer"""
    rows: Rows
    """their rows in the model"""
    metres: NDArray[np.float64] | None = None
    """if they were found by coordinates: how far each is from its node"""
    note: str = ""
    """what to say about how they were found"""

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self, end: str) -> tuple[str, ...]:
        """Return the further columns of the answer for the end "from" or "to"."""
        return () if self.metres is None else (f"{end}_node", f"{end}_snap_m")

    def cells(self, model: Model) -> list[tuple[str, ...]]:
        """Return the cells of `columns`, one tuple per object."""
        if self.metres is None:
            return [()] * len(self)
        ids = list(model.ids or ())
        return [(ids[row], f"{away:.1f}") for row, away in zip(self.rows.tolist(), self.metres.tolist(), strict=True)]


def everything(model: Model) -> Asked:
    """Return all objects that the model knows."""
    ids = list(model.ids or ())
    return Asked(ids, np.arange(len(ids)))


def named(model: Model, names: Sequence[str], *, option: str, origin: str) -> Asked:
    """Return objects by name; an error with a suggestion if one is unknown."""
    ids = list(model.ids or ())
    number = {name: i for i, name in enumerate(ids)}
    for name in names:
        if name not in number:
            close = get_close_matches(name, ids, n=1) if len(ids) <= NAMED_AT_MOST else []
            hint = f"; did you mean {shown(close[0])}?" if close else ""
            raise InputError(f"{option}: {shown(name)} is not among the {len(ids):,} objects of {origin}{hint}")
    return Asked(list(names), np.array([number[name] for name in names], np.int64))


def listed(model: Model, file: Path, *, option: str, id_column: str, origin: str, max_snap: float) -> Asked:
    """Return the objects of a table: by id or, if it has columns lon and lat, by the nearest place of the model."""
    table = read_table(file, ids=[id_column], numbers=[], optional=["lon", "lat"])
    names = list(table.names)
    labels = [names[code] for code in table.codes[id_column].tolist()]
    if not table.numbers:
        return named(model, labels, option=option, origin=origin)
    if len(table.numbers) == 1:
        raise InputError(
            f"{file}: expected both columns lon and lat, or neither, got only {next(iter(table.numbers))!r}"
        )
    if model.places is None:
        raise InputError(f"{option}: {file} has coordinates, but {origin} knows no places; give ids alone")

    from trimetric.graphs.snapping import OffTheMapError, snap

    wanted = np.stack([table.numbers["lon"], table.numbers["lat"]], axis=1)
    try:
        found = snap(model.places.double().cpu().numpy(), wanted, max_metres=max_snap)
    except OffTheMapError as error:
        raise InputError(f"{table.where(error.place)}: lon, lat: {error.problem}; see --max-snap") from None
    except ValueError as error:
        raise InputError(f"{origin}: places: {error}") from None
    median, largest = np.median(found.metres), found.metres.max()
    note = f"{file.name}: half are within {median:.0f} m of a node of the map, all within {largest:.0f} m"
    return Asked(labels, found.nodes, found.metres, note)
