"""Wrong calls of graphs and their shortest paths: each error names the argument, what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from refusals import refusal
from scipy.sparse import coo_array, csr_array

from trimetric.graphs import Graph, ShortestPaths, from_networkx, from_scipy
from trimetric.graphs.paths.engines import whole_units
from trimetric.routing import RoadMap, positions_at_nodes, snap_to_edges, travel_matrix
from trimetric.routing.positions import check_positions

RING: Any = ([0, 1, 2], [1, 2, 0], [1.0, 2.0, 4.0])


def ring(**given: Any) -> Graph:
    return Graph.from_arcs(3, *RING, **{"directed": True, **given})


def roads(count: int, *, east: float = 0.0) -> RoadMap:
    nodes = np.arange(count)
    places = np.stack([-8.0 + east + nodes * 0.001, 41.0 + nodes**2 * 0.0001], axis=1)
    graph = Graph.from_arcs(count, nodes, (nodes + 1) % count, nodes + 1.0, directed=True, coordinates=places)
    return RoadMap.of_graph(graph, weight="time")


def networkx_graph(*nodes: object) -> Any:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edges_from(pairwise(nodes), weight=1.0)
    return graph


def paths(**options: Any) -> ShortestPaths:
    return ShortestPaths(ring(), progress="silent", **options)


MASKED = np.ma.masked_equal([1.0, 2.0, 4.0], 4)

CASES: dict[str, tuple[Callable[[], object], str]] = {
    "arcs of two axes": (
        lambda: Graph.from_arcs(2, [[0, 1]], [[1, 0]], [[1.0, 1.0]], directed=True),
        "tails: expected a list of nodes, got shape (1, 2)",
    ),
    "one arc": (lambda: Graph.from_arcs(2, 0, 1, 1.0, directed=True), "tails: expected a list of nodes, got shape ()"),
    "uneven lists": (
        lambda: Graph.from_arcs(2, [[0], [0, 1]], [1], [1.0], directed=True),  # type: ignore[arg-type]
        "tails: expected whole numbers of nodes, got list",
    ),
    "weights of text": (
        lambda: Graph.from_arcs(2, [0], [1], ["far"], directed=True),
        "weights: expected numbers, got list",
    ),
    "complex weights": (
        lambda: Graph.from_arcs(2, [0], [1], [1j], directed=True),
        "weights: expected numbers, got list (complex numbers)",
    ),
    "masked weights": (
        lambda: Graph.from_arcs(3, RING[0], RING[1], MASKED, directed=True),
        "weights: expected an array without a mask, got a masked array",
    ),
    "masked tails": (
        lambda: Graph.from_arcs(5, MASKED.astype(int), RING[1], RING[2], directed=True),
        "tails: expected an array without a mask, got a masked array",
    ),
    "names that can be read once": (
        lambda: ring(names=iter("abc")),
        "names: expected a list with a name for each node, got str",
    ),
    "a set of names": (lambda: ring(names=set("abc")), "names: expected a list with a name for each node, got set"),
    "a table of names": (
        lambda: ring(names=np.array([["a"], ["b"], ["c"]])),
        "names: expected a list with a name for each node, got shape (3, 1)",
    ),
    "two names": (lambda: ring(names=["a", "b"]), "names: expected one for each of the 3 nodes, got 2"),
    "coordinates in space": (
        lambda: ring(coordinates=np.zeros((3, 3))),
        "coordinates: expected shape (3, 2), two for each node, got (3, 3)",
    ),
    "coordinates on a line": (lambda: ring(coordinates=[1, 2, 3]), "coordinates: expected shape (3, 2)"),
    "one coordinate": (lambda: ring(coordinates=1.0), "coordinates: expected shape (3, 2), two for each node, got ()"),
    "directed no": (lambda: ring(directed="no"), "directed: expected True or False, got 'no'"),
    "a node twice": (lambda: ring().subgraph([0, 1, 0]), "nodes: expected different nodes, got 0 more than once"),
    "a node as a part": (lambda: ring().subgraph(0), "nodes: expected a list of nodes, got shape ()"),
    "a dense matrix": (lambda: from_scipy(np.ones((3, 3))), "matrix: expected a SciPy sparse matrix or array, such"),
    "1 and '1'": (
        lambda: from_networkx(networkx_graph(1, "1", 2)),
        "graph: expected nodes that differ as text, got 1 and '1'",
    ),
    "no graph": (lambda: ShortestPaths("ring"), "graph: expected a Graph, got str"),  # type: ignore[arg-type]
    "no jobs": (lambda: paths(jobs=0), "jobs: expected a positive integer, got 0"),
    "jobs below 0": (lambda: paths(jobs=-1), "jobs: expected a positive integer, got -1"),
    "two sources": (lambda: paths().one_to_many([0, 1]), "source: expected one node, got shape (2,)"),  # type: ignore[arg-type]
    "from a node": (lambda: paths().from_nodes(0), "nodes: expected a list of nodes, got shape ()"),
    "to a node": (lambda: paths().to_nodes(0), "nodes: expected a list of nodes, got shape ()"),
    "travel without jobs": (
        lambda: travel_matrix(roads(3), positions_at_nodes(roads(3), [0]), jobs=0),
        "jobs: expected a positive integer, got 0",
    ),
    "nodes of a larger map": (
        lambda: travel_matrix(roads(3), positions_at_nodes(roads(9), [1, 7])),
        "sources: expected positions on this map of 3 nodes, got number 7 of another map at index 1",
    ),
    "arcs of a larger map": (
        lambda: travel_matrix(roads(3), [[-8.0, 41.0]], snap_to_edges(roads(9), [[-7.9955, 41.00205]])),
        "targets: expected positions on this map of 3 arcs, got number 4 of another map at index 0",
    ),
    "nodes of a map elsewhere": (
        lambda: travel_matrix(roads(3), positions_at_nodes(roads(3, east=0.5), [0, 2])),
        "sources: expected positions on this map, got one at longitude -7.5, latitude 41, which",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message(case: str) -> None:
    call, expected = CASES[case]
    message = refusal(call)
    assert expected in message
    assert ": expected " in message


def test_entries_of_scipy_at_one_place_are_added() -> None:
    rows, columns, values = [0, 0, 1, 2, 0], [1, 1, 2, 0, 1], np.array([100, 100, 2, 3, 50], np.int8)
    given = coo_array((values, (rows, columns)), shape=(3, 3))
    for matrix in (given, given.astype(float), given.astype(float).tocsr()):
        np.testing.assert_array_equal(from_scipy(matrix).to_scipy().toarray(), [[0, 250, 0], [0, 0, 2], [3, 0, 0]])
    assert given.nnz == 5
    repeated = csr_array((np.array([1.0, 4.0, 2.0, 3.0]), np.array([1, 1, 2, 0]), np.array([0, 2, 3, 4])), shape=(3, 3))
    np.testing.assert_array_equal(from_scipy(repeated).to_scipy().toarray(), repeated.toarray())
    assert repeated.nnz == 4
    zero = coo_array(([0.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2))
    assert from_scipy(zero).num_arcs == 2


@pytest.mark.parametrize("small", [1e-300, 1e-13, 4e-13, 1e-5])
def test_a_small_weight_is_not_rounded_to_no_units(small: float) -> None:
    graph = Graph.from_arcs(2, [0, 1], [1, 0], [small, 1.0], directed=True)
    with pytest.raises(ValueError, match="expected weights that are whole multiples of one of"):
        whole_units(graph)
    zero = Graph.from_arcs(2, [0, 1], [1, 0], [0.0, 0.3], directed=True)
    whole, unit = whole_units(zero)
    assert (whole.tolist(), unit) == ([0, 3], 0.1)


def test_the_automatic_engine_keeps_small_weights() -> None:
    pytest.importorskip("routingkit_cch")
    n = 40
    nodes = np.arange(n)
    graph = Graph.from_arcs(
        n, nodes, (nodes + 1) % n, np.full(n, 1e-13), directed=True, coordinates=np.stack([nodes, nodes], axis=1)
    )
    with pytest.raises(ValueError, match="for this engine"):
        ShortestPaths(graph, engine="hierarchy", progress="silent").pairs([0], [1])
    found = ShortestPaths(graph, progress="silent").pairs(np.zeros(600, int), np.ones(600, int))
    assert (found == 1e-13).all()


def test_the_only_node_of_a_map_is_a_position_on_it() -> None:
    alone = RoadMap.of_graph(Graph.from_arcs(1, [], [], [], directed=True, coordinates=[[-8.0, 41.0]]), weight="time")
    check_positions(alone, "sources", positions_at_nodes(alone, [0, 0]))


def test_positions_across_the_date_line_belong_to_their_map() -> None:
    places = [[179.9995, 10.0], [-179.9995, 10.0], [179.9995, 10.001]]
    world = RoadMap.of_graph(ring(coordinates=places), weight="time")
    middle = snap_to_edges(world, [[-179.99975, 10.0], [179.99975, 10.0]])
    assert (middle.nodes < 0).all()
    assert travel_matrix(world, middle, positions_at_nodes(world, [0, 1, 2])).durations.shape == (2, 3)
