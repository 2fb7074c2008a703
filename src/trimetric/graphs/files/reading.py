"""Reading a graph from a file of any known format."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from trimetric._support.renamed import old_keywords
from trimetric.graphs.files.formats import find_format
from trimetric.graphs.graph import Graph


@old_keywords(symmetrise="symmetrize")
def read_graph(
    file: Path | str,
    *,
    weight: Literal["length", "time"] = "length",
    symmetrize: bool = False,
    largest: bool = False,
) -> Graph:
    """Read a graph from a file: OpenStreetMap (`.osm.pbf`), DIMACS (`.gr`), or a table of edges.

    A table of edges is a CSV, TSV, Parquet or NPZ file with the columns from, to and weight.

    Args:
        file: the suffix determines the format; `trimetric.graphs.files.formats` lists the formats.  `read_osm`,
            `read_dimacs` and `read_edge_list` have further options.
        weight: for OpenStreetMap: meters ("length") or seconds ("time").
        symmetrize: whether every arc can be traversed in both directions.
        largest: whether to keep only the largest strongly connected component; without it, a graph of several
            components is an error.  A map is always reduced to its largest component, because its border cuts streets.

    Returns:
        A strongly connected graph.

    Raises:
        InputError: if the file cannot be read, with the line that is wrong.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "streets.csv"
        ...     _ = file.write_text("from,to,weight\\na,b,1\\nb,c,2\\nc,a,3\\n")
        ...     print(read_graph(file))
        3 nodes, 3 arcs
    """
    file = Path(file)
    found = find_format(file)
    if found.kind == "map":
        return found.read(file, weight=weight, symmetrize=symmetrize)
    return found.read(file, symmetrize=symmetrize, largest=largest)
