"""`trimetric repair` from and to the formats of solvers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matrices import random_matrix, triangles_hold

from trimetric.cli import main
from trimetric.files.matrices import read_square_matrix

VRP = """NAME : three
TYPE : VRPTW
DIMENSION : 3
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : FULL_MATRIX
CAPACITY : 7
EDGE_WEIGHT_SECTION
0 1 5
1 0 1
5 1 0
DEMAND_SECTION
1 0
2 3
3 4
DEPOT_SECTION
1
-1
EOF
"""


@pytest.mark.parametrize("method", ["nearest", "decrease-only", "increase-only"])
def test_an_instance_keeps_its_other_sections(method: str, tmp_path: Path) -> None:
    (tmp_path / "three.txt").write_text(VRP)
    words = ["repair", str(tmp_path / "three.txt"), "--method", method, "--integers", "--quiet"]
    assert main([*words, "-o", str(tmp_path / "fixed.vrp")]) == 0
    fixed = read_square_matrix(tmp_path / "fixed.vrp").values
    assert triangles_hold(fixed)
    text = (tmp_path / "fixed.vrp").read_text()
    assert text.startswith(VRP.partition("EDGE_WEIGHT_SECTION")[0])
    assert text.endswith(VRP[VRP.index("DEMAND_SECTION") :])
    if method == "decrease-only":
        np.testing.assert_array_equal(fixed, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.json", "x.parquet", "x.atsp", "x.vrp"])
def test_every_format_holds_the_repaired_matrix(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    d = np.rint(50 * random_matrix(6, 0, symmetric=False)).astype(int)
    rows = [",".join(["", *"abcdef"]), *(",".join([n, *map(str, row)]) for n, row in zip("abcdef", d, strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(rows))
    words = ["repair", str(tmp_path / "d.csv"), "-o", str(tmp_path / name), "--method", "decrease-only", "--quiet"]
    assert main([*words, "--integers"]) == 0
    square = read_square_matrix(tmp_path / name)
    assert triangles_hold(square.values)
    assert (square.values <= d).all()
    if name in ("x.json", "x.parquet"):
        assert square.names == list("abcdef")
    if name in ("x.atsp", "x.vrp"):
        assert main(words) == 2
        assert "--integers" in capsys.readouterr().err


LATER = ("EDGE_WEIGHT_TYPE", "CAPACITY", "EDGE_WEIGHT_FORMAT")


@pytest.mark.parametrize("first", LATER)
@pytest.mark.parametrize("suffix", [".vrp", ".tsp", ".txt"])
def test_an_instance_keeps_its_sections_whatever_its_first_line(first: str, suffix: str, tmp_path: Path) -> None:
    lines = VRP.splitlines(keepends=True)
    lines.sort(key=lambda line: not line.startswith(first))
    (tmp_path / f"three{suffix}").write_text("".join(lines))
    words = ["repair", str(tmp_path / f"three{suffix}"), "--method", "decrease-only", "--integers", "--quiet"]
    assert main([*words, "-o", str(tmp_path / "fixed.vrp")]) == 0
    text = (tmp_path / "fixed.vrp").read_text()
    assert text == "".join(lines).replace("0 1 5", "0 1 2").replace("5 1 0", "2 1 0")


def test_a_table_whose_first_name_is_a_keyword_is_no_instance(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("NAME,TYPE,CAPACITY\n0,1,5\n1,0,1\n5,1,0\n")
    (tmp_path / "d.txt").write_text("CAPACITY DISTANCE VEHICLES\n0 1 5\n1 0 1\n5 1 0\n")
    for name in ("d.csv", "d.txt"):
        words = ["repair", str(tmp_path / name), "--method", "decrease-only", "--integers", "--quiet"]
        assert main([*words, "-o", str(tmp_path / "fixed.vrp")]) == 0
        np.testing.assert_array_equal(
            read_square_matrix(tmp_path / "fixed.vrp").values, [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
        )


VROOM = """{
 "vehicles": [{"id": 1, "start_index": 0, "capacity": [4], "speed": 1.50}], "note": "S\\u00e3o Jo\u00e3o [",
 "jobs": [{"id": 7, "location_index": 1}, {"id": 8, "location_index": 2}], "big": 123456789012345678901234567890,
 "matrices": {"car": {"durations": [[0, 1, 5], [1, 0, 1], [5, 1, 0]], "distances": [[0, 9, 9], [9, 0, 9], [9, 9, 0]]}}
}
"""
FIXED = "[[0, 1, 2],\n[1, 0, 1],\n[2, 1, 0]]"


def test_a_vroom_instance_keeps_all_but_its_matrix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.json").write_text(VROOM)
    words = ["repair", str(tmp_path / "v.json"), "-o", str(tmp_path / "v.json"), "--method", "decrease-only"]
    assert main([*words, "--overwrite"]) == 2
    assert "--integers: expected for" in capsys.readouterr().err
    assert (tmp_path / "v.json").read_text() == VROOM
    assert main([*words, "--overwrite", "--integers"]) == 0
    assert "distances will stay as in" in capsys.readouterr().err
    assert (tmp_path / "v.json").read_text() == VROOM.replace("[[0, 1, 5], [1, 0, 1], [5, 1, 0]]", FIXED)
    assert main([*words, "--overwrite", "--integers", "--cost", "distance"]) == 0
    assert (read_square_matrix(tmp_path / "v.json", cost="distance").values == 9 * (1 - np.eye(3))).all()
    assert triangles_hold(read_square_matrix(tmp_path / "v.json").values)


@pytest.mark.parametrize(
    "text",
    [
        "[[0, 1, 5], [1, 0, 1], [5, 1, 0]]",
        '{"code": "Ok", "sources": [{"at": "a ]}"}], "ids": [1, 2, 3], "durations": [[0, 1, 5], [1, 0, 1], [5, 1, 0]]}',
        '{"durations": null, "distance_matrix" : [[0, 1, 5], [1, 0, 1], [5, 1, 0]] , "num_vehicles": 4, "depot": 2}\n',
        '{"num_vehicles": 4, "duration_matrices": [ [[0, 1, 5], [1, 0, 1], [5, 1, 0]] ], "clients": {"matrices": {}}}',
        '{"time_matrix": 3, "depot": {"time_matrix": 1}, "time_matrix": [[0, 1, 5], [1, 0, 1], [5, 1, 0]]}',
        '{"matrices": {"durations": [[0, 1, 5], [1, 0, 1], [5, 1, 0]]}}',
        '{"matrices": {"bike": {"distances": [[0, 1, 5], [1, 0, 1], [5, 1, 0]], "costs": [[1]]}}, "jobs": []}',
    ],
    ids=["a list", "OSRM", "OR-Tools", "PyVRP", "a key twice", "a profile named durations", "VROOM"],
)
def test_json_keeps_all_but_its_matrix(text: str, tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(text)
    words = ["repair", str(tmp_path / "d.json"), "--method", "decrease-only", "--integers", "--quiet"]
    assert main([*words, "-o", str(tmp_path / "x.json")]) == 0
    assert (tmp_path / "x.json").read_text() == text.replace("[[0, 1, 5], [1, 0, 1], [5, 1, 0]]", FIXED)
    np.testing.assert_array_equal(read_square_matrix(tmp_path / "x.json").values, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.npz", "x.parquet"])
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("names", [["home", "a, b;\tc", '"q" d'], ["1", "2", "3"], ["0", "1.5", "nan"]])
def test_names_of_the_objects_are_kept(name: str, integers: bool, names: list[str], tmp_path: Path) -> None:
    d = np.array([[0, 1 / 3, 5], [1, 0, 1], [5, 1, 0]])
    np.savez(tmp_path / "d.npz", D=d, ids=np.array(names))
    words = ["repair", str(tmp_path / "d.npz"), "-o", str(tmp_path / name), "--method", "decrease-only", "--quiet"]
    assert main([*words, *(["--integers"] if integers else [])]) == 0
    for gaps in (False, True):
        square = read_square_matrix(tmp_path / name, gaps=gaps)
        assert square.names == names
        if not integers:
            np.testing.assert_array_equal(square.values, [[0, 1 / 3, 1 / 3 + 1], [1, 0, 1], [2, 1, 0]])


@pytest.mark.parametrize("names", [["a", " a", "b"], ["a", "b\r", "c"]])
def test_names_that_could_not_be_read_back_are_left_out_with_a_note(
    names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "d.npz", D=[[0, 1, 5], [1, 0, 1], [5, 1, 0]], ids=np.array(names))
    assert main(["repair", str(tmp_path / "d.npz"), "-o", str(tmp_path / "x.csv"), "--method", "decrease-only"]) == 0
    assert "x.csv: without the names of" in capsys.readouterr().err
    square = read_square_matrix(tmp_path / "x.csv")
    assert square.names is None
    assert main(["repair", str(tmp_path / "d.npz"), "-o", str(tmp_path / "x.npz"), "--method", "decrease-only"]) == 0
    assert read_square_matrix(tmp_path / "x.npz").names == names
    np.testing.assert_array_equal(square.values, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
