"""A road map: streets with their lengths and travel times, ready for matrices and routes."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric.files.errors import InputError
from trimetric.graphs.files.cache import ArrayCache, content_key
from trimetric.graphs.files.formats import find_format
from trimetric.graphs.files.osm import read_osm_costs
from trimetric.graphs.files.reading import read_graph
from trimetric.graphs.graph import Graph
from trimetric.routing.costs import Annotation, CostKeys, Costs
from trimetric.routing.hierarchy import TripHierarchy, contraction_order

Weight = Literal["time", "length"]
MEASURES: dict[Weight, Annotation] = {"time": "duration", "length": "distance"}


@dataclass(frozen=True, eq=False, kw_only=True)
class RoadMap:
    """Streets with travel times and lengths, and the contraction hierarchies that find routes on them.

    Turn restrictions and turn costs are not represented: every turn at a crossing is allowed and takes no time.

    Attributes:
        graph: the arcs and the places of the nodes; its weights are those read from the file.
        costs: `(arcs,)` "duration" in seconds and "distance" in meters, or only the one that the file has.
        cache: a folder that stores the contraction order, which takes the longest to compute; None for no cache.

    Examples:
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 90.0, 30.0], directed=True)
        >>> roads = RoadMap.of_graph(graph, weight="time")
        >>> print(roads)
        3 nodes, 3 arcs, with duration
    """

    graph: Graph
    costs: dict[Annotation, Costs]
    cache: ArrayCache | None = None
    _hierarchies: dict[Any, tuple[CostKeys, TripHierarchy]] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def of_graph(cls, graph: Graph, *, weight: Weight = "time", cache: Path | str | None = None) -> RoadMap:
        """Make a road map from a graph whose weights are travel times or lengths.

        Args:
            graph: a road network, with (longitude, latitude) as coordinates if places should be snapped to it.
            weight: whether its weights are seconds ("time") or meters ("length").
            cache: a folder that stores the contraction order.
        """
        checks.one_of("weight", weight, tuple(MEASURES))
        kept = None if cache is None else ArrayCache(cache)
        return cls(graph=graph, costs={MEASURES[weight]: graph.weights}, cache=kept)

    def __str__(self) -> str:
        return f"{self.graph}, with {' and '.join(self.costs)}"

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_edge_index", "_jobs_to_all")  # large, and made again where they are needed
        return {name: value for name, value in self.__dict__.items() if name not in left_out} | {"_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    @cached_property
    def digest(self) -> str:
        """A hash of the streets and their costs, which are what matrices depend on."""
        graph = self.graph
        costs = [part for name in sorted(self.costs) for part in (name, self.costs[name])]
        return content_key("road map", graph.num_nodes, graph.indptr, graph.indices, *costs)

    @property
    def weights(self) -> tuple[Weight, ...]:
        """What a route can be the best by: "time", "length", or both."""
        return tuple(weight for weight, name in MEASURES.items() if name in self.costs)

    @cached_property
    def reverse_arcs(self) -> NDArray[np.int64]:
        """`(arcs,)` the arc that goes back on the same street; -1 for a one-way street."""
        n, tails, heads = self.graph.num_nodes, self.graph.tails.astype(np.int64), self.graph.indices.astype(np.int64)
        ahead, back = tails * n + heads, heads * n + tails
        found = np.minimum(np.searchsorted(ahead, back), max(len(ahead) - 1, 0))
        return np.where(ahead[found] == back, found, -1) if len(ahead) else found

    def nodes_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Find nodes by their ids.

        Args:
            ids: names of nodes, as text.

        Raises:
            ValueError: if the map has no such node; the message names the row.
        """
        found = np.array([self._number.get(str(name), -1) for name in ids], np.int64)
        if (found < 0).any():
            row = int((found < 0).argmax())
            raise ValueError(f"ids: expected nodes of the map, got {ids[row]!r} in row {row}")
        return found

    def has_node(self, name: str) -> bool:
        """Whether a node has this id.

        Args:
            name: as text.
        """
        return name in self._number

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.graph.ids())}

    def hierarchy(self, weight: Weight, annotations: Sequence[Annotation]) -> tuple[CostKeys, TripHierarchy]:
        """Build the hierarchy for routes that are the best by a weight, once; later calls return the same.

        Args:
            weight: what routes minimize.
            annotations: the costs to know of these routes.

        Returns:
            How its keys are read, and the hierarchy.
        """
        checks.one_of("weight", weight, self.weights)
        first = MEASURES[weight]
        for name in annotations:
            checks.one_of("annotations", name, tuple(self.costs))
        names: tuple[Annotation, ...] = (first, *(name for name in self.costs if name in annotations and name != first))
        with self._lock:
            if names not in self._hierarchies:
                costs: dict[Annotation, Costs] = {name: self.costs[name] for name in names}
                keys = CostKeys.of_graph(self.graph, costs)
                built = TripHierarchy.of_graph(self.graph, self.order, keys.join(list(costs.values())))
                self._hierarchies[names] = keys, built
            return self._hierarchies[names]

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """`(n,)` the order of contraction."""
        graph = self.graph
        places = np.empty(0) if graph.coordinates is None else graph.coordinates
        key = content_key("contraction order", graph.num_nodes, graph.indptr, graph.indices, places)
        known = None if self.cache is None else self.cache.read(key)
        order = None if known is None else known.get("order")
        if order is not None and np.array_equal(np.sort(order), np.arange(graph.num_nodes)):
            return order.astype(np.int32)
        order = contraction_order(graph)
        if self.cache is not None:
            self.cache.write(key, {"order": order})
        return order


