"""Graphs: the paper's five by number and by rule, maps and files, and what is refused."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import trimetric as tm
from trimetric.files.errors import InputError
from trimetric.graphs import Graph
from trimetric.graphs.files.osm_process import BACKWARD, BOTH, ONWARD, direction, is_for_cars, speed_of
from trimetric.graphs.geography import ground_meters

PORTO = Path(os.environ.get("TRIMETRIC_PORTO", ROOT.parent / "shared" / "data" / "porto" / "porto_portugal.osm.pbf"))


# The paper's graphs


@pytest.mark.parametrize(
    ("make", "nodes", "edges", "directed"),
    [
        (tm.graphs.torus3d, 125_000, 375_000, False),
        (tm.graphs.torus3d_directed, 125_000, 375_000, True),
        (tm.graphs.taxi, 391_250, 751_825, False),
        (tm.graphs.push, 390_000, 1_497_600, True),
    ],
)
def test_counts_are_the_papers(make: Callable[..., Graph], nodes: int, edges: int, directed: bool) -> None:
    graph = make(seed=0)
    assert (graph.num_nodes, graph.num_edges, graph.directed) == (nodes, edges, directed)
    assert graph.components()[0] == 1
    hundredths = np.rint(graph.weights * 100)
    np.testing.assert_allclose(graph.weights * 100, hundredths, atol=1e-9)
    assert (hundredths.min(), hundredths.max()) == (1, 100)
    assert abs(graph.weights.mean() - 0.505) < 0.005
    assert graph.digest == make(seed=0).digest != make(seed=1).digest


def test_pruned_torus() -> None:
    graph = tm.graphs.torus3d_pruned(seed=0)
    assert graph.components()[0] == 1
    assert abs(graph.num_nodes - 122_558) < 300
    assert abs(graph.num_edges - 367_674) < 900
    assert np.diff(graph.indptr).max() == 3


def test_torus_is_a_cube_that_wraps_around() -> None:
    side = 4
    graph = tm.graphs.torus3d(seed=3, side=side)
    places = np.stack(np.unravel_index(np.arange(side**3), (side,) * 3), axis=1)
    steps = (places[graph.indices] - places[graph.tails]) % side
    steps = np.minimum(steps, side - steps)
    assert (steps.sum(axis=1) == 1).all()
    assert (np.diff(graph.indptr) == 6).all()
    dense = graph.to_scipy().toarray()
    np.testing.assert_array_equal(dense, dense.T)
    # The directed and the pruned ones have the weights of the same edges.
    for made in (tm.graphs.torus3d_directed(seed=3, side=side), tm.graphs.torus3d_pruned(seed=3, side=side)):
        if made.num_nodes == graph.num_nodes:
            np.testing.assert_array_equal(dense[made.tails, made.indices], made.weights)


def test_taxi_by_rule() -> None:
    side, cells = 3, 9
    graph = tm.graphs.taxi(seed=0, side=side)
    expected = set()
    for taxi in range(cells):
        moves = _neighbors(taxi, side)
        for other in moves:
            expected |= {(taxi * cells + passenger, other * cells + passenger) for passenger in range(cells)}
            expected.add((cells**2 + taxi, cells**2 + other))
        expected |= {(taxi * cells + taxi, cells**2 + taxi), (cells**2 + taxi, taxi * cells + taxi)}
    assert set(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True)) == expected


def test_distances_of_taxi_are_two_tolls_and_a_metric_between_passengers() -> None:
    cells = 16
    graph = tm.graphs.taxi(seed=0, side=4)
    exact = tm.graphs.ShortestPaths(graph, engine="scipy", progress="silent")
    start, end = np.divmod(np.random.default_rng(0).permutation(cells**4)[:500], cells**2)
    (waiting, goal), differ = (start % cells, end % cells), start % cells != end % cells
    at_first, at_last = waiting * (cells + 1), goal * (cells + 1)  # the taxi is where the passenger is
    parts = [exact.pairs(*ends) for ends in ((start, at_first), (at_first, at_last), (at_last, end))]
    assert differ.sum() > 400
    assert np.allclose(exact.pairs(start, end)[differ], sum(parts)[differ])  # type: ignore[index]


def test_push_by_rule() -> None:
    side, cells = 3, 9
    graph = tm.graphs.push(seed=0, side=side)

    def number(agent: int, box: int) -> int:
        return agent * (cells - 1) + box - (box > agent)

    expected = set()
    for agent in range(cells):
        for box in range(cells):
            for there in _neighbors(agent, side) if box != agent else ():
                after = box
                if there == box:
                    row, column = 2 * (box // side) - agent // side, 2 * (box % side) - agent % side
                    inside = 0 <= row < side and 0 <= column < side
                    after = row * side + column if inside else agent
                expected.add((number(agent, box), number(there, after)))
    assert set(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True)) == expected


def _neighbors(cell: int, side: int) -> list[int]:
    row, column = divmod(cell, side)
    steps = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
    return [r * side + c for r, c in steps if 0 <= r < side and 0 <= c < side]


# The class


def test_parallel_arcs_and_loops() -> None:
    graph = Graph.from_arcs(3, [0, 0, 1, 2, 2], [1, 1, 2, 0, 2], [5.0, 2.0, 0.0, 1.0, 9.0], directed=True)
    assert graph.num_edges == 3
    np.testing.assert_array_equal(dijkstra(graph.to_scipy()), [[0, 2, 2], [1, 0, 0], [1, 3, 0]])
    np.testing.assert_array_equal(dijkstra(graph.reverse.to_scipy()), dijkstra(graph.to_scipy()).T)
    both = graph.symmetrize()
    assert not both.directed
    assert both.num_edges == 3
    assert both.reverse is both


def test_components_are_counted_and_the_largest_taken_on_request() -> None:
    graph = Graph.from_arcs(
        5, [0, 1, 2, 3], [1, 2, 0, 4], np.ones(4), directed=True, names=list("abcde"), coordinates=np.eye(5)[:, :2]
    )
    with pytest.raises(
        ValueError, match=r"got 3 components, the largest with 3 of 5 nodes; the option `largest` takes"
    ):
        graph.connected()
    part = graph.connected(largest=True)
    assert part.ids() == ["a", "b", "c"]
    np.testing.assert_array_equal(part.coordinates, np.eye(5)[:3, :2])  # type: ignore[arg-type]
    assert part.connected() is part


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        (([0], [1], [-1.0]), r"weights: expected finite numbers >= 0, got -1 from node 0 to 1"),
        (([0], [1], [np.nan]), "got nan from node 0 to 1"),
        (([0], [7], [1.0]), r"heads: expected nodes from 0 to 1, got 7"),
        (([-1], [0], [1.0]), r"tails: expected nodes from 0 to 1, got -1"),
        (([0, 1], [1, 0], [1.0]), r"weights: expected one for each arc"),
    ],
)
def test_bad_arcs(arcs: tuple[list, list, list], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Graph.from_arcs(2, *arcs, directed=True)


# Other libraries


def test_networkx_and_scipy_there_and_back() -> None:
    networkx = pytest.importorskip("networkx")
    graph = tm.graphs.torus3d_directed(seed=0, side=3)
    for made in (tm.graphs.from_networkx(tm.graphs.to_networkx(graph)), tm.graphs.from_scipy(graph.to_scipy())):
        assert made.digest == graph.digest
    streets = networkx.MultiDiGraph()
    streets.add_node("a", x=1.0, y=2.0)
    streets.add_node("b", x=3.0, y=4.0)
    streets.add_edge("a", "b", length=3.0)
    streets.add_edge("a", "b", length=2.0)
    streets.add_edge("b", "a", length=1.0)
    made = tm.graphs.from_networkx(streets, weight="length")
    np.testing.assert_array_equal(made.to_scipy().toarray(), [[0, 2], [1, 0]])
    np.testing.assert_array_equal(made.coordinates, [[1, 2], [3, 4]])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected an attribute 'weight' of each edge, got none from 'a' to 'b'"):
        tm.graphs.from_networkx(streets)
    with pytest.raises(ValueError, match="got 2 components"):
        tm.graphs.from_scipy(csr_array(np.array([[0, 1.0], [0, 0]])))


# Files


OSM_FILE = """<?xml version='1.0' encoding='UTF-8'?>
<osm version="0.6">
 <node id="1" lat="41.0" lon="-8.0"/><node id="2" lat="41.0" lon="-7.99"/><node id="3" lat="41.01" lon="-7.99"/>
 <node id="4" lat="41.01" lon="-8.0"/><node id="5" lat="41.5" lon="-8.0"/>
 <way id="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way>
 <way id="2"><nd ref="2"/><nd ref="3"/><tag k="highway" v="primary"/><tag k="oneway" v="yes"/>
  <tag k="maxspeed" v="50"/></way>
 <way id="3"><nd ref="4"/><nd ref="3"/><tag k="highway" v="primary"/><tag k="oneway" v="-1"/></way>
 <way id="4"><nd ref="4"/><nd ref="1"/><nd ref="99"/><tag k="highway" v="service"/></way>
 <way id="5"><nd ref="1"/><nd ref="3"/><tag k="highway" v="footway"/></way>
 <way id="6"><nd ref="1"/><nd ref="3"/><tag k="highway" v="service"/><tag k="access" v="private"/></way>
 <way id="7"><nd ref="1"/><nd ref="5"/><tag k="highway" v="residential"/><tag k="oneway" v="yes"/></way>
