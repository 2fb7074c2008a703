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