def read_roads(
    file: Path | str,
    *,
    weight: Weight | None = None,
    symmetrize: bool = False,
    cache: Path | str | None = None,
) -> RoadMap:
    """Read a road map from a file: OpenStreetMap (`.osm.pbf`), DIMACS (`.gr`) or a table of edges.

    Args:
        file: a map of OpenStreetMap has both travel times (at 85 % of the speed limit) and lengths; the others have one
            weight per arc.
        weight: for files with one weight, whether it is seconds ("time", the default) or meters ("length").  A map has
            both, and refuses this argument.
        symmetrize: whether every street goes both ways.
        cache: a folder that stores the parsed map and the contraction order, under a hash of the file's contents.

    Returns:
        The largest strongly connected part of the map, so that every place reaches every other.

    Raises:
        InputError: if the file cannot be read.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "streets.csv"
        ...     _ = file.write_text("from,to,weight\\na,b,60\\nb,c,90\\nc,a,30\\n")
        ...     print(read_roads(file))
        3 nodes, 3 arcs, with duration
    """
    file = Path(file)
    if find_format(file).kind != "map":
        graph = read_graph(file, symmetrize=symmetrize, largest=True)
        return RoadMap.of_graph(graph, weight=weight or "time", cache=cache)
    if weight is not None:
        raise ValueError(f"weight: expected None for a map, which has time and length, got {weight!r}")
    kept = None if cache is None else ArrayCache(cache)
    key = content_key("road map 1", _digest(file), str(symmetrize)) if kept is not None else ""
    known = None if kept is None else kept.read(key)
    if known is not None and set(known) == {"indptr", "indices", "seconds", "meters", "coordinates", "names", "left"}:
        graph = _graph_of(known, directed=not symmetrize)
        costs: dict[Annotation, Any] = {"duration": known["seconds"], "distance": known["meters"]}
        return RoadMap(graph=graph, costs=costs, cache=kept)
    graph, meters = read_osm_costs(file, symmetrize=symmetrize)
    if kept is not None:
        arrays = {"indptr": graph.indptr, "indices": graph.indices, "seconds": graph.weights, "meters": meters}
        arrays |= {
            "coordinates": graph.coordinates,
            "names": np.asarray(graph.names),
            "left": np.array([graph.left_out]),
        }
        kept.write(key, {name: np.ascontiguousarray(array) for name, array in arrays.items()})
    return RoadMap(graph=graph, costs={"duration": graph.weights, "distance": meters}, cache=kept)


def _graph_of(known: dict[str, NDArray[Any]], *, directed: bool) -> Graph:
    graph = Graph(
        indptr=known["indptr"],
        indices=known["indices"],
        weights=known["seconds"],
        directed=directed,
        coordinates=known["coordinates"],
        names=known["names"],
    )
    return replace(graph, left_out=int(known["left"][0]))


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
