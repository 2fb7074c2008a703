"""Rows of a travel matrix that a model of the map estimates, between the nodes nearest to the places."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trimetric.routing.costs import Annotation
from trimetric.routing.positions import Positions
from trimetric.routing.road_map import MEASURES, RoadMap, Weight

if TYPE_CHECKING:
    from trimetric.models.model import Model

UNITS = {"seconds": "time", "metres": "length", "meters": "length"}


@dataclass(frozen=True, eq=False)
class ModelJob:
    """What is needed to estimate rows of a travel matrix.

    A place inside a street counts as its nearer end, so that the matrix keeps the triangle inequality as the model
    does.

    Attributes:
        roads: the map.
        head: the distance of the model.
        points: `(nodes of the map, dim)` what the distance reads of each node.
        targets: `(columns,)` the nodes of the columns.
        annotation: what it estimates.
    """

    roads: RoadMap
    head: Any
    points: Any
    targets: NDArray[np.int64]
    annotation: Annotation

    @classmethod
    def prepare(
        cls,
        roads: RoadMap,
        targets: Positions,
        model: Model,
        *,
        weight: Weight,
        annotations: Sequence[Annotation],
    ) -> ModelJob:
        """Match the nodes of a map with the objects of a model.

        Args:
            roads: the map.
            targets: the places of the columns.
            model: of the same map.
            weight: what it must have been learned from.
            annotations: must be the cost of that weight alone.

        Raises:
            ValueError: if the model is of another map or weight, or another cost is asked for.
        """
        import torch

        measure = MEASURES[weight]
        if tuple(annotations) != (measure,):
            raise ValueError(f"annotations: expected {measure} alone with a model, got {', '.join(annotations)}")
        unit = model.notes.get("unit")
        if isinstance(unit, str) and UNITS.get(unit, weight) != weight:
            raise ValueError(f"weight: expected {UNITS[unit]} for a model whose distances are in {unit}, got {weight}")
        number = {name: row for row, name in enumerate(model.ids or ())}
        ids = roads.graph.ids()
        rows = [number.get(name, -1) for name in ids]
        if min(rows) < 0:
            raise ValueError(f"model: expected the nodes of the map, got none named {ids[rows.index(-1)]}")
        points = model.embed()[torch.tensor(rows)].cpu()
        head = model.network.head.cpu()
        return cls(roads, head, points, nearer_nodes(roads, targets), measure)

    @staticmethod
    def identity(model: Model) -> str:
        """A hash of what the model computes.

        Args:
            model: any.
        """
        digest = hashlib.sha256(str(type(model.network.head)).encode())
        for name, tensor in sorted(model.network.head.state_dict().items()):
            digest.update(name.encode() + tensor.cpu().numpy().tobytes())
        digest.update(model.embed().cpu().numpy().tobytes())
        return digest.hexdigest()

    def rows(self, sources: Positions) -> Mapping[Annotation, NDArray[np.float64]]:
        """Estimate the rows of some sources.

        Args:
            sources: where routes start.
        """
        import torch

        from trimetric.distances.all_pairs import all_pairs

        starts = torch.from_numpy(nearer_nodes(self.roads, sources))
        with torch.no_grad():
            found = all_pairs(self.head, self.points[starts], self.points[torch.from_numpy(self.targets)])
        return {self.annotation: found.double().numpy()}


def nearer_nodes(roads: RoadMap, places: Positions) -> NDArray[np.int64]:
    """The node of each place: its own, or the nearer end of its street.

    Args:
        roads: the map.
        places: on the map.
    """
    graph = roads.graph
    inside = places.arcs >= 0
    ends = np.where(places.fractions < 0.5, graph.tails[places.arcs], graph.indices[places.arcs])
    return np.where(inside, ends, places.nodes).astype(np.int64)
