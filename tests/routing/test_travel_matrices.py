"""Travel matrices and routes against SciPy on a graph in which the places are real nodes."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from town import town_map

from trimetric import routing
from trimetric.graphs import Graph, OffTheMapError
from trimetric.graphs.geography import ground_meters
from trimetric.routing import Positions, RoadMap
from trimetric.routing.costs import CostKeys

SHIFT = 1 << 22  # meters and seconds of the town in thousandths fit side by side into the 53 bits of a float


def streets(seed: int, *, side: int = 7, costs: bool = True) -> RoadMap:
    """A grid of streets with holes, half of them one-way, each with a time and a length that do not agree."""
    random = np.random.default_rng(seed)
    number = np.arange(side * side).reshape(side, side)
    pairs = [*zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)]
    pairs += [*zip(number[:-1].ravel(), number[1:].ravel(), strict=True)]
    kept = [(int(a), int(b)) for a, b in pairs if random.random() < 0.9]
    arcs = [*kept, *((b, a) for a, b in kept if random.random() < 0.6)]
    tails, heads = np.array(arcs).T
    coordinates = np.stack(np.divmod(np.arange(side * side), side), 1) * 0.002 + [-8.0, 41.0]
    coordinates += random.normal(size=coordinates.shape) * 2e-4
    weights = random.integers(1, 50, len(tails)) * (1.0 if random.random() < 0.5 else 0.125)
    graph = Graph.from_arcs(side * side, tails, heads, weights, directed=True, coordinates=coordinates)
    graph = graph.connected(largest=True)
    roads = RoadMap.of_graph(graph)
    if not costs:
        return roads
    meters = random.integers(1, 400, graph.num_arcs) / 8
    return RoadMap(graph=graph, costs={"duration": graph.weights, "distance": meters})


def places_near(roads: RoadMap, count: int, seed: int) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    low, high = roads.graph.coordinates.min(0), roads.graph.coordinates.max(0)  # type: ignore[union-attr]
    places = random.uniform(low - 5e-4, high + 5e-4, (count, 2))
    places[: count // 4] = roads.graph.coordinates[random.integers(roads.graph.num_nodes, size=count // 4)]  # type: ignore[index]
    arcs = random.integers(3, size=count // 4)  # several on the same streets
    t = random.random((len(arcs), 1))
    ends = roads.graph.coordinates[roads.graph.tails[arcs]], roads.graph.coordinates[roads.graph.indices[arcs]]  # type: ignore[index]
    places[-len(arcs) :] = (1 - t) * ends[0] + t * ends[1]
    return places


def by_definition(roads: RoadMap, places: Positions, names: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    """Costs by SciPy on the graph with the places inserted as nodes of their streets."""
    n = roads.graph.num_nodes
    at = np.where(places.nodes >= 0, places.nodes, n + np.arange(len(places)))
    found: dict[tuple[int, int], int] = {}
    for arc, (u, v) in enumerate(zip(roads.graph.tails.tolist(), roads.graph.indices.tolist(), strict=True)):
        ahead = np.flatnonzero(places.arcs == arc)
        back = np.flatnonzero(places.reverse_arcs == arc)
        stops = [(0.0, u), *((places.fractions[i], n + i) for i in ahead), (1.0, v)]
        if len(back):
            stops = [(0.0, u), *((1 - places.fractions[i], n + i) for i in back), (1.0, v)]
        stops.sort()
        units = [[_units(roads, name, arc, t, bool(len(back))) for t, _ in stops] for name in names]
        for k, ((_, a), (_, b)) in enumerate(pairwise(stops)):
            parts = [unit[k + 1] - unit[k] for unit in units]
            key = parts[0] if len(names) == 1 else parts[0] * SHIFT + parts[1]
            found[a, b] = min(found.get((a, b), 1 << 60), key)
            if stops[k][0] == stops[k + 1][0]:  # two places at the same point: from either to the other
                found[b, a] = 0
    tails, heads = np.array(list(found)).T
    # SciPy drops zeros from sparse matrices that it converts; given as CSR arrays they stay.
    order = np.lexsort((heads, tails))
    size = n + len(places)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=size))])
    matrix = csr_array((np.array(list(found.values()), float)[order], heads[order], indptr), shape=(size, size))
    keys = dijkstra(matrix, indices=at)[:, at]
    if len(names) == 1:
        return {names[0]: keys / 1000}
    return {names[0]: keys // SHIFT / 1000, names[1]: keys % SHIFT / 1000}


def _units(roads: RoadMap, name: str, arc: int, t: float, backward: bool) -> int:
    cost = roads.costs[name][arc]  # type: ignore[index]
    # Positions are rounded once per arc, as seen from the tail of the arc that names the street.
    return round(cost * 1000) - round((1 - t) * cost * 1000) if backward else round(t * cost * 1000)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weight", ["time", "length"])
def test_the_matrix_is_that_of_shortest_paths(seed: int, weight: routing.Weight) -> None:
    roads = streets(seed)
    places = routing.snap_to_edges(roads, places_near(roads, 41, seed))
    assert all((kind >= 0).any() for kind in (places.nodes, places.arcs, places.reverse_arcs))
    names = ("duration", "distance") if weight == "time" else ("distance", "duration")
    wanted = by_definition(roads, places, names)
    found = routing.travel_matrix(roads, places, weight=weight)
    for name in names:
        np.testing.assert_array_equal(found.costs[name], wanted[name])
        alone = routing.travel_matrix(roads, places[3:20], places[::2], weight=weight, annotations=[name], jobs=2)
        np.testing.assert_array_equal(alone.costs[name], wanted[name][3:20, ::2])


def test_routes_have_the_costs_of_the_matrix_and_a_line_that_is_as_long(tmp_path: Path) -> None:
    file = tmp_path / "town.osm"
    file.write_text(town_map())
    roads = routing.read_roads(file, cache=tmp_path / "cache")
    again = routing.read_roads(file, cache=tmp_path / "cache")
    assert (again.graph.digest, again.graph.left_out) == (roads.graph.digest, roads.graph.left_out)
    np.testing.assert_array_equal(again.costs["distance"], roads.costs["distance"])
    random = np.random.default_rng(0)
    places = routing.snap_to_edges(roads, random.uniform([-8.0, 41.0], [-7.99, 41.01], (30, 2)))
    matrix = routing.travel_matrix(roads, places)
    copied = routing.travel_matrix(pickle.loads(pickle.dumps(again)), places)
    np.testing.assert_array_equal(copied.durations, matrix.durations)
    for i, j in random.integers(30, size=(40, 2)).tolist():
        found = routing.route(roads, places[i : i + 1], places[j : j + 1])
        assert found is not None
        assert found.costs == {"duration": matrix.durations[i, j], "distance": matrix.distances[i, j]}
        np.testing.assert_array_equal(found.coordinates[[0, -1]], places.coordinates[[i, j]])
        length = ground_meters(found.coordinates[:-1], found.coordinates[1:]).sum()
        assert length == pytest.approx(matrix.distances[i, j], abs=0.001 * (len(found.nodes) + 2))
        for a, b in pairwise(found.nodes.tolist()):
            assert b in roads.graph.indices[roads.graph.indptr[a] : roads.graph.indptr[a + 1]]
    everywhere = routing.reach(roads, places[:1])
    nodes = routing.positions_at_nodes(roads, np.arange(roads.graph.num_nodes))
    np.testing.assert_array_equal(everywhere["duration"], routing.travel_matrix(roads, places[:1], nodes).durations[0])


def test_costs_that_are_no_thousandths_are_exact_up_to_rounding() -> None:
    roads = streets(1, costs=False)
    weights = np.random.default_rng(0).uniform(0.1, 3, roads.graph.num_arcs)
    graph = Graph(**{**roads.graph.__dict__, "weights": weights})
    roads = RoadMap.of_graph(graph, weight="length")
    nodes = np.arange(graph.num_nodes)
    found = routing.travel_matrix(roads, routing.positions_at_nodes(roads, nodes))
    np.testing.assert_allclose(found.distances, dijkstra(graph.to_scipy()), rtol=1e-12)
    with pytest.raises(ValueError, match=r"weight: .*'time'"):
        routing.travel_matrix(roads, routing.positions_at_nodes(roads, nodes), weight="time")


def test_places_that_no_path_joins_are_infinitely_far() -> None:
    graph = Graph.from_arcs(3, [0, 1], [1, 2], [1.0, 2.0], directed=True, coordinates=[[0, 0], [0.01, 0], [0.02, 0]])
    roads = RoadMap.of_graph(graph)
    found = routing.travel_matrix(roads, [[0.005, 0.0], [0.015, 0.0]])
    np.testing.assert_array_equal(found.durations, [[0, 1.5], [np.inf, 0]])
    assert routing.route(roads, [0.015, 0.0], [0.005, 0.0]) is None


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_street_is_the_nearest_of_all(seed: int) -> None:
    roads = streets(seed)
    places = places_near(roads, 60, seed + 10)
    found = routing.snap_to_edges(roads, places)
    start, end = (roads.graph.coordinates[i] for i in (roads.graph.tails, roads.graph.indices))  # type: ignore[index]
    t = np.linspace(0, 1, 2001)[:, None, None]
    line = (1 - t) * start + t * end
    for place, meters, at in zip(places, found.meters, found.coordinates, strict=True):
        best = ground_meters(np.broadcast_to(place, line.reshape(-1, 2).shape), line.reshape(-1, 2)).min()
        assert meters <= best + 1e-6
        assert meters == pytest.approx(best, abs=0.1)
        assert ground_meters(place[None], at[None])[0] == pytest.approx(meters)


def test_snapping_refuses_places_off_the_map_and_names_the_row() -> None:
    roads = streets(0)
    good = places_near(roads, 8, 0)
    with pytest.raises(OffTheMapError, match=r"row 1: expected a longitude and latitude within 500 m .* street"):
        routing.snap_to_edges(roads, [good[0], [2.0, 48.0]])
    with pytest.raises(OffTheMapError, match="swapped, they are"):
        routing.snap_to_edges(roads, good[:, ::-1])
    with pytest.raises(OffTheMapError, match=r"row 0: .*no degrees"):
        routing.snap_to_edges(roads, [[np.nan, 41.0]])
    with pytest.raises(ValueError, match=r"shape \(n, 2\)"):
        routing.snap_to_edges(roads, [1.0, 2.0])
    assert len(routing.snap_to_edges(roads, np.empty((0, 2)))) == 0
    assert routing.travel_matrix(roads, np.empty((0, 2)), good).durations.shape == (0, 8)
    bare = RoadMap.of_graph(Graph.from_arcs(2, [0, 1], [1, 0], [1.0, 1.0], directed=True))
    with pytest.raises(ValueError, match="coordinates"):
        routing.snap_to_edges(bare, good)
    with pytest.raises(ValueError, match="got 'x' in row 1"):
        bare.nodes_of(["0", "x"])


def test_a_graph_without_small_cuts_is_refused_and_keys_that_overflow_too() -> None:
    random = np.random.default_rng(0)
    n = 600
    graph = Graph.from_arcs(n, *random.integers(n, size=(2, 6 * n)), random.integers(1, 9, 6 * n), directed=False)
    roads = RoadMap.of_graph(graph)
    with pytest.raises(ValueError, match="small cuts"):
        routing.travel_matrix(roads, routing.positions_at_nodes(roads, [0, 1]))
    line = Graph.from_arcs(2, [0, 1], [1, 0], [2.0**45, 2.0**45], directed=True)
    with pytest.raises(ValueError, match="61 bits"):
        CostKeys.of_graph(line, {"duration": line.weights, "distance": line.weights})


def test_a_map_without_streets_has_one_place() -> None:
    roads = RoadMap.of_graph(Graph.from_arcs(1, [], [], [], directed=True))
    assert routing.travel_matrix(roads, routing.positions_at_nodes(roads, [0, 0])).durations.tolist() == [
        [0, 0],
        [0, 0],
    ]
