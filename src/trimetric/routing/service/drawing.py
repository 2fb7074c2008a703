"""A map as bytes that a page draws from, and travel times of all nodes as bytes."""

from __future__ import annotations

import gzip
import struct

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.geography import ground_meters
from trimetric.graphs.graph import Graph

MAGIC = b"TMAP"
DEGREE = 10_000_000
"""units per degree: what OpenStreetMap stores, a centimeter"""

UNREACHED = 65535
"""stands for "no route" in a field of travel times"""


def map_bytes(places: NDArray[np.float64], graph: Graph | None, *, seconds: bool) -> bytes:
    """Write nodes and edges for the map page, compressed.

    `TMAP`, and 4-byte integers, little-endian: the number of nodes and of edges; then longitudes, latitudes, and the
    lower and higher end of each edge, all as differences to the one before, byte by byte (all first bytes, all
    second bytes, ...), as equal bytes side by side compress well; last, a byte of km/h for each edge, 0 if unknown.

    Args:
        places: `(n, 2)` longitude and latitude of the nodes.
        graph: with these nodes; None for nodes without edges.
        seconds: whether the weights of the graph are seconds.

    Returns:
        The bytes, as gzip.
    """
    tails, heads, speeds = _edges(places, graph, seconds=seconds)
    units = np.rint(places * DEGREE).astype(np.int64)
    columns = [units[:, 0], units[:, 1], tails, heads - tails]
    body = MAGIC + struct.pack("<II", len(places), len(tails))
    body += b"".join(_planes(column if i == 3 else np.diff(column, prepend=0)) for i, column in enumerate(columns))
    return gzip.compress(body + speeds.tobytes(), 6, mtime=0)


def _edges(
    places: NDArray[np.float64], graph: Graph | None, *, seconds: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """List each edge once, with its speed."""
    if graph is None:
        none = np.empty(0, np.int64)
        return none, none, np.empty(0, np.uint8)
    tails, heads = graph.tails.astype(np.int64), graph.indices.astype(np.int64)
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    _, first = np.unique(low * graph.num_nodes + high, return_index=True)
    low, high, weights = low[first], high[first], graph.weights[first]
    if not seconds:
        return low, high, np.zeros(len(low), np.uint8)
    meters = ground_meters(places[low], places[high])
    speeds = np.clip(np.rint(3.6 * meters / np.maximum(weights, 1e-9)), 1, 255)
    return low, high, np.where(meters < 1.0, 0, speeds).astype(np.uint8)  # rounding hides the speed of shorter ones


def _planes(numbers: NDArray[np.int64]) -> bytes:
    return np.ascontiguousarray(numbers.astype("<i4").view(np.uint8).reshape(-1, 4).T).tobytes()


def field_bytes(durations: NDArray[np.float64]) -> bytes:
    """Write the travel times of all nodes: the unit as a 4-byte float, then 2 bytes for each node.

    Args:
        durations: `(n,)` one for each node; infinite where there is no route.

    Returns:
        The bytes, little-endian; 65535 stands for "no route".

    Examples:
        >>> np.frombuffer(field_bytes(np.array([0.0, 5.0, np.inf])), "<u2", offset=4).tolist()
        [0, 65534, 65535]
    """
    finite = np.isfinite(durations)
    largest = float(durations[finite].max(initial=0.0))
    unit = np.float32(largest / (UNREACHED - 1) or 1.0)
    units = np.full(len(durations), UNREACHED, "<u2")
    units[finite] = np.minimum(np.rint(durations[finite] / unit), UNREACHED - 1)
    return struct.pack("<f", unit) + units.tobytes()
