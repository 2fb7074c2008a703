"""Matrices of exact distances: equal to SciPy's by every engine, in blocks and processes, on any lists of nodes."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from random_graphs import random_graph
from scipy.sparse.csgraph import dijkstra
from test_shortest_paths import PORTO

import trimetric as tm
from trimetric.graphs import Graph, ShortestPaths
from trimetric.graphs.paths import matrices
from trimetric.graphs.paths.engines import EngineName, make_engine
from trimetric.graphs.paths.hierarchy import Hierarchy

pytest.importorskip("numba")

LISTS = {
    "more targets": ([3, 50, 3], [9, 9, 0, 3, 59, 12, 50]),
    "more sources": ([9, 9, 0, 3, 59, 12, 50], [3, 50, 3]),
    "one": ([7], [8]),
    "the same": ([7], [7]),
    "one source": ([7], [8, 7, 30]),
    "one target": ([8, 7, 30], [7]),
    "no sources": ([], [1, 2]),
    "no targets": ([1, 2], []),
    "nothing": ([], []),
    "many": (list(range(60)), list(range(59, -1, -1))),
}


def in_parts(seed: int, *, directed: bool = True) -> Graph:
    """A graph in which many nodes do not reach each other, and the last has no arc at all."""
    random = np.random.default_rng(seed)
    (tails, heads), weights = random.integers(59, size=(2, 50)), random.integers(0, 200, 50) / 100
    return Graph.from_arcs(60, tails, heads, weights, directed=directed, coordinates=random.random((60, 2)))


def shortest_paths(graph: Graph, engine: EngineName | str) -> ShortestPaths:
    if engine == "hierarchy":
        pytest.importorskip("routingkit_cch")
    return ShortestPaths(graph, engine=engine, jobs=1, progress="silent")  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["auto", *get_args(EngineName)])
@pytest.mark.parametrize("lists", LISTS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_matrices_are_exact(engine: str, lists: str, directed: bool) -> None:
    sources, targets = LISTS[lists]
    for graph in (random_graph(4, directed=directed, zeros=True), in_parts(5, directed=directed)):
        if engine == "landmarks" and graph.components()[0] > 1:
            continue  # landmarks need a connected graph
        exact = dijkstra(graph.to_scipy())[np.ix_(np.array(sources, int), np.array(targets, int))]
        paths = shortest_paths(graph, engine)
        found = paths.many_to_many(sources, targets)
        assert found.dtype == np.float64
        assert found.shape == (len(sources), len(targets))
        np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-12)
        if sources:
            np.testing.assert_allclose(paths.one_to_many(sources[0], targets), exact[0], rtol=1e-12, atol=1e-12)
        if targets:
            back = paths.one_to_many(targets[0], sources, reverse=True)
            np.testing.assert_allclose(back, exact[:, 0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(paths.from_nodes(targets), dijkstra(graph.to_scipy())[targets], rtol=1e-12)
        np.testing.assert_allclose(paths.to_nodes(targets), dijkstra(graph.to_scipy())[:, targets].T, rtol=1e-12)


@pytest.mark.parametrize("engine", ["hierarchy", "scipy", "bidirectional"])
@pytest.mark.parametrize("shape", [(23, 7), (7, 23)])
def test_blocks(engine: str, shape: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "BLOCK", 100)
    monkeypatch.setattr(matrices, "PAIRS_AT_ONCE", 10)
    graph = in_parts(6)
    sources, targets = (np.random.default_rng(i).integers(60, size=count) for i, count in enumerate(shape))
    exact = dijkstra(graph.to_scipy())[np.ix_(sources, targets)]
    paths = shortest_paths(graph, engine)
    for dtype, rounding in ((np.float64, 1e-12), (np.float32, 1e-6)):
        kept = np.memmap(tmp_path / f"{dtype.__name__}.bin", dtype, "w+", shape=shape)
        assert paths.many_to_many(sources, targets, out=kept) is kept
        np.testing.assert_allclose(kept, exact, rtol=rounding)
    wide = np.zeros((shape[0], 3 * shape[1]))
    paths.many_to_many(sources, targets, out=wide[:, ::3])
    np.testing.assert_allclose(wide[:, ::3], exact, rtol=1e-12)
    assert not wide[:, 1::3].any()


def test_an_array_that_cannot_be_filled_is_refused() -> None:
    paths = ShortestPaths(random_graph(0), progress="silent")
    with pytest.raises(ValueError, match=r"out: expected shape \(1, 2\), one row per source, got \(2, 1\)"):
        paths.many_to_many([0], [1, 2], out=np.empty((2, 1)))
    with pytest.raises(TypeError, match="out: expected an array of float64 or float32, got int64"):
        paths.many_to_many([0], [1, 2], out=np.empty((1, 2), int))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="out: expected an array of float64 or float32, got list"):
        paths.many_to_many([0], [1, 2], out=[[0.0, 0.0]])  # type: ignore[arg-type]
    closed = np.empty((1, 2))
    closed.flags.writeable = False
    with pytest.raises(ValueError, match="out: expected an array that can be written to, got a read-only one"):
        paths.many_to_many([0], [1, 2], out=closed)


def test_wrong_nodes_are_refused() -> None:
    paths = ShortestPaths(random_graph(0), progress="silent")
    for given in ([60], [-1]):
        with pytest.raises(ValueError, match="sources: expected nodes from 0 to 59, got"):
            paths.many_to_many(given, [0])
        with pytest.raises(ValueError, match="targets: expected nodes from 0 to 59, got"):
            paths.many_to_many([0], given)
        with pytest.raises(ValueError, match="source: expected nodes from 0 to 59, got"):
            paths.one_to_many(given[0], [0])
    with pytest.raises(ValueError, match=r"targets: expected a list of nodes, got shape \(1, 2\)"):
        paths.many_to_many([0], [[1, 2]])
    with pytest.raises(ValueError, match=r"sources: expected a list of nodes, got shape \(\)"):
        paths.many_to_many(0, [1, 2])
    with pytest.raises(TypeError, match="targets: expected whole numbers of nodes, got float64"):
        paths.one_to_many(0, [1.0, 2.0])


def test_the_way_of_least_work_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("routingkit_cch")
    ways: list[str] = []
    for way in ("fill_by_hierarchy", "fill_by_trees", "fill_by_pairs"):
        fill = getattr(matrices, way)

        def noted(*arguments: object, way: str = way, fill: object = fill, **options: object) -> None:
            ways.append(way.removeprefix("fill_by_"))
            fill(*arguments, **options)  # type: ignore[operator]

        monkeypatch.setattr(f"trimetric.graphs.paths.shortest_paths.{way}", noted)
    monkeypatch.setattr("trimetric.graphs.paths.shortest_paths.TREES_OF_A_HIERARCHY", 8)
    ring = Graph.from_arcs(
        99, np.arange(99), (np.arange(99) + 1) % 99, np.ones(99), directed=True, coordinates=np.zeros((99, 2))
    )
    roads = ShortestPaths(ring, progress="silent")
    roads.one_to_many(0, [5])
    roads.one_to_many(0, [5, 6])
    roads.many_to_many(range(8), range(30))
    assert ways == ["pairs", "trees", "trees"]
    roads.many_to_many(range(30), range(9))
    roads.one_to_many(0, [5])
    assert ways[3:] == ["hierarchy", "hierarchy"]
    torus = ShortestPaths(tm.graphs.torus3d(seed=0, side=12), progress="silent")
    torus.many_to_many(range(16), range(400))
    assert torus.work, "trees and pairs are compared by counting"
    torus.many_to_many([1, 2], [3, 4])
    assert ways[5:] == ["trees", "pairs"]


# The hierarchy


def roads(seed: int = 0) -> Hierarchy:
    pytest.importorskip("routingkit_cch")
    return make_engine("hierarchy", random_graph(seed)).arrays[0]


def test_a_hierarchy_serves_several_threads() -> None:
    hierarchy, nodes = roads(), np.arange(60)
    exact = dijkstra(random_graph(0).to_scipy())
    hierarchy.pairs(nodes, nodes[::-1])  # the query of this thread is of no use to others
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def work(i: int) -> None:
        found[i] = hierarchy.pairs(nodes, nodes[::-1]), hierarchy.matrix(nodes, nodes)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(3):
        np.testing.assert_allclose(found[i][0], exact[nodes, nodes[::-1]], rtol=1e-12)
        np.testing.assert_allclose(found[i][1], exact, rtol=1e-12)


def test_a_hierarchy_is_sent_and_contracted_once() -> None:
    hierarchy, nodes = roads(1), np.arange(60)
    again = pickle.loads(pickle.dumps(hierarchy))
    assert again is not hierarchy
    assert pickle.loads(pickle.dumps(hierarchy)) is again
    np.testing.assert_array_equal(again.matrix(nodes, nodes[:5]), hierarchy.matrix(nodes, nodes[:5]))
    other = pickle.loads(pickle.dumps(roads(2)))
    assert not np.array_equal(other.matrix(nodes, nodes), again.matrix(nodes, nodes))


def test_processes_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("routingkit_cch")
    pytest.importorskip("joblib")
    monkeypatch.setattr(matrices, "BLOCK", 1600)
    monkeypatch.setattr(matrices, "WORTH_PROCESSES", 1)
    graph = random_graph(3)
    nodes = np.arange(60)
    one, two = (
        ShortestPaths(graph, engine="hierarchy", jobs=jobs, progress="silent").many_to_many(nodes, nodes)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_arcs_longer_than_every_distance() -> None:
    """The sum of two of them does not fit into the 32 bits of the hierarchy."""
    short, long = 2e8, 2.2e9
    tails, heads = [0, 1, 2, 3, 4, 0, 3, 4, 2, 1], [1, 2, 3, 4, 0, 3, 2, 1, 0, 4]  # a ring, and chords
    graph = Graph.from_arcs(5, tails, heads, np.repeat([short, long], 5), directed=True)
    found = shortest_paths(graph, "hierarchy").many_to_many(range(5), range(5))
    np.testing.assert_array_equal(found, dijkstra(graph.to_scipy()))


def test_matrix_of_porto() -> None:
    pytest.importorskip("routingkit_cch")
    if not PORTO.exists():
        pytest.skip("needs a map of Porto: set TRIMETRIC_PORTO to its .osm.pbf file")
    graph = tm.graphs.read_graph(PORTO)
    paths = ShortestPaths(graph, jobs=1, progress="silent")
    random = np.random.default_rng(0)
    sources, targets = random.integers(graph.num_nodes, size=100), random.integers(graph.num_nodes, size=300)
    found = paths.many_to_many(sources, targets)
    assert set(paths._engines) == {"hierarchy"}
    np.testing.assert_allclose(found[:3], dijkstra(graph.to_scipy(), indices=sources[:3])[:, targets], rtol=1e-12)
    every = np.arange(graph.num_nodes)
    there, back = paths.many_to_many(every, sources[:3]), paths.many_to_many(sources[:3], every)
    np.testing.assert_allclose(back, dijkstra(graph.to_scipy(), indices=sources[:3]), rtol=1e-12)
    np.testing.assert_allclose(there.T, dijkstra(graph.reverse.to_scipy(), indices=sources[:3]), rtol=1e-12)
    np.testing.assert_array_equal(paths.one_to_many(int(sources[0]), targets), found[0])
