"""Distances of graphs: every engine equal to SciPy's, the choice of an engine, threads and clusters, the cache."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from places import ROOT
from random_graphs import random_graph
from scipy.sparse.csgraph import dijkstra

import trimetric as tm
from trimetric._support.progress import WorkProgress
from trimetric.graphs import Graph, ShortestPaths, landmarks_at, sample_pairs
from trimetric.graphs.files.cache import ArrayCache, content_key
from trimetric.graphs.paths.engines import EngineName, is_road_like, landmark_engine, make_engine, whole_units
from trimetric.graphs.paths.parallel import in_parallel
from trimetric.graphs.paths.trees import distances_to

pytest.importorskip("numba")

PORTO = Path(os.environ.get("TRIMETRIC_PORTO", ROOT.parent / "shared" / "data" / "porto" / "porto_portugal.osm.pbf"))


# Engines


@pytest.mark.parametrize("name", get_args(EngineName))
@pytest.mark.parametrize("case", ["directed", "undirected", "zeros"])
def test_engines_are_exact(name: EngineName, case: str) -> None:
    if name == "hierarchy":
        pytest.importorskip("routingkit_cch")
    for seed in range(3):
        graph = random_graph(seed, directed=case != "undirected", zeros=case == "zeros")
        sources, targets = (part.ravel() for part in np.meshgrid(*[np.arange(graph.num_nodes)] * 2, indexing="ij"))
        found = make_engine(name, graph).distances(sources, targets)
        np.testing.assert_allclose(found, dijkstra(graph.to_scipy())[sources, targets], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [tm.graphs.torus3d, tm.graphs.torus3d_directed, tm.graphs.torus3d_pruned, tm.graphs.taxi, tm.graphs.push],
)
def test_engines_on_the_papers_graphs(make: type) -> None:
    graph = make(seed=0)
    ends = tm.graphs.random_pairs(graph.num_nodes, 24, seed=1)
    ends[:, 0] = ends[:1, 0]  # one tree of SciPy's for all of them
    truth = dijkstra(graph.to_scipy(), indices=int(ends[0, 0]))[ends[:, 1]]
    landmarks = landmarks_at(graph, ends[:2, 1], jobs=1)
    for engine in (make_engine("bidirectional", graph), landmark_engine(graph, landmarks)):
        np.testing.assert_allclose(engine.distances(*ends.T), truth, rtol=1e-12)
    back = next(distances_to(graph, [ends[3, 1]], jobs=1))
    assert back[ends[0, 0]] == pytest.approx(truth[3], rel=1e-12)


def test_engines_on_porto() -> None:
    if not PORTO.exists():
        pytest.skip("needs a map of Porto: set TRIMETRIC_PORTO to its .osm.pbf file")
    graph = tm.graphs.read_graph(PORTO)
    assert is_road_like(graph)
    paths = ShortestPaths(graph, jobs=1, progress="silent")
    sources = np.repeat([5, 70_000, 250_000], 200)
    targets = np.random.default_rng(0).integers(graph.num_nodes, size=600)
    found = paths.pairs(sources, targets)
    assert set(paths._engines) == {"hierarchy"}
    truth = dijkstra(graph.to_scipy(), indices=[5, 70_000, 250_000])
    np.testing.assert_allclose(found, truth[np.repeat([0, 1, 2], 200), targets], rtol=1e-12)


def test_a_search_whose_heap_is_too_small_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(0)
    engine, kernels = make_engine("landmarks", graph), pytest.importorskip("trimetric.graphs.paths.potential_kernels")

    def overflown(*arguments: object) -> tuple[np.ndarray, int]:
        return np.full(len(arguments[-1]), np.nan), 0  # type: ignore[arg-type]

    monkeypatch.setattr(kernels, "guided", overflown)
    found = engine.distances(np.array([0, 1]), np.array([7, 9]))
    np.testing.assert_allclose(found, dijkstra(graph.to_scipy())[[0, 1], [7, 9]])


def test_unreachable_pairs_are_infinitely_far() -> None:
    graph = Graph.from_arcs(3, [0, 1], [1, 0], [1.0, 2.0], directed=True)
    for name in ("bidirectional", "scipy"):
        assert ShortestPaths(graph, engine=name, progress="silent").pairs([0, 0], [1, 2]).tolist() == [1, np.inf]
    with pytest.raises(ValueError, match=r"got no path for \d of 4 pairs"):
        sample_pairs(graph, 4, test=1, validation=1, paths=ShortestPaths(graph, progress="silent"))


def test_whole_units() -> None:
    whole, unit = whole_units(random_graph(0))
    assert unit == 0.01
    np.testing.assert_allclose(whole * unit, random_graph(0).weights)
    odd = Graph.from_arcs(2, [0, 1], [1, 0], [np.pi, 1.0], directed=True)
    with pytest.raises(ValueError, match="expected weights that are whole multiples of one of"):
        whole_units(odd)
    far = Graph.from_arcs(2, [0, 1], [1, 0], [2e9, 2e9], directed=True)
    with pytest.raises(ValueError, match=r"expected distances below 2,147,483,647 units of 1 for this engine"):
        whole_units(far)


# One interface


def test_automatic_choice_counts_work() -> None:
    graph = tm.graphs.torus3d(seed=0, side=8)
    paths = ShortestPaths(graph, jobs=1, progress="silent")
    ends = tm.graphs.random_pairs(graph.num_nodes, 600, seed=0)
    found = paths.pairs(*ends.T)
    assert set(paths.work) == {"bidirectional", "landmarks"}
    np.testing.assert_allclose(found, dijkstra(graph.to_scipy())[ends[:, 0], ends[:, 1]], rtol=1e-12)
    np.testing.assert_allclose(paths.one_to_many(3, [5, 9]), paths.pairs([3, 3], [5, 9]))
    directed = ShortestPaths(random_graph(1), progress="silent")
    matrix = dijkstra(random_graph(1).to_scipy())
    np.testing.assert_allclose(directed.one_to_many(3, reverse=True), matrix[:, 3])
    np.testing.assert_allclose(directed.from_nodes([3, 4]), matrix[[3, 4]])
    np.testing.assert_allclose(directed.to_nodes([3, 4]), matrix[:, [3, 4]].T)
    with pytest.raises(ValueError, match="sources: expected nodes from 0 to 59, got 60"):
        directed.pairs([60], [0])
    with pytest.raises(ValueError, match="engine: expected one of"):
        ShortestPaths(graph, engine="astar")  # type: ignore[arg-type]


def test_threads_and_processes_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    joblib = pytest.importorskip("joblib")
    monkeypatch.setattr("trimetric.graphs.paths.shortest_paths.CHUNK", 50)
    graph = random_graph(2)
    ends = tm.graphs.random_pairs(graph.num_nodes, 300, seed=0)
    one, two = (
        ShortestPaths(graph, engine="bidirectional", jobs=jobs, progress="silent").pairs(*ends.T) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert list(in_parallel(max, [(1, 2), (4, 3)], jobs=None)) == [2, 4]


def test_on_a_dask_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed, joblib = pytest.importorskip("distributed"), pytest.importorskip("joblib")
    monkeypatch.setattr("trimetric.graphs.paths.shortest_paths.CHUNK", 50)
    graph = random_graph(2)
    ends = tm.graphs.random_pairs(graph.num_nodes, 200, seed=0)
    settings = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with distributed.Client(**settings), joblib.parallel_config(backend="dask"):
        found = ShortestPaths(graph, engine="bidirectional", progress="silent").pairs(*ends.T)
    np.testing.assert_allclose(found, dijkstra(graph.to_scipy())[ends[:, 0], ends[:, 1]], rtol=1e-12)


def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimetric.graphs.paths.shortest_paths.CHUNK", 40)
    graph = random_graph(3)
    ends = tm.graphs.random_pairs(graph.num_nodes, 100, seed=0)
    first = ShortestPaths(graph, engine="bidirectional", jobs=1, cache=tmp_path, progress="silent").pairs(*ends.T)
    files = sorted(tmp_path.rglob("*.safetensors"))
    assert len(files) == 3
    files[0].write_bytes(files[0].read_bytes()[:-8])  # damaged: computed again
    again = ShortestPaths(graph, engine="bidirectional", jobs=1, cache=tmp_path, progress="silent")
    np.testing.assert_array_equal(again.pairs(*ends.T), first)

    def fails(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("trimetric.graphs.paths.shortest_paths.make_engine", fails)
    known = ShortestPaths(graph, cache=tmp_path, progress="silent")
    np.testing.assert_array_equal(known.pairs(*ends.T), first)
    other = Graph.from_arcs(60, graph.tails, graph.indices, graph.weights + 1, directed=True)
    with pytest.raises(AssertionError, match="computed again"):
        ShortestPaths(other, cache=tmp_path, engine="scipy", progress="silent").pairs(*ends.T)
    assert ArrayCache(tmp_path).read(content_key("nothing")) is None
    assert content_key(np.array([1, 2])) != content_key(np.array([1]), np.array([2]))


def test_progress_says_how_much_is_left(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimetric._support.progress.LINE_SECONDS", 0.0)
    with WorkProgress("paths", 4, "auto") as shown:
        shown.start -= 60
        shown.advance(1)
    assert capsys.readouterr().err == "paths: 1 of 4, 1:00 gone, about 3:00 left\n"
