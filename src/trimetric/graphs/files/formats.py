"""The table of graph file formats: what a file's name says about how to read it.

To add a format, write its reader in a file beside this one and add one line to `FORMATS`: `read_graph`, its error
message and the help of the command line follow.  Readers are named as text, so that the command line can show the
suffixes before NumPy has loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from trimetric.files.errors import unknown_suffix

if TYPE_CHECKING:
    from trimetric.graphs.graph import Graph

Kind = Literal["map", "network", "network table"]


@dataclass(frozen=True)
class GraphFormat:
    """A kind of file that holds a graph.

    Attributes:
        name: what people call it.
        kind: which options its reader takes.  All take `symmetrize`; a reader of a "map" also takes `weight` (length
            or time) and keeps the largest component; readers of a "network" and of a "network table" also take
            `largest`; a reader of a "network table" also takes the names of columns.
        suffixes: how the names of such files end, in lower case.
        reader: the function that reads it, as `module.function` in this folder.
    """

    name: str
    kind: Kind
    suffixes: tuple[str, ...]
    reader: str

    @property
    def read(self) -> Callable[..., Graph]:
        """The function that reads such a file."""
        module, _, function = self.reader.partition(".")
        return getattr(import_module(f"trimetric.graphs.files.{module}"), function)


FORMATS = (
    GraphFormat("OpenStreetMap", "map", (".osm.pbf", ".pbf", ".osm", ".osm.gz", ".osm.bz2"), "osm.read_osm"),
    GraphFormat("DIMACS", "network", (".gr", ".gr.gz"), "dimacs.read_dimacs"),
    GraphFormat("a table of edges", "network table", (".csv", ".tsv", ".parquet", ".npz"), "edge_lists.read_edge_list"),
)


def find_format(file: Path) -> GraphFormat:
    """Tell the format of a file by the end of its name.

    Args:
        file: need not exist.

    Raises:
        InputError: if no format has such a suffix; the message lists those that there are.

    Examples:
        >>> find_format(Path("Porto.OSM.pbf")).name
        'OpenStreetMap'
    """
    name = file.name.lower()
    for found in FORMATS:
        if name.endswith(found.suffixes):
            return found
    raise unknown_suffix(file, *(suffix for known in FORMATS for suffix in known.suffixes))


def describe_formats() -> str:
    """List the formats and their suffixes, for a help text.

    Examples:
        >>> print(describe_formats().split("; ")[1])
        DIMACS (.gr, .gr.gz)
    """
    return "; ".join(f"{known.name} ({', '.join(known.suffixes)})" for known in FORMATS)
