"""Travel matrices: costs of the best routes from every source to every target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trimetric._support import checks
from trimetric._support.progress import Shown, WorkProgress
from trimetric.graphs.paths.parallel import check_jobs, in_parallel
from trimetric.graphs.snapping import MAX_SNAP
from trimetric.routing.costs import Annotation, CostKeys, Costs
from trimetric.routing.edge_snapping import snap_to_edges
from trimetric.routing.ends import entries, exits, shorten_on_streets
from trimetric.routing.hierarchy import Selection, TripHierarchy
from trimetric.routing.positions import Positions, check_positions, positions_at_nodes
from trimetric.routing.road_map import RoadMap, Weight

BLOCK = 1 << 22  # keys that are computed at a time: 32 MiB


@dataclass(frozen=True, eq=False, kw_only=True)
class TravelMatrix:
    """Costs of the best routes between places.

    Attributes:
        sources: the places where routes start.
        targets: the places where they end.
        costs: `(sources, targets)` "duration" in seconds and "distance" in meters, as far as requested, of the same
            route; infinite if there is no route.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0], directed=True)
        >>> roads = RoadMap.of_graph(graph, weight="time")
        >>> travel_matrix(roads, positions_at_nodes(roads, [0, 2])).durations
        array([[  0., 110.],
               [ 80.,   0.]])
    """

    sources: Positions
    targets: Positions
    costs: dict[Annotation, Costs]

    @property
    def durations(self) -> Costs:
        """Seconds; an error where they were not asked for."""
        return self._cost("duration")

    @property
    def distances(self) -> Costs:
        """Meters; an error where they were not asked for."""
        return self._cost("distance")

    def _cost(self, name: Annotation) -> Costs:
        if name not in self.costs:
            raise ValueError(f"annotations: expected {name!r} among those asked for, got {tuple(self.costs)}")
        return self.costs[name]


def travel_matrix(
    roads: RoadMap,
    sources: Positions | ArrayLike,
    targets: Positions | ArrayLike | None = None,
    *,
    weight: Weight | None = None,
    annotations: Sequence[Annotation] | None = None,
    limit: float = MAX_SNAP,
    jobs: int | None = None,
    progress: Shown = "silent",
) -> TravelMatrix:
    """Compute the exact costs of the best routes from each source to each target.

    Routes minimize `weight`.  Their costs by that weight keep the triangle inequality.  The *other* cost of the same
    routes need not: the fastest way from a to c may be longer than the fastest ways from a to b and from b to c
    together.  `trimetric.nearness.nearest_metric` repairs such a matrix.

    Turn restrictions are ignored: every turn at a crossing is allowed and takes no time.

    Args:
        roads: the map.
        sources: positions on the map, or `(s, 2)` longitude and latitude, which are snapped to the nearest street.
        targets: as `sources`, which are the default.
        weight: "time" for the fastest routes, "length" for the shortest; by default "time" if the map has travel times.
        annotations: the costs to return, "duration" (seconds) and "distance" (meters); by default all that the map has.
        limit: how far a place may be from its street, in meters.
        jobs: how many threads, or workers of a cluster; see `trimetric.graphs.paths.parallel`.
        progress: "auto" shows a progress bar.

    Returns:
        The costs, with the positions of sources and targets.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> corners = [[-8.0, 41.0], [-8.0, 41.01], [-7.99, 41.01]]
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0], directed=True, coordinates=corners)
        >>> roads = RoadMap.of_graph(graph, weight="time")
        >>> travel_matrix(roads, [[-8.0, 41.005], [-8.0, 41.01]]).durations  # the way back is around the block
        array([[  0.,  30.],
               [160.,   0.]])
    """
    checks.one_of("progress", progress, ("auto", "silent"))
    check_jobs(jobs)
    starts = as_positions(roads, "sources", sources, limit)
    ends = starts if targets is None else as_positions(roads, "targets", targets, limit)
    job = TravelJob.prepare(roads, ends, weight=weight, annotations=annotations)
    costs: dict[Annotation, Costs] = {name: np.empty((len(starts), len(ends))) for name in job.annotations}
    blocks = list(blocks_of_rows(len(starts), len(ends)))
    with WorkProgress("travel matrix", len(starts) * len(ends), progress) as shown:
        found = in_parallel(TravelJob.rows, [(job, starts[rows]) for rows in blocks], jobs=jobs)
        for rows, block in zip(blocks, found, strict=True):
            for name, matrix in costs.items():
                matrix[rows] = block[name]
            shown.advance((rows.stop - rows.start) * len(ends))
    return TravelMatrix(sources=starts, targets=ends, costs=costs)


@dataclass(frozen=True, eq=False, kw_only=True)
class TravelJob:
    """What is needed to compute rows of a travel matrix, in any thread or process.

    Attributes:
        roads: the map.
        keys: how its costs are written.
        hierarchy: for these keys.
        targets: the places of the columns.
        selection: the part of the hierarchy below which they lie.
        annotations: the costs to return.
    """

    roads: RoadMap
    keys: CostKeys
    hierarchy: TripHierarchy
    targets: Positions
    selection: Selection
    annotations: tuple[Annotation, ...]

    @classmethod
    def prepare(
        cls,
        roads: RoadMap,
        targets: Positions,
        *,
        weight: Weight | None = None,
        annotations: Sequence[Annotation] | None = None,
    ) -> TravelJob:
        """Build the hierarchy of a map, once, and select its part for some targets.

        Args:
            roads: the map.
            targets: the places of the columns.
            weight: what routes minimize.
            annotations: the costs to return.
        """
        wanted = tuple(roads.costs) if annotations is None else tuple(annotations)
        if not wanted:
            raise ValueError("annotations: expected at least one, got none")
        keys, hierarchy = roads.hierarchy(weight or roads.weights[0], wanted)
        selection = hierarchy.select(entries(roads, keys, targets))
        return cls(
            roads=roads, keys=keys, hierarchy=hierarchy, targets=targets, selection=selection, annotations=wanted
        )

    def rows(self, sources: Positions) -> dict[Annotation, Costs]:
        """Compute the rows of some sources.

        Args:
            sources: where routes start.

        Returns:
            `(sources, targets)` costs by name.
        """
        found = self.hierarchy.matrix(exits(self.roads, self.keys, sources), self.selection)
        shorten_on_streets(self.roads, self.keys, sources, self.targets, found)
        costs = self.keys.split(found)
        return {name: costs[name] for name in self.annotations}


def as_positions(roads: RoadMap, name: str, places: Positions | ArrayLike, limit: float = MAX_SNAP) -> Positions:
    """Snap places to the map, unless they already are positions.

    Args:
        roads: the map.
        name: the argument that they came as, for the error message.
        places: positions, or `(places, 2)` longitude and latitude.
        limit: how far a place may be from its street, in meters.
    """
    if isinstance(places, Positions):
        check_positions(roads, name, places)
        return places
    array = np.asarray(places)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name}: expected positions, or rows of longitude and latitude of shape (n, 2), got shape {array.shape}"
        )
    return snap_to_edges(roads, array, limit=limit)


def reach(
    roads: RoadMap,
    place: Positions | ArrayLike,
    *,
    weight: Weight | None = None,
    annotations: Sequence[Annotation] | None = None,
    limit: float = MAX_SNAP,
) -> dict[Annotation, Costs]:
    """Compute the costs of the best routes from one place to every node of the map.

    Args:
        roads: the map.
        place: one position, or its longitude and latitude as `(1, 2)`.
        weight: what routes minimize.
        annotations: the costs to return.
        limit: how far the place may be from its street, in meters.

    Returns:
        `(nodes,)` costs by name.

    Examples:
        >>> from trimetric.graphs import Graph
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0], directed=True)
        >>> roads = RoadMap.of_graph(graph, weight="time")
        >>> reach(roads, positions_at_nodes(roads, [1]))
        {'duration': array([130.,   0.,  50.])}
    """
    start = as_positions(roads, "place", place, limit)
    if len(start) != 1:
        raise ValueError(f"place: expected one, got {len(start)}")
    kept = roads.__dict__.setdefault("_jobs_to_all", {})
    wanted = weight or roads.weights[0], tuple(roads.costs) if annotations is None else tuple(annotations)
    if wanted not in kept:
        everywhere = positions_at_nodes(roads, np.arange(roads.graph.num_nodes))
        kept[wanted] = TravelJob.prepare(roads, everywhere, weight=wanted[0], annotations=wanted[1])
    return {name: row[0] for name, row in kept[wanted].rows(start).items()}


def blocks_of_rows(rows: int, columns: int) -> Iterator[slice]:
    """Cut a matrix into blocks of rows that fit into memory.

    Args:
        rows: number of rows.
        columns: number of columns.
    """
    height = max(1, BLOCK // max(columns, 1))
    height = max(1, min(height, -(-rows // 8)))
    for first in range(0, rows, height):
        yield slice(first, min(first + height, rows))
