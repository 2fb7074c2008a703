"""From a map to a model and its answers, by the command."""

from __future__ import annotations

import csv
import io
import json
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from town import SIDE, STEP

import trimetric as tm
from trimetric.cli import main
from trimetric.cli.fit import Fit

pytest.importorskip("numba")
pytest.importorskip("osmium")
pytest.importorskip("routingkit_cch")


def rows(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, str]]:
    capsys.readouterr()
    assert main([*map(str, words)]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_the_model_beats_the_landmarks_and_keeps_its_promise(town: Path) -> None:
    model = tm.Model.load(town / "town.safetensors")
    graph = tm.graphs.read_graph(town / "town.osm")
    assert model.ids == graph.ids()
    np.testing.assert_array_equal(model.places.numpy(), graph.coordinates)  # type: ignore[union-attr]
    notes = model.notes
    assert notes["graph"] == {"nodes": SIDE**2, "edges": graph.num_edges, "directed": True}
    test = notes["test"]
    bounds = {"landmarks from below", "landmarks from above", "affine fit of both"}
    assert set(test) == {"model", "exact engine", *bounds}
    assert test["exact engine"]["mean_relative_error"] == pytest.approx(0, abs=1e-9)
    assert test["model"]["bytes"] == test["landmarks from below"]["bytes"] == 64
    assert test["model"]["mse"] < 0.5 * min(test[name]["mse"] for name in bounds)
    assert test["landmarks from below"]["over_estimated"] == 0
    assert test["landmarks from above"]["over_estimated"] > 0.5
    # What the notes say is true: on all pairs, against SciPy.
    from scipy.sparse.csgraph import dijkstra

    truth = dijkstra(graph.to_scipy())
    off = np.abs(model.all_pairs().numpy() - truth)[truth > 0] / truth[truth > 0]
    assert off.mean() == pytest.approx(test["model"]["mean_relative_error"], rel=0.2)
    assert tm.audit(model.network, model.embed()).holds  # type: ignore[arg-type]
    assert not list(town.glob("*.checkpoint*"))
    assert list((town / "cache").rglob("*.safetensors"))


def test_report_and_json(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = ["--sample", "400", "--epochs", "1", "--dim", "8", "--cache", str(town / "cache")]
    output = str(town / "quick.safetensors")
    assert main(["fit", "--graph", str(town / "town.osm"), "-o", output, "--weight", "time", *quick]) == 0
    told = capsys.readouterr().out
    header = ("MSE at mean 50", "us per query", "bytes per node")
    for words in ("town.osm: 196 nodes", *header, "landmarks from below", "every promise holds"):
        assert words in told
    assert main(["fit", "--graph", str(town / "town.osm"), "-o", output, "--symmetric", *quick, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert answer["graph"]["directed"] is False
    assert answer["test"]["model"]["bytes"] == 32
    assert (answer["settings"]["guarantee"], answer["settings"]["dim"]) == ("metric", 8)
    assert main(["fit", "--graph", str(town / "town.osm"), "-o", output, "--head", "wide", *quick, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["settings"]["batch_size"] == 512


def test_a_table_of_edges(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tm.graphs.torus3d_directed(seed=0, side=4)
    lines = zip(graph.tails.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True)
    file = town / "torus.csv"
    file.write_text("a,b,w\n" + "".join(f"n{a},n{b},{w}\n" for a, b, w in lines))
    columns = ["--from-column", "a", "--to-column", "b", "--distance-column", "w", "--cache", str(town / "cache")]
    output = str(town / "torus.safetensors")
    assert main(["fit", "--graph", str(file), "-o", output, "--epochs", "1", "--dim", "8", *columns, "--quiet"]) == 0
    model = tm.Model.load(output)
    assert set(model.ids or ()) == {f"n{i}" for i in range(64)}
    assert model.places is None
    addresses = town / "somewhere.csv"
    addresses.write_text("id,lon,lat\nx,1,2\n")
    assert main(["predict", output, "--from-file", str(addresses), "--nearest", "1"]) == 2
    assert "knows no places" in capsys.readouterr().err
    file.write_text("from,to,weight\na,b,1\nb,a,1\nc,a,1\n")
    assert main(["fit", "--graph", str(file), "-o", output]) == 2
    assert (
        "got 2 components, the largest with 2 of 3 nodes; the option `largest` takes only that one"
        in capsys.readouterr().err
    )


def test_a_small_graph_is_fitted_with_the_defaults(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = town / "ring.csv", str(town / "ring.safetensors")
    lines = [f"n{i},n{(i + step) % 100},{1 + i % 3}\n" for i in range(100) for step in (1, 7)]
    file.write_text("from,to,weight\n" + "".join(lines))
    quick = ["--epochs", "1", "--cache", str(town / "cache"), "--unit", "minutes"]
    assert main(["fit", "--graph", str(file), "-o", output, *quick]) == 0
    told = capsys.readouterr().out
    for words in (
        "trimetric fit ring.csv --edges",
        "on 990 held-out pairs, in minutes:",
        "beat the landmarks",
        "all exact distances would take 39.1 KiB and about",
        "at this size the exact table is the better choice",
    ):
        assert words in told
    assert tm.Model.load(output).notes["unit"] == "minutes"


def test_a_model_that_promises_nothing_says_so(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(town / "mlp.safetensors")
    quick = ["--head", "mlp", "--epochs", "1", "--dim", "8", "--sample", "300", "--cache", str(town / "cache")]
    assert main(["fit", "--graph", str(town / "town.osm"), "-o", output, *quick]) == 0
    told = capsys.readouterr().out
    assert "nothing is promised" in told
    assert "every promise holds" not in told


def test_maps_know_their_unit(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(town / "town.safetensors")
    assert main(["predict", model, "--from", "1000", "--to", "1001"]) == 0
    told = capsys.readouterr()
    assert told.err == "distances are in metres\n"
    assert told.out.startswith("from,to,distance\n")
    assert main(["predict", model, "--from", "1000", "--to", "1001", "--json", "--quiet"]) == 0
    told = capsys.readouterr()
    assert (json.loads(told.out)["unit"], told.err) == ("metres", "")
    assert main(["info", model]) == 0
    assert "unit: metres" in capsys.readouterr().out
    timed = Fit(graph=Path("x.osm.pbf"), output=Path("m.safetensors"), weight="time")
    assert timed.unit_of_distances == "seconds"


def test_predict_by_id_and_to_many(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tm.Model.load(town / "town.safetensors")
    found = rows(capsys, "predict", town / "town.safetensors", "--from", "1000", "--to", "1100", "1150")
    assert [(row["from"], row["to"]) for row in found] == [("1000", "1100"), ("1000", "1150")]
    expected = model.distances(["1000", "1000"], ["1100", "1150"])
    np.testing.assert_allclose([float(row["distance"]) for row in found], expected, rtol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
def test_nearest_facilities_by_coordinates(town: Path, capsys: pytest.CaptureFixture[str], reverse: bool) -> None:
    random = np.random.default_rng(0)
    spots = {"addresses": random.integers(SIDE, size=(40, 2)), "hospitals": random.integers(SIDE, size=(5, 2))}
    for name, cells in spots.items():
        lines = [f"{name[0]}{i},{-8 + STEP * (c + 0.2)},{41 + STEP * (r - 0.2)}\n" for i, (r, c) in enumerate(cells)]
        (town / f"{name}.csv").write_text("id,lon,lat\n" + "".join(lines))
    files = ["--from-file", town / "addresses.csv", "--to-file", town / "hospitals.csv", "--nearest", 1]
    found = rows(capsys, "predict", town / "town.safetensors", *files, *(["--reverse"] if reverse else []))
    model = tm.Model.load(town / "town.safetensors")
    names = {key: [str(1000 + r * SIDE + c) for r, c in cells] for key, cells in spots.items()}
    matrix = model.all_pairs(names["addresses"], names["hospitals"])
    if reverse:
        matrix = model.all_pairs(names["hospitals"], names["addresses"]).mT
    assert len(found) == 40
    for i, row in enumerate(found):
        address, hospital = (row["to"], row["from"]) if reverse else (row["from"], row["to"])
        assert address == f"a{i}"
        assert float(row["distance"]) == pytest.approx(float(matrix[i].min()), rel=1e-4, abs=1e-3)
        assert float(matrix[i, int(hospital[1:])]) == pytest.approx(float(matrix[i].min()), rel=1e-4, abs=1e-3)


def test_one_way_streets_make_the_two_directions_differ(town: Path) -> None:
    model = tm.Model.load(town / "town.safetensors")
    matrix = model.all_pairs()
    assert float((matrix - matrix.mT).abs().max()) > 50


def test_the_pace_is_that_of_the_input() -> None:
    pace = [signature(tm.learn_pairs).parameters[name].default for name in ("epochs", "batch_size", "learning_rate")]
    assert pace == [100, 256, 0.01]
    quick: dict[str, Any] = {"dim": 4, "widths": (4,), "sample": 30, "progress": "silent"}
    settings = tm.graphs.learn_graph(tm.graphs.torus3d(seed=0, side=3), **quick).model.notes["settings"]
    assert [settings[name] for name in ("epochs", "batch_size", "learning_rate")] == [10, 512, 0.003]
    assert {"epochs", "batch_size"}.isdisjoint(Fit(graph=Path("g.gr"), output=Path("m.safetensors")).choices())


def test_a_map_model_for_queries_that_is_never_too_far(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tm.graphs.read_graph(town / "town.osm")
    ids = graph.ids()
    queries, output, picture = town / "trips.csv", str(town / "lower.safetensors"), town / "errors.png"
    queries.write_text("from,to\n" + "".join(f"{ids[i]},{ids[i + 2]}\n" for i in range(50)))
    words = ["fit", "--graph", town / "town.osm", "-o", output, "--queries", queries, "--picture", picture]
    small = ["--guarantee", "lower", "--precision", "int16", "--bytes-per-node", "32", "--cache", town / "cache"]
    assert main([*map(str, [*words, *small])]) == 0
    told = capsys.readouterr().out
    assert "certain: never farther than the true distance" in told
    assert "mean relative error, queries trips: model" in told
    assert picture.stat().st_size > 0
    model = tm.Model.load(output)
    assert model.notes["test"]["model"]["bytes"] == 32
    truth = tm.graphs.all_distances(graph)
    assert (model.all_pairs().double().numpy() <= truth * (1 + 1e-12)).all()
    queries.write_text("from,to\n1000,nowhere\n")
    assert main([*map(str, [*words, *small])]) == 2
    told = capsys.readouterr().err
    assert "trips.csv" in told
    assert "'nowhere'" in told
