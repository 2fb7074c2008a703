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

import trimetric as tm
from trimetric.cli import main
from trimetric.cli.fit import Fit

pytest.importorskip("numba")
pytest.importorskip("osmium")
pytest.importorskip("routingkit_cch")

SIDE = 14
STEP = 0.001


def town() -> str:
    """Streets of a grid, every other one one-way, with a ring around."""
    nodes = [
        f'<node id="{1000 + r * SIDE + c}" lat="{41 + STEP * r:.4f}" lon="{-8 + STEP * c:.4f}"/>'
        for r in range(SIDE)
        for c in range(SIDE)
    ]
    ways = []
    for line in range(SIDE):
        for along in (True, False):
            refs = [line * SIDE + i if along else i * SIDE + line for i in range(SIDE)]
            tags = '<tag k="highway" v="residential"/>'
            if 0 < line < SIDE - 1:
                tags += f'<tag k="oneway" v="{"yes" if line % 2 else "-1"}"/>'
            points = "".join(f'<nd ref="{1000 + ref}"/>' for ref in refs)
            ways.append(f'<way id="{2 * line + along + 1}">{points}{tags}</way>')
    return f'<osm version="0.6">{"".join(nodes)}{"".join(ways)}</osm>'


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graph")
    (folder / "town.osm").write_text(town())
    words = ["fit", "--graph", folder / "town.osm", "-o", folder / "town.safetensors", "--cache", folder / "cache"]
    sizes = ["--sample", "10000", "--epochs", "12", "--batch-size", "128", "--dim", "16", "--learning-rate", ".01"]
    assert main([*map(str, words), *sizes, "--quiet"]) == 0
    return folder


