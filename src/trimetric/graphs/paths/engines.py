"""Engines that compute the shortest-path lengths of many pairs, all of them exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trimetric._support.optional import optional
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.paths.hierarchy import Hierarchy
from trimetric.graphs.paths.landmarks import Landmarks, choose_landmarks
from trimetric.graphs.paths.trees import distances_from, distances_to

EngineName = Literal["hierarchy", "landmarks", "bidirectional", "scipy"]
Distances = NDArray[np.float64]

LANDMARKS = 16
ACTIVE = 6  # landmarks that guide one search: more of them cost more per node than they save
GUIDED_NODE = 2.5  # times the cost of a node in an unguided search; 2.4 to 2.8 on tori of 216 to 15,625 nodes
SOURCES_AT_ONCE = 8  # rows of distances that SciPy keeps in memory
UNITS = (1.0, 0.1, 0.01, 0.001, 0.0001)
ROUNDING = 1e-12  # .1 and .001 are not exact as binary numbers
LARGEST = 2**31 - 1  # the hierarchy computes with 32-bit integers


@dataclass(frozen=True, eq=False)
class Engine:
    """A method prepared for a graph: `function(*arrays, sources, targets)` computes the distances.

    Attributes:
        name: the name of the method.
        function: an importable function, so that workers elsewhere can run it.
        arrays: what the function needs to know about the graph.
        portable: whether it pays to send `arrays` to other threads and processes.
    """

    name: EngineName
    function: Callable[..., Distances]
    arrays: tuple[Any, ...]
    portable: bool = True

    def distances(self, sources: Nodes, targets: Nodes) -> Distances:
        """Compute the distance of each pair.

        Args:
            sources: the node where each path starts.
            targets: the node where each path ends.
        """
        # Columns of a matrix would be another type to the compiler, which would compile again.
        return self.function(*self.arrays, np.ascontiguousarray(sources), np.ascontiguousarray(targets))


def make_engine(name: EngineName, graph: Graph) -> Engine:
    """Prepare an engine for a graph.

    Args:
        name: which engine.
        graph: the graph.
    """
    if name == "hierarchy":
        return hierarchy_engine(graph)
    if name == "landmarks":
        return landmark_engine(graph)
    return bidirectional_engine(graph) if name == "bidirectional" else scipy_engine(graph)


def count_work(engine: Engine, sources: Nodes, targets: Nodes) -> float:
    """Count the average cost of the search for a pair, in nodes of an unguided search.

    Unlike a time, it is the same in every run.  Engines differ in the rounding of their sums, so a choice by time would
    make the distances depend on what else the machine is doing.

    Args:
        engine: "bidirectional" or "landmarks".
        sources: the node where each path starts.
        targets: the node where each path ends.
    """
    if engine.name == "bidirectional":
        from trimetric.graphs.paths.dijkstra_kernels import bidirectional

        unguided: Any = bidirectional
        return unguided(*engine.arrays, sources, targets)[1] / len(sources)
    from trimetric.graphs.paths.potential_kernels import guided

    search: Any = guided
    return GUIDED_NODE * search(*engine.arrays, ACTIVE, sources, targets)[1] / len(sources)


def scipy_engine(graph: Graph) -> Engine:
    """Grow a whole shortest-path tree for each source, by SciPy: slow, and what the others are tested against."""
    return Engine("scipy", _by_scipy, (graph.indptr, graph.indices, graph.weights))


def bidirectional_engine(graph: Graph) -> Engine:
    """Run Dijkstra's algorithm from both ends."""
    optional("numba", needed_for="the engine 'bidirectional'")
    return Engine("bidirectional", _by_both_ends, _both_ways(graph))


def landmark_engine(graph: Graph, landmarks: Landmarks | None = None) -> Engine:
    """Run Dijkstra's algorithm from both ends, guided by the bounds of landmarks (bidirectional ALT).

    Args:
        graph: the graph.
        landmarks: their distances; by default 16 landmarks far from each other.
    """
    optional("numba", needed_for="the engine 'landmarks'")
    known = landmarks or choose_landmarks(graph, min(LANDMARKS, graph.num_nodes))
    return Engine("landmarks", _by_landmarks, (*_both_ways(graph), landmark_potentials(known), not known.directed))


