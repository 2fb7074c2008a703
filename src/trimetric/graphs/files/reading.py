"""A graph from a file of any kind that is known."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from trimetric.files.errors import unknown_suffix
from trimetric.graphs.files.dimacs import read_dimacs
from trimetric.graphs.files.edge_lists import read_edge_list
from trimetric.graphs.files.osm import read_osm
from trimetric.graphs.graph import Graph

OSM = (".osm.pbf", ".pbf", ".osm", ".osm.gz", ".osm.bz2")
DIMACS = (".gr", ".gr.gz")
TABLES = (".csv", ".tsv", ".parquet", ".npz")


def read_graph(
    file: Path | str,
    *,
    weight: Literal["length", "time"] = "length",
    symmetrise: bool = False,
    largest: bool = False,
) -> Graph:
    """OpenStreetMap (`.osm.pbf`), DIMACS (`.gr`), or a table of edges with the columns from, to, weight.

    Args:
        file: its name tells its kind; `read_osm`, `read_dimacs` and `read_edge_list` have options of their own.
        weight: of OpenStreetMap: metres or seconds.
        symmetrise: whether every arc goes both ways.
        largest: whether to take the largest strongly connected component; of a map it is always taken, as its border
            cuts streets.
    """
    file = Path(file)
    name = file.name.lower()
    if name.endswith(OSM):
        return read_osm(file, weight=weight, symmetrise=symmetrise)
    if name.endswith(DIMACS):
        return read_dimacs(file, symmetrise=symmetrise, largest=largest)
    if name.endswith(TABLES):
        return read_edge_list(file, two_way=symmetrise, largest=largest)
    raise unknown_suffix(file, ".osm.pbf", ".osm", ".gr", ".gr.gz", *TABLES)
