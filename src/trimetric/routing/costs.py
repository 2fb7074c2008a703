"""Costs of travel as keys of paths: one cost, or two of which the second belongs to the path that the first chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.graph import Graph
from trimetric.graphs.paths.trees import distances_from, distances_to
from trimetric.routing.hierarchy import LARGEST_KEY, Keys

Annotation = Literal["duration", "distance"]
ANNOTATIONS: tuple[Annotation, ...] = get_args(Annotation)
PER_ONE = 1000
"""Costs are counted in milliseconds and millimeters."""
ROUNDING = 1e-6  # of a unit: thousandths are not exact as binary numbers

Costs = NDArray[np.float64]


@dataclass(frozen=True)
class CostKeys:
    """How costs are written as keys that add up along a path.

    A key of two costs is `first * 2**shift + second` in whole thousandths, so that the least key is the path of least
    first cost, and of these the one of least second cost.  Keys add up like the costs as long as the sum of second
    costs stays below `2**shift`, which `of_graph` proves for every path that can be a best one.

    Attributes:
        annotations: what the costs are, the one that is minimized first.
        shift: the number of bits of the second cost; 0 where there is none.
        whole: whether keys are whole numbers; otherwise they are the costs themselves.

    Examples:
        >>> keys = CostKeys(("duration", "distance"), shift=20, whole=True)
        >>> keys.split(keys.join([np.array([1.5]), np.array([2.25])]))
        {'duration': array([1.5]), 'distance': array([2.25])}
    """

    annotations: tuple[Annotation, ...]
    shift: int
    whole: bool

    @classmethod
    def of_graph(cls, graph: Graph, costs: dict[Annotation, Costs]) -> CostKeys:
        """Choose keys that can hold the cost of every best path of a graph.

        Args:
            graph: the arcs.
            costs: `(arcs,)` costs by name, the one to minimize first.

        Raises:
            ValueError: if two costs are asked for and 61 bits cannot hold both.
        """
        names = tuple(costs)
        whole = all(_in_thousandths(cost) for cost in costs.values())
        first = costs[names[0]]
        farthest = _farthest(graph, first) * PER_ONE
        if whole and farthest >= LARGEST_KEY:
            whole = False
        if len(names) == 1:
            return cls(names, 0, whole)
        shift = LARGEST_KEY.bit_length() - 1 - int(farthest + 1).bit_length()
        # A best path costs at most the farthest, and each thousandth of it comes with at most this much of the second.
        second = farthest * float((costs[names[1]] / first).max(initial=0.0)) if (first > 0).all() else np.inf
        if not whole or not second < 2.0 ** max(shift, 0):
            raise ValueError(
                f"annotations: expected {names[0]} and {names[1]} of best paths to fit into 61 bits as thousandths, "
                "got longer paths or finer costs on this map; ask for one of them at a time"
            )
        return cls(names, shift, whole=True)

    def join(self, costs: list[Costs]) -> Keys:
        """Write costs as keys.

        Args:
            costs: as many arrays as there are annotations, in thousandths where keys are whole.
        """
        if not self.whole:
            return costs[0]
        units = [np.rint(cost * PER_ONE).astype(np.int64) for cost in costs]
        return units[0] if not self.shift else (units[0] << self.shift) + units[1]

    def split(self, keys: Keys) -> dict[Annotation, Costs]:
        """Read costs from keys.

        Args:
            keys: of paths; "no path" becomes infinite.
        """
        if not self.whole:
            return {self.annotations[0]: keys}
        parts = [keys] if not self.shift else [keys >> self.shift, keys & ((1 << self.shift) - 1)]
        found: dict[Annotation, Costs] = {}
        for name, part in zip(self.annotations, parts, strict=True):
            cost = part / PER_ONE  # one division rounds once; a product with .001 would round twice
            cost[keys >= LARGEST_KEY] = np.inf
            found[name] = cost
        return found


def _in_thousandths(costs: Costs) -> bool:
    scaled = costs * PER_ONE
    return bool((np.abs(scaled - np.rint(scaled)) <= ROUNDING).all()) and bool((scaled < 2.0**52).all())


def _farthest(graph: Graph, costs: Costs) -> float:
    """A bound of all finite costs of best paths: the detour through node 0, or the dearest arc of each node."""
    weighted = Graph(indptr=graph.indptr, indices=graph.indices, weights=costs, directed=True)
    through = next(distances_from(weighted, [0], jobs=1)).max() + next(distances_to(weighted, [0], jobs=1)).max()
    if np.isfinite(through):
        return float(through) + 2 * float(costs.max(initial=0.0))  # parts of edges at both ends
    dearest = np.zeros(graph.num_nodes)
    np.maximum.at(dearest, graph.tails, costs)
    return float(dearest.sum()) + 2 * float(costs.max(initial=0.0))