def landmark_potentials(landmarks: Landmarks) -> NDArray[np.float64]:
    """Potentials g, with g(y) - g(x) <= d(x, y): distances from landmarks, and minus those to them where they differ.

    Args:
        landmarks: their distances.

    Returns:
        `(n, potentials)` in float64.
    """
    ahead = landmarks.from_landmarks
    table = np.concatenate([ahead, -landmarks.to_landmarks], axis=1) if landmarks.directed else ahead
    return np.ascontiguousarray(table, np.float64)


def hierarchy_engine(graph: Graph) -> Engine:
    """Build a customizable contraction hierarchy (RoutingKit): for graphs with small cuts, such as road networks.

    Graphs without small cuts exhaust the memory.  Weights must be integer multiples of 1, .1, ..., .0001; then the
    distances are exact.
    """
    optional("routingkit_cch", needed_for="the engine 'hierarchy'")
    weights, unit = whole_units(graph)
    hierarchy = Hierarchy.of_graph(graph, weights, per_one=round(1 / unit))
    return Engine("hierarchy", _by_hierarchy, (hierarchy,), portable=False)


def whole_units(graph: Graph) -> tuple[NDArray[np.int64], float]:
    """Express the weights as integer multiples of a unit; an error where that is impossible or distances overflow."""
    for unit in UNITS:
        scaled = graph.weights / unit
        whole = np.rint(scaled)
        if (np.abs(scaled - whole) <= ROUNDING * scaled).all():
            break
    else:
        raise ValueError(
            f"graph: expected weights that are whole multiples of one of {UNITS} for this engine, got others"
        )
    # No two nodes are farther apart than the path through node 0.
    farthest = next(distances_from(graph, [0], jobs=1)).max() + next(distances_to(graph, [0], jobs=1)).max()
    if np.isinf(farthest):  # nor than a path that leaves every node once, where not all are connected to node 0
        farthest = _largest_of_each_row(graph).sum()
    if not farthest / unit < LARGEST:
        raise ValueError(
            f"graph: expected distances below {LARGEST:,} units of {unit:g} for this engine, got up to {farthest:g}"
        )
    # An arc that is longer than all distances is on no shortest path, and must not overflow either.
    return np.minimum(whole, LARGEST).astype(np.int64), unit


def _largest_of_each_row(graph: Graph) -> Distances:
    largest = np.zeros(graph.num_nodes)
    np.maximum.at(largest, graph.tails, graph.weights)
    return largest


def is_road_like(graph: Graph) -> bool:
    """Whether the graph has coordinates and few neighbors per node, as road networks do, which have small cuts."""
    if graph.coordinates is None:
        return False
    arcs = graph.num_arcs if not graph.directed else graph.symmetrize().num_arcs
    return arcs < 3.2 * graph.num_nodes


def _both_ways(graph: Graph) -> tuple[Any, ...]:
    back = graph.reverse
    return graph.indptr, graph.indices, graph.weights, back.indptr, back.indices, back.weights


def _by_scipy(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: Distances, sources: Nodes, targets: Nodes
) -> Distances:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    n = len(indptr) - 1
    graph = csr_array((weights, indices, indptr), shape=(n, n))
    different, rows = np.unique(sources, return_inverse=True)
    found = np.empty(len(sources))
    for first in range(0, len(different), SOURCES_AT_ONCE):
        block = dijkstra(graph, indices=different[first : first + SOURCES_AT_ONCE])
        here = np.flatnonzero((rows >= first) & (rows < first + SOURCES_AT_ONCE))
        found[here] = block[rows[here] - first, targets[here]]
    return found


def _by_both_ends(*arguments: Any) -> Distances:
    from trimetric.graphs.paths.dijkstra_kernels import bidirectional

    return bidirectional(*arguments)[0]


def _by_landmarks(*arguments: Any) -> Distances:
    from trimetric.graphs.paths.potential_kernels import guided

    *arrays, sources, targets = arguments
    search: Any = guided
    found = search(*arrays, ACTIVE, sources, targets)[0]
    again = np.isnan(found)
    if again.any():
        found[again] = _by_both_ends(*arrays[:6], sources[again], targets[again])
    return found


def _by_hierarchy(hierarchy: Hierarchy, sources: Nodes, targets: Nodes) -> Distances:
    return hierarchy.pairs(sources, targets)
