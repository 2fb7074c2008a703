"""Travel times by a learned distance between the nodes of a map."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.geography import EARTH_RADIUS
from trimetric.graphs.snapping import on_the_sphere
from trimetric.models.model import Model
from trimetric.routing.service.engine import Floats, Leg, Waypoints, check_annotations
from trimetric.routing.service.limits import Deadline
from trimetric.routing.service.refusals import RefusedError

CELLS = 500_000
"""pairs between two looks at the clock"""


class LearnedEngine:
    """A model as an engine: places are moved to the nearest node, and there are no routes.

    Args:
        model: with `ids`; without `places`, nodes are known by their ids only.
        order: `(n,)` the row of the model of each node, where the map numbers them in another order.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> points = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
        >>> places = torch.tensor([[-8.61, 41.15], [-8.60, 41.15]])
        >>> engine = LearnedEngine(tm.Model(tm.NormInduced(tm.Euclidean(2)), ["a", "b"], points, {}, places))
        >>> engine.field(engine.at_nodes(np.array([0])), reverse=False)
        array([0., 5.])
    """

    name = "learned"
    has_routes = False

    def __init__(self, model: Model, order: NDArray[np.int64] | None = None) -> None:
        if model.ids is None:
            raise ValueError("model: expected one with ids of its objects, got one without")
        self.model = model
        self.order = np.arange(len(model.ids)) if order is None else order
        self._ids = [str(model.ids[row]) for row in self.order.tolist()]
        self._numbers = {name: number for number, name in enumerate(self._ids)}
        lengths = str(model.notes.get("unit")).lower() in ("metres", "meters", "m")
        self.annotations: tuple[str, ...] = ("distance",) if lengths else ("duration",)
        self.places: Floats | None = None
        if model.places is not None:
            self.places = model.places.double().numpy()[self.order]
        self._tree: Any = None

    def prepare(self) -> None:
        """Make what all workers share: the index of places."""
        if self.places is not None:
            self._make_tree(self.places)

    def _make_tree(self, places: Floats) -> Any:
        from scipy.spatial import KDTree

        self._tree = KDTree(on_the_sphere(places))
        return self._tree

    def find(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of nodes by their ids; -1 where there is no such node."""
        return np.array([self._numbers.get(name, -1) for name in ids], np.int64)

    def node_id(self, node: int) -> Any:
        """Return the id of a node, a number where it is one."""
        name = self._ids[node]
        return int(name) if name.isdecimal() else name

    def take(self, places: Waypoints, rows: NDArray[np.int64]) -> Any:
        """Return `snapped` of some of the places."""
        return places.snapped[rows]

    def at_nodes(self, nodes: NDArray[np.int64]) -> Waypoints:
        """Return places at nodes."""
        places = np.full((len(nodes), 2), np.nan) if self.places is None else self.places[nodes]
        return Waypoints(places, np.zeros(len(nodes)), np.stack([nodes, nodes], axis=1), nodes)

    def snap(self, places: Floats, limits: Floats) -> Waypoints:
        """Move places to the nearest nodes."""
        meters, nodes = self._nearest(places, 1)
        bad = ~(meters[:, 0] <= limits)
        if bad.any():
            raise no_segment(int(bad.argmax()), float(meters[bad.argmax(), 0]), float(limits[bad.argmax()]))
        found = self.at_nodes(nodes[:, 0])
        return Waypoints(found.locations, meters[:, 0], found.nodes, found.snapped)

    def nearest(self, place: Floats, number: int, limit: float) -> Waypoints:
        """Find the nearest nodes of a place."""
        meters, nodes = self._nearest(place[None], min(number, len(self._ids)))
        near = meters[0] <= limit
        if not near.any():
            raise no_segment(0, float(meters[0, 0]), limit)
        found = self.at_nodes(nodes[0][near])
        return Waypoints(found.locations, meters[0][near], found.nodes, found.snapped)

    def _nearest(self, places: Floats, number: int) -> tuple[Floats, NDArray[np.int64]]:
        if self.places is None:
            raise RefusedError(
                "NotImplemented", "coordinates: expected a map with places, got one whose nodes have none"
            )
        tree = self._tree or self._make_tree(self.places)
        straight, nodes = (np.reshape(part, (-1, number)) for part in tree.query(on_the_sphere(places), k=number))
        return 2 * EARTH_RADIUS * np.arcsin(np.clip(straight / 2, 0, 1)), np.asarray(nodes, np.int64)

    def matrix(
        self, sources: Waypoints, targets: Waypoints, annotations: Collection[str], deadline: Deadline
    ) -> dict[str, Floats]:
        """Compute what the model has learned, durations or distances."""
        check_annotations(self, annotations)
        objects = self.model.objects()
        rows, columns = self.order[sources.snapped], self.order[targets.snapped]
        found = np.empty((len(rows), len(columns)))
        step = max(1, CELLS // max(1, len(columns)))
        for first in range(0, len(rows), step):
            deadline.check()
            block = self.model.all_pairs(objects[rows[first : first + step]], objects[columns])
            found[first : first + step] = block.double().numpy()
        return {self.annotations[0]: found}

    def route(self, places: Waypoints, start: int, end: int, *, parts: bool) -> Leg | None:  # noqa: ARG002
        """Refuse: a model has no roads."""
        raise RefusedError("NotImplemented", "route: expected a map of roads, got a model without roads")

    def field(self, place: Waypoints, *, reverse: bool) -> Floats:
        """Compute the costs from a place to every node, or from every node to it."""
        objects = self.model.objects()
        one = objects[self.order[place.snapped[:1]]]
        found = self.model.all_pairs(objects, one)[:, 0] if reverse else self.model.all_pairs(one, objects)[0]
        return found.double().numpy()[self.order]


def no_segment(row: int, meters: float, limit: float) -> RefusedError:
    """Return the refusal of a place that is too far from the map.

    Args:
        row: of the coordinate.
        meters: to the nearest road or node.
        limit: that holds for it.
    """
    away = f"{meters:,.0f} m" if meters < 10_000 else f"{meters / 1000:,.0f} km"
    return RefusedError("NoSegment", f"coordinate {row}: expected a road within {limit:g} m, got one {away} away")
