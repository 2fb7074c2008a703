"""Tables of places: ids with longitude and latitude, or ids of nodes of the map."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric._support.printable import shown
from trimetric.files.columns import read_table
from trimetric.files.errors import InputError
from trimetric.graphs.snapping import MAX_SNAP, OffTheMapError
from trimetric.routing.edge_snapping import snap_to_edges
from trimetric.routing.positions import Positions, positions_at_nodes
from trimetric.routing.road_map import RoadMap


@dataclass(frozen=True, eq=False)
class Places:
    """Places by name, and their positions on a map.

    Attributes:
        names: their ids, in the order of the file.
        positions: on the streets of the map.
        snapped: whether they were given by coordinates.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> roads = RoadMap.of_graph(Graph.from_arcs(2, [0, 1], [1, 0], [1.0, 2.0], directed=True))
        >>> places = Places(["home", "work"], positions_at_nodes(roads, [1, 0]), snapped=False)
        >>> print(places)
        2 places, given as nodes of the map
    """

    names: list[str]
    positions: Positions
    snapped: bool

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        count = f"{len(self):,} places"
        if not self.snapped or not len(self):
            return f"{count}, given as nodes of the map" if not self.snapped else count
        meters = self.positions.meters
        worst = int(meters.argmax())
        return (
            f"{count}: half are within {np.median(meters):.0f} m of a street, all within {meters[worst]:.0f} m "
            f"({self.names[worst]})"
        )


def read_places(file: Path | str, roads: RoadMap, *, id_column: str = "id", limit: float = MAX_SNAP) -> Places:
    """Read places from a CSV, TSV, Parquet or NPZ file, and snap them to the nearest streets of a map.

    Args:
        file: a column of distinct ids, and the columns lon and lat in degrees; without these, ids of nodes of the map.
        roads: the map.
        id_column: the name of the column of ids.
        limit: how far a place may be from its street, in meters.

    Returns:
        The places, in the order of the file.

    Raises:
        InputError: if the file cannot be read, an id repeats, or a place is not on the map; it names the line.

    Examples:
        >>> import tempfile
        >>> from trimetric.graphs import Graph
        >>> graph = Graph.from_arcs(2, [0, 1], [1, 0], [1.0, 2.0], directed=True, coordinates=[[-8, 41], [-8, 41.01]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table = Path(folder) / "places.csv"
        ...     _ = table.write_text("id,lon,lat\\nhome,-8.0001,41.005\\n")
        ...     print(read_places(table, RoadMap.of_graph(graph)))
        1 places: half are within 8 m of a street, all within 8 m (home)
    """
    file = Path(file)
    table = read_table(file, ids=[id_column], numbers=[], optional=["lon", "lat"])
    known = list(table.names)
    codes = table.codes[id_column]
    names = [known[code] for code in codes.tolist()]
    if not names:
        raise InputError(f"{file}: expected at least one place, got none")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        again = next(row for row, name in enumerate(names) if name in seen or seen.add(name))
        raise InputError(f"{table.where(again)}: {id_column}: expected different ids, got {shown(names[again])} again")
    if len(table.numbers) == 1:
        raise InputError(f"{file}: expected both columns lon and lat, or neither, got only {next(iter(table.numbers))}")
    if not table.numbers:
        return Places(names, positions_at_nodes(roads, _nodes(roads, names, table.where, id_column)), snapped=False)
    wanted = np.stack([table.numbers["lon"], table.numbers["lat"]], axis=1)
    try:
        return Places(names, snap_to_edges(roads, wanted, limit=limit), snapped=True)
    except OffTheMapError as error:
        raise InputError(f"{table.where(error.place)}: lon, lat: {error.problem}") from None
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None


def _nodes(roads: RoadMap, names: list[str], where: object, id_column: str) -> NDArray[np.int64]:
    try:
        return roads.nodes_of(names)
    except ValueError:
        row = next(i for i, name in enumerate(names) if not roads.has_node(name))
        raise InputError(
            f"{where(row)}: {id_column}: expected columns lon and lat, or an id of a node of the map, "  # type: ignore[operator]
            f"got {shown(names[row])}"
        ) from None
