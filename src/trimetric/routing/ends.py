"""How places are left and entered: the nodes at the ends of their streets, and the cost of the way there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimetric.routing.costs import CostKeys
from trimetric.routing.hierarchy import Ends, Keys
from trimetric.routing.positions import Positions
from trimetric.routing.road_map import RoadMap


def exits(roads: RoadMap, keys: CostKeys, places: Positions) -> Ends:
    """The nodes through which places are left: the head of their arc, and its tail where the street goes both ways.

    Args:
        roads: the map.
        keys: how costs are written.
        places: on the map.
    """
    before, whole = _parts(roads, keys, places.arcs, places.fractions)
    back, _ = _parts(roads, keys, places.reverse_arcs, places.fractions)
    return _ends(roads, places, ahead=whole - before, back=back, leaving=True)


def entries(roads: RoadMap, keys: CostKeys, places: Positions) -> Ends:
    """The nodes through which places are entered: the tail of their arc, and its head where the street goes both ways.

    Args:
        roads: the map.
        keys: how costs are written.
        places: on the map.
    """
    before, _ = _parts(roads, keys, places.arcs, places.fractions)
    back, whole = _parts(roads, keys, places.reverse_arcs, places.fractions)
    return _ends(roads, places, ahead=before, back=whole - back, leaving=False)


def shorten_on_streets(roads: RoadMap, keys: CostKeys, sources: Positions, targets: Positions, found: Keys) -> None:
    """Lower the keys of pairs on the same street to that of the way along it, where it is the better one.

    Args:
        roads: the map.
        keys: how costs are written.
        sources: where paths start.
        targets: where they end.
        found: `(sources, targets)` keys of the best paths that leave the street, changed in place.
    """
    rows, columns = _same_street(sources.arcs, targets.arcs)
    if not len(rows):
        return
    for arcs, sign in ((sources.arcs, 1), (sources.reverse_arcs, -1)):
        start, _ = _parts(roads, keys, arcs[rows], sources.fractions[rows])
        end, _ = _parts(roads, keys, arcs[rows], targets.fractions[columns])
        onward = (sign * (targets.fractions[columns] - sources.fractions[rows]) >= 0) & (arcs[rows] >= 0)
        i, j = rows[onward], columns[onward]
        found[i, j] = np.minimum(found[i, j], np.abs(end - start)[onward])


def _same_street(sources: NDArray[np.int64], targets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of a source and a target that lie inside the same arc."""
    order = np.argsort(targets, kind="stable")
    first = np.searchsorted(targets[order], sources, side="left")
    last = np.searchsorted(targets[order], sources, side="right")
    count = np.where(sources >= 0, last - first, 0)
    rows = np.repeat(np.arange(len(sources)), count)
    step = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    return rows, order[first[rows] + step]


def _parts(
    roads: RoadMap, keys: CostKeys, arcs: NDArray[np.int64], fractions: NDArray[np.float64]
) -> tuple[Keys, Keys]:
    """Keys of the part of each arc before a fraction of it, and of all of it; 0 where there is no arc."""
    inside, costs = arcs >= 0, [np.zeros(len(arcs)) for _ in keys.annotations]
    for name, cost in zip(keys.annotations, costs, strict=True):
        cost[inside] = roads.costs[name][arcs[inside]]
    return keys.join([fractions * cost for cost in costs]), keys.join(costs)


def _ends(roads: RoadMap, places: Positions, *, ahead: Keys, back: Keys, leaving: bool) -> Ends:
    tails, heads = roads.graph.tails, roads.graph.indices
    inside = places.arcs >= 0
    first, second = (heads, tails) if leaving else (tails, heads)
    nodes = np.full((len(places), 2), -1, np.int32)
    nodes[:, 0] = places.nodes
    nodes[inside, 0] = first[places.arcs[inside]]
    both = places.reverse_arcs >= 0
    nodes[both, 1] = second[places.arcs[both]]
    return Ends(nodes, np.stack([ahead, back], axis=1))
