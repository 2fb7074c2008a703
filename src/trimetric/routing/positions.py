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


SAME_DEGREES = 1e-6
"""how far a position may be from where the map has it, for rounding"""


def check_positions(roads: RoadMap, name: str, positions: Positions) -> None:
    """Refuse positions of another map, as far as they can be told from those of this one.

    Args:
        roads: the map.
        name: the argument that they came as, for the error message.
        positions: to check.

    Raises:
        ValueError: if they are on nodes or arcs that the map has not, or has somewhere else.
    """
    graph = roads.graph
    for what, numbers, count in (
        ("nodes", positions.nodes, graph.num_nodes),
        ("arcs", positions.arcs, graph.num_arcs),
        ("arcs", positions.reverse_arcs, graph.num_arcs),
    ):
        bad = (numbers < -1) | (numbers >= count)
        if bad.any():
            i = int(bad.argmax())
            raise ValueError(
                f"{name}: expected positions on this map of {count:,} {what}, got number {numbers[i]} of another map "
                f"at index {i}"
            )
    if graph.coordinates is None:
        return
    inside = positions.nodes < 0
    tails, heads = positions.nodes.copy(), positions.nodes.copy()
    tails[inside], heads[inside] = graph.tails[positions.arcs[inside]], graph.indices[positions.arcs[inside]]
    street = _short_way(graph.coordinates[heads] - graph.coordinates[tails])
    away = positions.coordinates - graph.coordinates[tails] - positions.fractions[:, None] * street
    bad = (np.abs(_short_way(away)) > SAME_DEGREES).any(axis=1)  # False for those without coordinates
    if bad.any():
        i = int(bad.argmax())
        longitude, latitude = positions.coordinates[i].tolist()
        raise ValueError(
            f"{name}: expected positions on this map, got one at longitude {longitude:g}, latitude {latitude:g}, which "
            f"this map has somewhere else, at index {i}"
        )


def _short_way(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of places, the short way around the earth."""
    return degrees - [360.0, 0.0] * np.rint(degrees / 360)
