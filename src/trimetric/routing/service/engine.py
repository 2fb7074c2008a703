"""What the service asks of a map: places on its roads, matrices, routes, and travel times to every node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trimetric.routing.service.limits import Deadline
from trimetric.routing.service.refusals import RefusedError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Waypoints:
    """Places that were moved to the roads of a map.

    Attributes:
        locations: `(n, 2)` longitude and latitude on the roads.
        meters: `(n,)` distance from each place to its location.
        nodes: `(n, 2)` numbers of the nodes at the ends of each road; twice the same one for a place at a node.
        snapped: what the engine needs to know of them, in the form of its own.
    """

    locations: Floats
    meters: Floats
    nodes: NDArray[np.int64]
    snapped: Any


@dataclass(frozen=True, eq=False)
class Leg:
    """A route between two places.

    Attributes:
        costs: seconds ("duration") and meters ("distance") of the whole, where they are known.
        line: `(points, 2)` longitude and latitude along the way.
        parts: the same costs for each part of the line, `(points - 1,)` each, where asked for.
        nodes: numbers of the nodes along the way, without places inside streets at the ends, where asked for.
    """

    costs: dict[str, float]
    line: Floats
    parts: dict[str, Floats]
    nodes: NDArray[np.int64]


class Engine(Protocol):
    """A way to compute travel times: exact on the roads of a map, or by a learned distance.

    Attributes:
        name: "exact" or "learned".
        annotations: the costs that it knows, "duration" in seconds, "distance" in meters or both; routes minimize the
            first.
        has_routes: whether it can tell the way.
        places: `(nodes, 2)` longitude and latitude of all nodes.
    """

    name: str
    annotations: tuple[str, ...]
    has_routes: bool
    places: Floats | None

    def prepare(self) -> None:
        """Make what all workers share, before they are forked."""
        ...

    def find(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of nodes by their ids; -1 where there is no such node."""
        ...

    def snap(self, places: Floats, limits: Floats) -> Waypoints:
        """Move places to the roads; refuse those that are farther than their limit in meters."""
        ...

    def node_id(self, node: int) -> Any:
        """Return the id of a node, a number where it is one."""
        ...

    def take(self, places: Waypoints, rows: NDArray[np.int64]) -> Any:
        """Return `snapped` of some of the places."""
        ...

    def at_nodes(self, nodes: NDArray[np.int64]) -> Waypoints:
        """Return places at nodes of the map."""
        ...

    def nearest(self, place: Floats, number: int, limit: float) -> Waypoints:
        """Find the nearest roads of a place, nearest first."""
        ...

    def matrix(
        self, sources: Waypoints, targets: Waypoints, annotations: Collection[str], deadline: Deadline
    ) -> dict[str, Floats]:
        """Compute costs of the same routes by name, infinite where there is no route; those that are asked for."""
        ...

    def route(self, places: Waypoints, start: int, end: int, *, parts: bool) -> Leg | None:
        """Find the way from one of the places to another, with the costs of its parts if asked for; None if no way."""
        ...

    def field(self, place: Waypoints, *, reverse: bool) -> Floats:
        """Compute the least costs from a place to every node, or from every node to it."""
        ...


UNITS = {"duration": "seconds", "distance": "meters"}
"""of the costs"""


def check_annotations(engine: Engine, wanted: Collection[str]) -> None:
    """Refuse costs that an engine does not know.

    Args:
        engine: to ask.
        wanted: names of costs.
    """
    for name in wanted:
        if name not in engine.annotations:
            known = " and ".join(engine.annotations)
            raise RefusedError("NotImplemented", f"annotations: expected {known}, got {name}, which is not known here")
