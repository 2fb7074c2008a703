"""Places on the streets of a road map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric.graphs.graph import node_numbers
from trimetric.routing.road_map import RoadMap


@dataclass(frozen=True, eq=False, kw_only=True)
class Positions:
    """Places on the streets of a map.

    A route leaves a place on an arc (u, v) at fraction t through v, at the cost of the rest of the arc, and enters it
    through u, at the cost of the first part; on a two-way street also the other way around.  A place at the end of an
    arc is the node itself.

    Attributes:
        nodes: `(places,)` the node of each place; -1 if it lies inside an arc.
        arcs: `(places,)` the arc on which it lies; -1 for a node.
        reverse_arcs: `(places,)` the arc that goes back on the same street; -1 for a node or a one-way street.
        fractions: `(places,)` which part of the arc lies before the place, between 0 and 1; 0 for a node.
        coordinates: `(places, 2)` longitude and latitude of the point on the street; NaN where the map has none.
        meters: `(places,)` how far that point is from the original place.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 90.0, 30.0], directed=True)
        >>> positions_at_nodes(RoadMap.of_graph(graph), [2, 0]).nodes
        array([2, 0])
    """

    nodes: NDArray[np.int64]
    arcs: NDArray[np.int64]
    reverse_arcs: NDArray[np.int64]
    fractions: NDArray[np.float64]
    coordinates: NDArray[np.float64]
    meters: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, rows: Any) -> Positions:
        return Positions(
            nodes=self.nodes[rows],
            arcs=self.arcs[rows],
            reverse_arcs=self.reverse_arcs[rows],
            fractions=self.fractions[rows],
            coordinates=self.coordinates[rows],
            meters=self.meters[rows],
        )


def positions_at_nodes(roads: RoadMap, nodes: ArrayLike) -> Positions:
    """Take nodes of a map as places.

    Args:
        roads: the map.
        nodes: `(places,)` numbers of nodes; `RoadMap.nodes_of` finds them by their ids.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 90.0, 30.0], directed=True)
        >>> len(positions_at_nodes(RoadMap.of_graph(graph), [2, 0, 2]))
        3
    """
    known = node_numbers("nodes", nodes, roads.graph)
    if known.ndim != 1:
        raise ValueError(f"nodes: expected a list of nodes, got shape {known.shape}")
    coordinates = roads.graph.coordinates
    places = np.full((len(known), 2), np.nan) if coordinates is None else coordinates[known]
    none, zero = np.full(len(known), -1), np.zeros(len(known))
    return Positions(nodes=known, arcs=none, reverse_arcs=none, fractions=zero, coordinates=places, meters=zero)