def rows(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, str]]:
    capsys.readouterr()
    assert main([*map(str, words)]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_the_model_beats_the_landmarks_and_keeps_its_promise(city: Path) -> None:
    model = tm.Model.load(city / "town.safetensors")
    graph = tm.graphs.read_graph(city / "town.osm")
    assert model.ids == graph.ids()
    np.testing.assert_array_equal(model.places.numpy(), graph.coordinates)  # type: ignore[union-attr]
    notes = model.notes
    assert notes["graph"] == {"nodes": SIDE**2, "edges": graph.num_edges, "directed": True}
    test = notes["test"]
    assert set(test) == {"model", "landmarks from below", "landmarks from above", "affine fit of both"}
    assert test["model"]["bytes"] == test["landmarks from below"]["bytes"] == 64
    assert test["model"]["mse"] < 0.5 * min(row["mse"] for name, row in test.items() if name != "model")
    assert test["landmarks from below"]["over_estimated"] == 0
    assert test["landmarks from above"]["over_estimated"] > 0.5
    # What the notes say is true: on all pairs, against SciPy.
    from scipy.sparse.csgraph import dijkstra

    truth = dijkstra(graph.to_scipy())
    off = np.abs(model.all_pairs().numpy() - truth)[truth > 0] / truth[truth > 0]
    assert off.mean() == pytest.approx(test["model"]["mean_relative_error"], rel=0.2)
    assert tm.audit(model.network, model.embed()).holds  # type: ignore[arg-type]
    assert not list(city.glob("*.checkpoint*"))
    assert list((city / "cache").rglob("*.safetensors"))


def test_report_and_json(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = ["--sample", "400", "--epochs", "1", "--dim", "8", "--cache", str(city / "cache")]
    output = str(city / "quick.safetensors")
    assert main(["fit", "--graph", str(city / "town.osm"), "-o", output, "--weight", "time", *quick]) == 0
    told = capsys.readouterr().out
    header = ("MSE at mean 50", "us per query", "bytes per node")
    for words in ("town.osm: 196 nodes", *header, "landmarks from below", "every promise holds"):
        assert words in told
    assert main(["fit", "--graph", str(city / "town.osm"), "-o", output, "--symmetric", *quick, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert answer["graph"]["directed"] is False
    assert answer["test"]["model"]["bytes"] == 32
    assert answer["settings"]["batch_size"] == 512


def test_a_table_of_edges(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tm.graphs.torus3d_directed(seed=0, side=4)
    lines = zip(graph.tails.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True)
    file = city / "torus.csv"
    file.write_text("a,b,w\n" + "".join(f"n{a},n{b},{w}\n" for a, b, w in lines))
    columns = ["--from-column", "a", "--to-column", "b", "--distance-column", "w", "--cache", str(city / "cache")]
    output = str(city / "torus.safetensors")
    assert main(["fit", "--graph", str(file), "-o", output, "--epochs", "1", "--dim", "8", *columns, "--quiet"]) == 0
    model = tm.Model.load(output)
    assert set(model.ids or ()) == {f"n{i}" for i in range(64)}
    assert model.places is None
    addresses = city / "somewhere.csv"
    addresses.write_text("id,lon,lat\nx,1,2\n")
    assert main(["predict", output, "--from-file", str(addresses), "--nearest", "1"]) == 2
    assert "knows no places" in capsys.readouterr().err
    file.write_text("from,to,weight\na,b,1\nb,a,1\nc,a,1\n")
    assert main(["fit", "--graph", str(file), "-o", output]) == 2
    assert (
        "got 2 components, the largest with 2 of 3 nodes; the option `largest` takes only that one"
        in capsys.readouterr().err
    )


def test_a_small_graph_is_fitted_with_the_defaults(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = city / "ring.csv", str(city / "ring.safetensors")
    lines = [f"n{i},n{(i + step) % 100},{1 + i % 3}\n" for i in range(100) for step in (1, 7)]
    file.write_text("from,to,weight\n" + "".join(lines))
    quick = ["--epochs", "1", "--cache", str(city / "cache"), "--unit", "minutes"]
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
    notes = tm.Model.load(output).notes
    assert (notes["training_pairs"], notes["unit"]) == (100 * 99 - 2 * 990, "minutes")


def test_a_model_that_promises_nothing_says_so(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(city / "mlp.safetensors")
    quick = ["--head", "mlp", "--epochs", "1", "--dim", "8", "--sample", "300", "--cache", str(city / "cache")]
    assert main(["fit", "--graph", str(city / "town.osm"), "-o", output, *quick]) == 0
    told = capsys.readouterr().out
    assert "nothing is promised" in told
    assert "every promise holds" not in told


def test_maps_know_their_unit(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(city / "town.safetensors")
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


def test_predict_by_id_and_to_many(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tm.Model.load(city / "town.safetensors")
    found = rows(capsys, "predict", city / "town.safetensors", "--from", "1000", "--to", "1100", "1150")
    assert [(row["from"], row["to"]) for row in found] == [("1000", "1100"), ("1000", "1150")]
    expected = model.distances(["1000", "1000"], ["1100", "1150"])
    np.testing.assert_allclose([float(row["distance"]) for row in found], expected, rtol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
def test_nearest_facilities_by_coordinates(city: Path, capsys: pytest.CaptureFixture[str], reverse: bool) -> None:
    random = np.random.default_rng(0)
    spots = {"addresses": random.integers(SIDE, size=(40, 2)), "hospitals": random.integers(SIDE, size=(5, 2))}
    for name, cells in spots.items():
        lines = [f"{name[0]}{i},{-8 + STEP * (c + 0.2)},{41 + STEP * (r - 0.2)}\n" for i, (r, c) in enumerate(cells)]
        (city / f"{name}.csv").write_text("id,lon,lat\n" + "".join(lines))
    files = ["--from-file", city / "addresses.csv", "--to-file", city / "hospitals.csv", "--nearest", 1]
    found = rows(capsys, "predict", city / "town.safetensors", *files, *(["--reverse"] if reverse else []))
    model = tm.Model.load(city / "town.safetensors")
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


def test_one_way_streets_make_the_two_directions_differ(city: Path) -> None:
    model = tm.Model.load(city / "town.safetensors")
    matrix = model.all_pairs()
    assert float((matrix - matrix.mT).abs().max()) > 50


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "-o", "m.safetensors"], "PAIRS: expected a file of pairs, or --graph, got none"),
        (
            ["fit", "p.csv", "--graph", "g.gr", "-o", "m.safetensors"],
            "PAIRS: expected a file of pairs, or --graph, got both",
        ),
        (
            ["fit", "--graph", "g.gr", "--edges", "-o", "m.safetensors"],
            "--edges: expected only with PAIRS, not with --graph; it",
        ),
        (["fit", "--graph", "missing.gr", "-o", "m.safetensors"], "missing.gr: no such file"),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--weight", "length"],
            "--weight: expected only with --graph ",
        ),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--validation", ".1"],
            "--validation: expected only with PA",
        ),
        (["fit", "--graph", "e.csv", "-o", "m.safetensors", "--drop-unreachable"], "--drop-unreachable: expected only"),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--landmarks", "0"],
            "--landmarks: expected a positive whole",
        ),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--sample", "0"],
            "--sample: expected a positive whole number",
        ),
        (["fit", "--graph", "e.csv", "-o", "m.safetensors", "--sample", "999"], "at most the 20 of the graph, got 999"),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--cache", "e.csv"],
            "--cache: expected a folder, got the file",
        ),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--epochs", "0"],
            "--epochs: expected a positive integer, got 0",
        ),
        (
            ["fit", "--graph", "named.csv", "-o", "m.safetensors"],
            "'b', 'w'; --from-column, --to-column and --distance-col",
        ),
        (
            ["fit", "--graph", "inf.csv", "-o", "m.safetensors"],
            "inf.csv, line 3: weight: expected a finite number (leave out edges",
        ),
        (
            ["fit", "--graph", "nan.csv", "-o", "m.safetensors"],
            "nan.csv, line 3: weight: expected a number >= 0, got 'nan'",
        ),
        (
            ["fit", "--graph", "minus.csv", "-o", "m.safetensors"],
            "minus.csv, line 3: weight: expected a number >= 0, got '-1'",
        ),
        (
            ["fit", "--graph", "inf.gr", "-o", "m.safetensors"],
            "inf.gr, line 3: expected a finite weight >= 0, got 'inf'",
        ),
        (
            ["fit", "--graph", "minus.gr", "-o", "m.safetensors"],
            "minus.gr, line 3: expected a finite weight >= 0, got '-1'",
        ),
        (["fit", "--graph", "g.shp", "-o", "m.safetensors"], "g.shp: expected a name that ends in"),
        (
            ["fit", "--graph", "g.gr", "-o", "m.safetensors"],
            "g.gr: expected at least 4 nodes to sample pairs from, got 2",
        ),
        (
            ["predict", "TOWN", "--from", "1", "--from-file", "x.csv"],
            "--from-file: expected a file or --from, got both",
        ),
        (["predict", "TOWN", "--to-file", "x.csv"], "x.csv: no such file"),
        (["predict", "TOWN", "--to-file", "ids.csv"], "--to-file: 'nowhere' is not among the 196 objects of"),
        (
            ["predict", "TOWN", "--to-file", "far.csv"],
            "far.csv, line 2: lon, lat: expected a longitude and latitude within 500 m",
        ),
    ],
)
def test_bad_input(
    words: list[str],
    message: str,
    city: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.gr").write_text("p sp 2 2\na 1 2 1\na 2 1 1\n")
    Path("g.shp").touch()
    Path("e.csv").write_text("from,to,weight\na,b,1\nb,c,1\nc,d,1\nd,e,1\ne,a,1\n")
    Path("named.csv").write_text("a,b,w\nx,y,1\n")
    for name, bad in {"inf": "inf", "nan": "nan", "minus": "-1"}.items():
        Path(f"{name}.csv").write_text(f"from,to,weight\na,b,1\nb,a,{bad}\n")
        Path(f"{name}.gr").write_text(f"p sp 2 2\na 1 2 1\na 2 1 {bad}\n")
    Path("ids.csv").write_text("id\nnowhere\n")
    Path("far.csv").write_text("id,lon,lat\na,-8,410\n")
    assert main([word.replace("TOWN", str(city / "town.safetensors")) for word in words]) == 2
    assert message in capsys.readouterr().err
    assert not Path("m.safetensors").exists()


def test_the_pace_is_that_of_the_input() -> None:
    pace = {
        recipe: [signature(recipe).parameters[name].default for name in ("epochs", "batch_size", "learning_rate")]
        for recipe in (tm.learn_pairs, tm.graphs.learn_graph)
    }
    assert pace == {tm.learn_pairs: [100, 256, 0.01], tm.graphs.learn_graph: [10, 512, 0.003]}
    assert {"epochs", "batch_size"}.isdisjoint(Fit(graph=Path("g.gr"), output=Path("m.safetensors"))._choices())
