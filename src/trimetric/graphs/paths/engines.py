"""Ways to compute the lengths of shortest paths of many pairs, all of them exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trimetric._support.optional import optional
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.paths.landmarks import Landmarks, choose_landmarks
from trimetric.graphs.paths.trees import distances_from, distances_to

EngineName = Literal["hierarchy", "landmarks", "bidirectional", "scipy"]
Distances = NDArray[np.float64]

LANDMARKS = 16
ACTIVE = 6  # landmarks that guide one search: more cost more for each node than they save
GUIDED_NODE = 2.5  # times the cost of a node in an unguided search; 2.4 to 2.8 on tori of 216 to 15,625 nodes
SOURCES_AT_ONCE = 8  # rows of distances that SciPy keeps
UNITS = (1.0, 0.1, 0.01, 0.001, 0.0001)
ROUNDING = 1e-12  # of .1 and .001 as binary numbers
LARGEST = 2**31 - 1  # of the hierarchy's whole numbers


@dataclass(frozen=True, eq=False)
class Engine:
    """`function(*arrays, sources, targets)` gives the distances.

    Attributes:
        name: of the method.
        function: one that can be imported, for workers elsewhere.
        arrays: what it needs to know of the graph.
        portable: whether that can be sent to other threads and processes.
    """

    name: EngineName
    function: Callable[..., Distances]
    arrays: tuple[Any, ...]
    portable: bool = True

    def distances(self, sources: Nodes, targets: Nodes) -> Distances:
        # Columns of a matrix would be another type to the compiler, and be compiled for anew.
        return self.function(*self.arrays, np.ascontiguousarray(sources), np.ascontiguousarray(targets))


def make_engine(name: EngineName, graph: Graph) -> Engine:
    """The engine of that name, prepared for the graph."""
    if name == "hierarchy":
        return hierarchy_engine(graph)
    if name == "landmarks":
        return landmark_engine(graph)
    return bidirectional_engine(graph) if name == "bidirectional" else scipy_engine(graph)


def work(engine: Engine, sources: Nodes, targets: Nodes) -> float:
    """Count what the search for a pair costs, in nodes of an unguided search, on average.

    Unlike a time, it is the same in every run: engines differ in the rounding of their sums, so a choice by the clock
    would make the distances depend on what else the machine does.

    Args:
        engine: "bidirectional" or "landmarks".
        sources: of the pairs to try.
        targets: as many.
    """
    if engine.name == "bidirectional":
        from trimetric.graphs.paths.dijkstra_kernels import bidirectional

        unguided: Any = bidirectional
        return unguided(*engine.arrays, sources, targets)[1] / len(sources)
    from trimetric.graphs.paths.potential_kernels import guided

    search: Any = guided
    return GUIDED_NODE * search(*engine.arrays, ACTIVE, sources, targets)[1] / len(sources)


def scipy_engine(graph: Graph) -> Engine:
    """A whole tree of shortest paths for each source, by SciPy: slow, and what the others are tested against."""
    return Engine("scipy", _by_scipy, (graph.indptr, graph.indices, graph.weights))


def bidirectional_engine(graph: Graph) -> Engine:
    """Dijkstra's algorithm from both ends."""
    optional("numba", needed_for="the engine 'bidirectional'")
    return Engine("bidirectional", _by_both_ends, _both_ways(graph))


def landmark_engine(graph: Graph, landmarks: Landmarks | None = None) -> Engine:
    """The same, guided by the bounds of landmarks (bidirectional ALT); by 16 farthest ones unless given."""
    optional("numba", needed_for="the engine 'landmarks'")
    known = landmarks or choose_landmarks(graph, min(LANDMARKS, graph.num_nodes))
    return Engine("landmarks", _by_landmarks, (*_both_ways(graph), landmark_potentials(known), not known.directed))


def landmark_potentials(landmarks: Landmarks) -> NDArray[np.float64]:
    """Numbers g with g(y) - g(x) <= D(x, y): distances from landmarks, and minus those to them where they differ."""
    ahead = landmarks.from_landmarks
    table = np.concatenate([ahead, -landmarks.to_landmarks], axis=1) if landmarks.directed else ahead
    return np.ascontiguousarray(table, np.float64)


def hierarchy_engine(graph: Graph) -> Engine:
    """A customisable contraction hierarchy (RoutingKit): for graphs that small cuts divide, such as road networks.

    Graphs that have no such cuts exhaust the memory.  Weights must be whole multiples of 1, .1, ..., .0001; then the
    distances are exact.
    """
    library = optional("routingkit_cch", needed_for="the engine 'hierarchy'")
    weights, unit = whole_units(graph)
    tails, heads = graph.tails.tolist(), graph.indices.tolist()
    if graph.coordinates is None:
        order = library.compute_order_degree(graph.num_nodes, tails, heads)
    else:
        longitude, latitude = graph.coordinates.astype(np.float32).T
        order = library.compute_order_inertial(graph.num_nodes, tails, heads, latitude.tolist(), longitude.tolist())
    hierarchy = library.CCH(order, tails, heads, False)
    metric = library.CCHMetric(hierarchy, weights.tolist())
    return Engine("hierarchy", _by_hierarchy, (library.CCHQuery(metric), unit), portable=False)


def whole_units(graph: Graph) -> tuple[NDArray[np.int64], float]:
    """The weights as whole multiples of a unit; an error where there is none, or where distances would be too large."""
    for unit in UNITS:
        scaled = graph.weights / unit
        whole = np.rint(scaled)
        if (np.abs(scaled - whole) <= ROUNDING * np.maximum(1.0, scaled)).all():
            break
    else:
        raise ValueError(
            f"graph: expected weights that are whole multiples of one of {UNITS} for this engine, got others"
        )
    # No two nodes are farther apart than the way to node 0 and from there.
    farthest = next(distances_from(graph, [0], jobs=1)).max() + next(distances_to(graph, [0], jobs=1)).max()
    if not farthest / unit < LARGEST:
        raise ValueError(
            f"graph: expected distances below {LARGEST:,} units of {unit:g} for this engine, got up to {farthest:g}"
        )
    return whole.astype(np.int64), unit


def is_road_like(graph: Graph) -> bool:
    """Few neighbors a node, and a place for each: a network on the ground, which small cuts divide."""
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


def _by_hierarchy(query: Any, unit: float, sources: Nodes, targets: Nodes) -> Distances:
    found = [
        query.run(source, target).distance for source, target in zip(sources.tolist(), targets.tolist(), strict=True)
    ]
    # One division rounds once; a product with a unit such as .001 would round twice.
    return np.array([np.inf if value is None else value for value in found]) / round(1 / unit)