</osm>
"""


@pytest.fixture
def osm(tmp_path: Path) -> Path:
    pytest.importorskip("osmium")
    file = tmp_path / "town.osm"
    file.write_text(OSM_FILE)
    return file


def test_osm(osm: Path) -> None:
    graph = tm.graphs.read_graph(osm)
    assert graph.ids() == ["1", "2", "3", "4"]  # 5 cannot be left
    arcs = set(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True))
    assert arcs == {(0, 1), (1, 0), (1, 2), (2, 3), (3, 0), (0, 3)}
    metres = graph.to_scipy().toarray()
    assert metres[0, 1] == pytest.approx(839.2, abs=0.2)
    assert metres[1, 2] == pytest.approx(1112.0, abs=0.2)
    np.testing.assert_array_equal(graph.coordinates[2], [-7.99, 41.01])  # type: ignore[index]
    seconds = tm.graphs.read_osm(osm, weight="time").to_scipy().toarray()
    assert seconds[1, 2] == pytest.approx(metres[1, 2] / (0.85 * 50 / 3.6), abs=1e-3)
    assert seconds[0, 1] == pytest.approx(metres[0, 1] / (30 / 3.6), abs=1e-3)
    both = tm.graphs.read_graph(osm, symmetrize=True)
    assert (both.directed, both.num_nodes, both.num_edges) == (False, 5, 5)
    with pytest.raises(InputError, match=r"town.osm: graph: .* got 2 components, the largest with 4 of 5 nodes"):
        tm.graphs.read_osm(osm, largest=False)


def test_osm_tags() -> None:
    assert direction({"highway": "motorway"}) == direction({"junction": "roundabout"}) == ONWARD
    assert direction({"highway": "motorway", "oneway": "no"}) == BOTH
    assert direction({"oneway": "-1"}) == BACKWARD
    assert speed_of({"maxspeed": "30 mph", "highway": "road"}) == pytest.approx(0.85 * 48.28, abs=0.01)
    assert speed_of({"maxspeed": "PT:urban", "highway": "motorway"}) == 110
    assert not is_for_cars({"highway": "residential", "motor_vehicle": "no"})
    quarter = ground_meters(np.array([[0.0, 0.0]]), np.array([[0.0, 90.0]]))
    assert quarter[0] == pytest.approx(10_007_557, abs=1)


def test_porto() -> None:
    if not PORTO.exists():
        pytest.skip("needs a map of Porto: set TRIMETRIC_PORTO to its .osm.pbf file")
    pytest.importorskip("osmium")
    graph = tm.graphs.read_graph(PORTO)
    assert (graph.num_nodes, graph.num_arcs) == (269_924, 517_042)
    pairs = graph.tails.astype(np.int64) * graph.num_nodes + graph.indices
    back = graph.indices.astype(np.int64) * graph.num_nodes + graph.tails
    assert np.isin(back, pairs, invert=True).sum() == 64_274


DIMACS = "c a triangle\np sp 3 4\na 1 2 5\na 2 3 7\na 3 1 2\na 1 3 9\n"


def test_dimacs(tmp_path: Path) -> None:
    plain, packed = tmp_path / "g.gr", tmp_path / "h.gr.gz"
    plain.write_text(DIMACS)
    packed.write_bytes(gzip.compress(DIMACS.encode()))
    (tmp_path / "g.co").write_text("p aux sp co 3\nv 1 -8000000 41000000\nv 3 0 0\nv 2 1 2\n")
    graph = tm.graphs.read_graph(plain)
    np.testing.assert_array_equal(graph.to_scipy().toarray(), [[0, 5, 9], [0, 0, 7], [2, 0, 0]])
    np.testing.assert_array_equal(graph.coordinates, [[-8, 41], [1e-6, 2e-6], [0, 0]])  # type: ignore[arg-type]
    assert graph.ids() == ["1", "2", "3"]
    assert tm.graphs.read_graph(packed).digest == graph.digest
    assert tm.graphs.read_graph(packed, symmetrize=True).num_edges == 3


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("a 3 1 2", "a 3 1 -2", r"g.gr, line 5: expected a finite weight >= 0, got '-2'"),
        ("a 3 1 2", "a 3 4 2", r"g.gr: expected nodes from 1 to 3, got the arc \[3.0, 4.0, 2.0\]"),
        ("a 3 1 2", "a 3 1", r"g.gr, line 5: expected 3 numbers after 'a', got '3 1'"),
        ("a 3 1 2", "x 3 1 2", r"g.gr, line 5: expected a line that begins with c, p or a, got 'x 3 1 2"),
        ("a 3 1 2", "a 1 3 2", r"g.gr: graph: .* got 3 components, the largest with 1 of 3"),
        ("p sp 3 4", "p sp 3 5", r"g.gr: expected 5 arcs as its line 'p sp' says, got 4"),
        ("p sp 3 4", "c", r"g.gr: expected a line 'p sp NODES ARCS', got ''"),
    ],
)
def test_bad_dimacs(tmp_path: Path, before: str, after: str, message: str) -> None:
    file = tmp_path / "g.gr"
    file.write_text(DIMACS.replace(before, after))
    with pytest.raises(InputError, match=message):
        tm.graphs.read_graph(file)


def test_edge_lists(tmp_path: Path) -> None:
    file = tmp_path / "streets.csv"
    file.write_text("from,to,weight\na,b,1.5\nb,c,2\nc,a,1\na,c,4\n")
    graph = tm.graphs.read_graph(file)
    assert graph.ids() == ["a", "b", "c"]
    np.testing.assert_array_equal(dijkstra(graph.to_scipy()), [[0, 1.5, 3.5], [3, 0, 2], [1, 2.5, 0]])
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"from": [7, 8, 9], "to": [8, 9, 7], "weight": [1.0, 2.0, 3.0]})
    parquet.write_table(table, tmp_path / "streets.parquet")
    assert tm.graphs.read_graph(tmp_path / "streets.parquet").ids() == ["7", "8", "9"]
    file.write_text("from,to,weight\na,b,1.5\nb,a,-2\n")
    with pytest.raises(InputError, match=r"streets.csv, line 3: weight: expected a number >= 0, got '-2'"):
        tm.graphs.read_graph(file)
    file.write_text("from,to,weight\na,b,1.5\nc,d,2\n")
    with pytest.raises(InputError, match=r"streets.csv: graph: .* got 2 components"):
        tm.graphs.read_graph(file, symmetrize=True)
    assert tm.graphs.read_graph(file, symmetrize=True, largest=True).num_nodes == 2
    with pytest.raises(InputError, match=r"expected a name that ends in .osm.pbf, .pbf, .osm, .osm.gz"):
        tm.graphs.read_graph(tmp_path / "streets.shp")
