"""Road networks of OpenStreetMap."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric._support.optional import optional
from trimetric._support.printable import printable
from trimetric._support.renamed import old_keywords
from trimetric.files.errors import InputError, check_exists
from trimetric.graphs.files import osm_process
from trimetric.graphs.geography import ground_meters
from trimetric.graphs.graph import Graph

RESOLUTION = 1000  # weights are whole millimeters or milliseconds, so that engines that use integers are exact


@old_keywords(symmetrise="symmetrize")
def read_osm(
    file: Path | str,
    *,
    weight: Literal["length", "time"] = "length",
    symmetrize: bool = False,
    largest: bool = True,
) -> Graph:
    """Read the roads that cars may use from an OpenStreetMap file (.osm.pbf, .osm, .osm.gz, ...).

    Nodes are the points of the ways, with their OpenStreetMap ids as names and (longitude, latitude) as coordinates.
    One-way streets, roundabouts and motorways go one way.  Needs pyosmium (`trimetric[graphs]`).

    Args:
        file: an extract; ways at its border are cut where their nodes are missing.
        weight: "length" for meters along the ground, "time" for seconds at 85 % of the speed limit (or at a speed
            typical for the kind of road, if there is no limit).  Both are rounded to thousandths, and are at least one
            thousandth.
        symmetrize: whether every street goes both ways, as in the paper's graph `to`.
        largest: whether to keep only the largest strongly connected component; without it, a graph of several
            components is an error.

    Raises:
        InputError: if the file cannot be read or has no roads.
    """
    checks.one_of("weight", weight, ("length", "time"))
    arcs = _read_arcs(Path(file))
    return _graph(Path(file), arcs, arcs.meters if weight == "length" else arcs.seconds, symmetrize, largest=largest)


def read_osm_costs(file: Path | str, *, symmetrize: bool = False) -> tuple[Graph, NDArray[np.float64]]:
    """Read the roads that cars may use with both of their costs, see `read_osm`.

    Args:
        file: an extract.
        symmetrize: whether every street goes both ways.

    Returns:
        The largest strongly connected part of the map, weighted by seconds, and the meters of each of its arcs.
    """
    arcs = _read_arcs(Path(file))
    timed = _graph(Path(file), arcs, arcs.seconds, symmetrize, largest=True)
    measured = _graph(Path(file), arcs, arcs.meters, symmetrize, largest=True)  # same nodes and arcs, in the same order
    return timed, measured.weights


@dataclass(frozen=True, eq=False)
class _Arcs:
    """The arcs of a file, by numbers of nodes."""

    names: NDArray[np.int64]
    coordinates: NDArray[np.float64]
    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    meters: NDArray[np.float64]
    seconds: NDArray[np.float64]


def _read_arcs(file: Path) -> _Arcs:
    found = _ways(check_exists(file))
    if not len(found["arcs"]):
        raise InputError(f"{file}: expected ways with the tag highway that cars may use, got none")
    order = found["nodes"].argsort()
    names, coordinates = found["nodes"][order], found["places"][order]
    tails, heads = names.searchsorted(found["arcs"][:, 0]), names.searchsorted(found["arcs"][:, 1])
    meters = ground_meters(coordinates[tails], coordinates[heads])
    seconds = meters / (found["speeds"] / 3.6)
    return _Arcs(names, coordinates, tails, heads, _whole(meters), _whole(seconds))


def _whole(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(np.rint(costs * RESOLUTION), 1) / RESOLUTION


def _graph(file: Path, arcs: _Arcs, weights: NDArray[np.float64], symmetrize: bool, *, largest: bool) -> Graph:
    kept = {"coordinates": arcs.coordinates, "names": arcs.names}
    try:
        graph = Graph.from_arcs(len(arcs.names), arcs.tails, arcs.heads, weights, directed=not symmetrize, **kept)
        return graph.connected(largest=largest)
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None


def _ways(file: Path) -> dict[str, NDArray[Any]]:
    """Read the arcs by OpenStreetMap's ids, their speeds, and the nodes with their places."""
    optional("osmium", needed_for="reading OpenStreetMap files")
    run = run_reader(file)
    if run.returncode == 0:
        with np.load(io.BytesIO(run.stdout), allow_pickle=False) as found:
            return dict(found)
    told = run.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {run.returncode}"]
    if run.returncode == -signal.SIGKILL:
        told = ["the process that reads it was killed, perhaps for lack of memory"]
    elif run.returncode < 0:
        told = ["the library that reads it crashed, so it must be damaged"]
    raise InputError(f"{file}: cannot be read as OpenStreetMap data ({printable(told[-1], limit=120)})")


def run_reader(file: Path) -> subprocess.CompletedProcess[bytes]:
    """Read the file in another process, as a damaged one may crash the reader."""
    # -P: the names of files beside the script must not hide others.
    words = [sys.executable, "-P", osm_process.__file__, str(file)]
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(words, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": paths})
