"""Travel matrices in files: formats that other programs read, blocks that resume, clusters, and the command."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from places import ROOT
from town import town_map

from trimetric import routing
from trimetric.cli import main
from trimetric.files.matrices import read_square_matrix
from trimetric.graphs import Graph, ShortestPaths
from trimetric.nearness import is_metric
from trimetric.routing import Places, RoadMap, block_files, large_matrices, matrices

pytest.importorskip("osmium")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    folder = tmp_path_factory.mktemp("town")
    (folder / "town.osm").write_text(town_map())
    return routing.read_roads(folder / "town.osm")


def some_places(town: RoadMap, count: int, seed: int = 0) -> Places:
    where = np.random.default_rng(seed).uniform([-8.0, 41.0], [-7.987, 41.013], (count, 2))
    return Places([f"p{i}" for i in range(count)], routing.snap_to_edges(town, where), snapped=True)


@pytest.mark.parametrize("name", ["m.npy", "m.npz", "m.csv", "m.tsv", "m.parquet", "m.json"])
@pytest.mark.parametrize("integers", [False, True])
def test_what_is_written_is_read_again(name: str, integers: bool, town: RoadMap, tmp_path: Path) -> None:
    places = some_places(town, 9)
    exact = routing.travel_matrix(town, places.positions).durations
    wanted = np.ceil(exact) if integers else exact
    written = routing.write_matrix_file(tmp_path / name, town, places, integers=integers, progress="silent")
    assert (written.shape, written.costs) == ((9, 9), ("duration",))
    square = read_square_matrix(tmp_path / name)
    np.testing.assert_array_equal(square.values, wanted)
    assert name == "m.npy" or square.names == places.names
    assert is_metric(square.values) or not integers
    assert list(tmp_path.iterdir()) == [tmp_path / name]


@pytest.mark.parametrize(("name", "form"), [("m.json", "osrm"), ("m.json", "vroom"), ("m.json", "ortools")])
def test_json_holds_both_costs(name: str, form: str, town: RoadMap, tmp_path: Path) -> None:
    places = some_places(town, 7)
    both = routing.travel_matrix(town, places.positions)
    file = tmp_path / name
    costs: list[routing.Annotation] = ["duration", "distance"]
    routing.write_matrix_file(
        file, town, places, annotations=costs, form=form, integers=True, progress="silent"  # type: ignore[arg-type]
    )  # fmt: skip
    for cost, exact in both.costs.items():
        np.testing.assert_array_equal(read_square_matrix(file, cost=cost).values, np.ceil(exact))
    np.testing.assert_array_equal(read_square_matrix(file).values, np.ceil(both.durations))
    data = json.loads(file.read_text())
    if form == "osrm":
        assert data["code"] == "Ok"
        assert [point["name"] for point in data["sources"]] == places.names
        np.testing.assert_array_equal([point["location"] for point in data["sources"]], places.positions.coordinates)
    if form == "vroom":
        assert [job["location_index"] for job in data["jobs"]] == list(range(1, 7))


def test_solvers_read_the_files(town: RoadMap, tmp_path: Path) -> None:
    places = some_places(town, 8)
    exact = np.ceil(routing.travel_matrix(town, places.positions).durations)
    for name in ("m.atsp", "m.vrp"):
        routing.write_matrix_file(tmp_path / name, town, places, integers=True, progress="silent")
        np.testing.assert_array_equal(read_square_matrix(tmp_path / name).values, exact)
    vrplib = pytest.importorskip("vrplib")
    instance = vrplib.read_instance(tmp_path / "m.vrp")
    np.testing.assert_array_equal(instance["edge_weight"], exact)
    assert (instance["capacity"], instance["demand"].tolist()) == (7, [0] + [1] * 7)
    np.testing.assert_array_equal(vrplib.read_instance(tmp_path / "m.atsp")["edge_weight"], exact)
    pyvrp = pytest.importorskip("pyvrp")
    problem = pyvrp.read(tmp_path / "m.vrp", round_func="round")
    np.testing.assert_array_equal(problem.distance_matrix(0), exact)
    assert problem.num_clients == 7


def test_a_rectangular_table_of_pairs(town: RoadMap, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    sources, targets = some_places(town, 5), some_places(town, 3, seed=1)
    costs: list[routing.Annotation] = ["duration", "distance"]
    written = routing.write_matrix_file(
        tmp_path / "m.parquet", town, sources, targets, annotations=costs, progress="silent"
    )
    assert written.shape == (5, 3)
    table = parquet.read_table(tmp_path / "m.parquet")
    exact = routing.travel_matrix(town, sources.positions, targets.positions)
    np.testing.assert_array_equal(table["distance"].to_numpy().reshape(5, 3), exact.distances)
    assert table["from"].to_pylist()[:4] == ["p0", "p0", "p0", "p1"]
    with pytest.raises(ValueError, match="--to: expected none for the format tsplib"):
        routing.write_matrix_file(tmp_path / "m.atsp", town, sources, targets, integers=True)


def test_blocks_resume_where_they_were_and_write_the_same_bytes(
    town: RoadMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrices, "BLOCK", 60)
    places = some_places(town, 20)
    whole, broken = tmp_path / "whole.npy", tmp_path / "broken.npy"
    routing.write_matrix_file(whole, town, places, progress="silent")
    written = block_files.BlockFolder.write
    count = 0

    def failing(self: block_files.BlockFolder, rows: slice, costs: dict[str, NDArray[np.float64]]) -> None:
        nonlocal count
        count += 1
        if count == 4:
            raise KeyboardInterrupt
        written(self, rows, costs)  # type: ignore[arg-type]

    monkeypatch.setattr(block_files.BlockFolder, "write", failing)
    with pytest.raises(KeyboardInterrupt):
        routing.write_matrix_file(broken, town, places, progress="silent")
    assert not broken.exists()
    journal = tmp_path / "broken.npy.parts" / "blocks.journal"
    journal.write_bytes(journal.read_bytes() + b'{"rows"')  # a line that was cut
    monkeypatch.setattr(block_files.BlockFolder, "write", written)
    assert routing.write_matrix_file(broken, town, places, progress="silent").resumed == 9
    assert broken.read_bytes() == whole.read_bytes()
    # Blocks of other places are not taken for these.
    monkeypatch.setattr(block_files.BlockFolder, "write", failing)
    count = 0
    with pytest.raises(KeyboardInterrupt):
        routing.write_matrix_file(broken, town, some_places(town, 20, seed=3), progress="silent")
    assert routing.write_matrix_file(broken, town, places, progress="silent").resumed == 0
    assert broken.read_bytes() == whole.read_bytes()


@pytest.mark.slow
def test_a_killed_command_resumes_and_writes_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "town.osm").write_text(town_map())
    where = np.random.default_rng(0).uniform([-8.0, 41.0], [-7.987, 41.013], (3000, 2))
    rows = [f"p{i},{lon},{lat}" for i, (lon, lat) in enumerate(where.tolist())]
    (tmp_path / "places.csv").write_text("\n".join(["id,lon,lat", *rows]))
    words = [sys.executable, "-m", "trimetric", "matrix", "town.osm", "places.csv", "--cache", "cache", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([*words, "-o", "whole.npy"], cwd=tmp_path, check=True, env=environment)
    process = subprocess.Popen([*words, "-o", "killed.npy"], cwd=tmp_path, env=environment)
    journal = tmp_path / "killed.npy.parts" / "blocks.journal"
    while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 2):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    subprocess.run([*words, "-o", "killed.npy"], cwd=tmp_path, check=True, env=environment)
    digests = {hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("whole.npy", "killed.npy")}
    assert len(digests) == 1
    assert not journal.parent.exists()


@pytest.mark.slow
def test_a_cluster_computes_the_same(town: RoadMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(matrices, "BLOCK", 60)
    places = some_places(town, 20)
    routing.write_matrix_file(tmp_path / "here.npy", town, places, progress="silent")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        routing.write_matrix_file(tmp_path / "there.npy", town, places, client=client, progress="silent")
    assert (tmp_path / "here.npy").read_bytes() == (tmp_path / "there.npy").read_bytes()


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("town.osm").write_text(town_map())
    Path("places.csv").write_text("id,lon,lat\nhome,-7.9995,41.0052\nwork,-7.9921,41.0083\nshop,-7.995,41.0\n")
    words = ["matrix", "town.osm", "places.csv"]
    assert main([*words, "-o", "m.json", "--annotations", "duration", "distance"]) == 0
    told = capsys.readouterr().out
    assert "turn restrictions and turn costs are ignored" in told
    assert "may break the triangle inequality" in told
    assert "all within" in told
    Path("nodes.csv").write_text("id\n1000\n1017\n")
    assert main(["matrix", "town.osm", "nodes.csv", "-o", "n.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["turn_restrictions"] == "ignored"
    for table, told in (
        ("id,lon,lat\nhome,-7.9995,41.0052\nfar,2.3,48.8\n", "places.csv, line 3: lon, lat: .*nearest street"),
        ("id,lon,lat\nhome,-7.9995,41.0052\nhome,-7.99,41.0052\n", "line 3: id: expected different ids, got 'home'"),
        ("id\n1000\n7\n", "line 3: id: .*an id of a node of the map, got '7'"),
        ("id,lon\n1000,4\n", "expected both columns lon and lat, or neither"),
        ("id,lon,lat\n", "at least one place|expected"),
    ):
        Path("places.csv").write_text(table)
        assert main([*words, "-o", "m.csv"]) == 2
        assert re.search(told, capsys.readouterr().err), table
    assert main([*words, "-o", "m.vrp"]) == 2
    assert "--integers" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(4))
def test_whole_numbers_keep_the_triangle_inequality_where_sums_are_rounded(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sevenths of a unit: a sum of them that should be whole may be a little more, and is then rounded up by one."""
    random, count = np.random.default_rng(seed), 40
    nodes = np.arange(count)
    weights = random.integers(1, 60, count) / 7
    graph = Graph.from_arcs(count, nodes, (nodes + 1) % count, weights, directed=True)
    roads = RoadMap.of_graph(graph)
    places = Places([str(i) for i in nodes], routing.positions_at_nodes(roads, nodes), snapped=False)
    exact = ShortestPaths(graph, engine="scipy", progress="silent").many_to_many(nodes, nodes)
    written = routing.write_matrix_file(tmp_path / "m.npy", roads, places, integers=True, progress="silent")
    matrix = np.load(written.file)
    assert matrix.dtype == np.int64
    assert is_metric(matrix)
    assert (matrix >= exact - 1e-9).all()
    assert (matrix <= np.ceil(exact) + 1).all()
    monkeypatch.setattr(large_matrices, "MOST_CLOSED", 39)
    with pytest.raises(ValueError, match="integers: expected costs in whole thousandths, or at most 39 places"):
        routing.write_matrix_file(tmp_path / "n.npy", roads, places, integers=True, progress="silent")
