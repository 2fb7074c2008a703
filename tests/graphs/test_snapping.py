"""Places by their coordinates: the nearest node, how far away it is, and an error where that is too far."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch

import trimetric as tm
from trimetric.cli import main
from trimetric.graphs import OffTheMapError, snap
from trimetric.graphs.geography import ground_meters

PORTO = np.array([[-8.62, 41.14], [-8.61, 41.15], [-8.60, 41.16]])


def test_the_nearest_node_is_that_of_the_great_circle() -> None:
    random = np.random.default_rng(0)
    nodes = np.stack([random.uniform(-180, 180, 300), np.degrees(np.arcsin(random.uniform(-1, 1, 300)))], axis=1)
    places = np.concatenate([nodes[:20] + 1e-4, [[179.999, 0.0], [-179.999, 0.0], [12.0, 89.9], [0.0, -90.0]]])
    found = snap(nodes, places, max_metres=np.inf)
    table = np.stack([ground_meters(np.broadcast_to(place, nodes.shape), nodes) for place in places])
    np.testing.assert_array_equal(found.nodes, table.argmin(axis=1))
    np.testing.assert_allclose(found.metres, table.min(axis=1), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ([-0.1276, 51.5072], r"got -0.1276, 51.5072, 1,3\d\d km from the nearest node$"),
        ([41.15, -8.61], "km from the nearest node; swapped, they are 0 m from it$"),
        ([-8.61, 410.0], "got -8.61, 410, which are no degrees$"),
        ([np.nan, 41.15], "got nan, 41.15, which are no degrees$"),
    ],
    ids=["London", "swapped", "no degrees", "not a number"],
)
def test_a_place_off_the_map_is_an_error(place: list[float], problem: str) -> None:
    with pytest.raises(OffTheMapError, match=problem) as caught:
        snap(PORTO, [[-8.61, 41.15], place, place])
    assert caught.value.place == 1
    assert str(caught.value).startswith("places: row 1: expected a longitude and latitude within 500 m of the map")


def test_swapped_coordinates_that_are_no_degrees_are_recognized() -> None:
    with pytest.raises(OffTheMapError, match="got 40, 116, which are no degrees; swapped, they are 0 m from it"):
        snap([[116.0, 40.0]], [[40.0, 116.0]])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"places: expected rows of longitude and latitude, shape \(n, 2\), got"):
        snap(PORTO, [1.0, 2.0])
    with pytest.raises(ValueError, match="nodes: expected degrees, got"):
        snap(PORTO * 1e6, PORTO)
    with pytest.raises(ValueError, match="max_metres: expected a number >= 0, got -1"):
        snap(PORTO, PORTO, max_metres=-1)


@pytest.fixture
def porto(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    features = torch.tensor([[0.0], [100.0], [300.0]])
    places = torch.from_numpy(PORTO)
    distance = tm.NormInduced(tm.Euclidean(1))
    # A unit, as every map has: a note about it must not come before an error.
    return tm.Model(distance, ["a", "b", "c"], features, {"unit": "metres"}, places).save("porto.safetensors")


def rows(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, str]]:
    assert main([*map(str, words)]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_node_and_distance_are_columns(porto: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("homes.csv").write_text("id,lon,lat\nhome,-8.6101,41.1502\n")
    Path("places.csv").write_text("id,lon,lat\nsea,-8.62,41.14\nhill,-8.6,41.161\n")
    found = rows(capsys, "predict", porto, "--from-file", "homes.csv", "--to", "c")
    assert list(found[0]) == ["from", "to", "distance", "from_node", "from_snap_m"]
    away = ground_meters(np.array([[-8.6101, 41.1502]]), PORTO[1:2])[0]
    assert (found[0]["from_node"], float(found[0]["from_snap_m"])) == ("b", pytest.approx(away, abs=0.06))
    ends = ["--from-file", "homes.csv", "--to-file", "places.csv"]
    found = rows(capsys, "predict", porto, *ends)
    assert [(row["to"], row["to_node"]) for row in found] == [("sea", "a"), ("hill", "c")]
    assert [row["to_snap_m"] for row in found] == ["0.0", "111.2"]
    back = rows(capsys, "predict", porto, *ends, "--nearest", 1, "--reverse")
    assert (back[0]["from"], back[0]["from_node"], back[0]["to"], back[0]["to_node"]) == ("sea", "a", "home", "b")
    assert main(["predict", str(porto), *ends, "--json"]) == 0
    pair = json.loads(capsys.readouterr().out)["pairs"][1]
    assert (pair["from_node"], pair["to_node"], pair["to_snap_m"]) == ("b", "c", 111.2)


def test_a_file_off_the_map_names_line_place_and_remedy(porto: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("far.csv").write_text("id,lon,lat\nhome,-8.61,41.15\nLondon,-0.1276,51.5072\n")
    Path("swapped.csv").write_text("id,lon,lat\nhome,41.15,-8.61\n")
    Path("half.csv").write_text("id,lon\nhome,41.15\n")
    for file, message in {
        "far.csv": "error: far.csv, line 3: lon, lat: expected a longitude and latitude within 500 m of the map, got "
        "-0.1276, 51.5072, 1,3",
        "swapped.csv": "error: swapped.csv, line 2: lon, lat: expected",
        "half.csv": "error: half.csv: expected both columns lon and lat, or neither, got only 'lon'",
    }.items():
        assert main(["predict", str(porto), "--from-file", file, "--to", "a", "-o", "out.csv"]) == 2
        told = capsys.readouterr()
        assert told.err.startswith(message)
        assert (told.out, told.err.count("\n"), Path("out.csv").exists()) == ("", 1, False)
        assert ("swapped, they are 0 m from it" in told.err) == (file == "swapped.csv")
    assert main(["predict", str(porto), "--from-file", "far.csv", "--to", "a", "--max-snap", "2e6"]) == 0
    assert main(["predict", str(porto), "--from-file", "far.csv", "--to", "a", "--max-snap", "-1"]) == 2
    assert "--max-snap: expected a number of metres >= 0, got -1" in capsys.readouterr().err
