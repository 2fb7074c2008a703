"""Instances of TSPLIB and VRPLIB: triangles of a matrix, numbers with exponents, and the sections around them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trimetric.cli import main
from trimetric.files.matrices import read_matrix
from trimetric.files.tsplib import with_other_matrix

HEAD = "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {}\nEDGE_WEIGHT_SECTION\n{}\nEOF\n"
TRIANGLES = {
    "FULL_MATRIX": "9 {0} 5\n{0} 9 1\n5 1 9",
    "UPPER_ROW": "{0} 5\n1",
    "LOWER_ROW": "{0}\n5 1",
    "UPPER_DIAG_ROW": "9 {0} 5\n9 1\n9",
    "LOWER_DIAG_ROW": "9\n{0} 9\n5 1 9",
}


@pytest.mark.parametrize("form", TRIANGLES)
@pytest.mark.parametrize("number", [-4.0, 0.0, 2.0])
def test_every_format_holds_the_same_matrix(form: str, number: float, tmp_path: Path) -> None:
    (tmp_path / "t.tsp").write_text(HEAD.format(form, TRIANGLES[form].format(number)))
    np.testing.assert_array_equal(read_matrix(tmp_path / "t.tsp"), [[0, number, 5], [number, 0, 1], [5, 1, 0]])


@pytest.mark.parametrize("form", TRIANGLES)
def test_a_negative_weight_is_refused_in_every_format(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.tsp").write_text(HEAD.format(form, TRIANGLES[form].format(-4)))
    for words in (
        ["audit", str(tmp_path / "t.tsp")],
        ["repair", str(tmp_path / "t.tsp"), "-o", str(tmp_path / "x.npy")],
    ):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert "distances >= 0, got -4" in error
        assert not (tmp_path / "x.npy").exists()


@pytest.mark.parametrize("form", TRIANGLES)
@pytest.mark.parametrize("number", ["1E1", "1.0E+01", "1e1"])
def test_the_capital_of_an_exponent_does_not_end_the_section(form: str, number: str, tmp_path: Path) -> None:
    file = tmp_path / "t.tsp"
    file.write_text(HEAD.format(form, TRIANGLES[form].format(number)))
    np.testing.assert_array_equal(read_matrix(file), [[0, 10, 5], [10, 0, 1], [5, 1, 0]])
    text = with_other_matrix(file, np.array([[0, 6, 5], [6, 0, 1], [5, 1, 0]]))
    assert text.endswith("EDGE_WEIGHT_SECTION\n0 6 5\n6 0 1\n5 1 0\nEOF\n")


def test_a_comment_may_name_the_section(tmp_path: Path) -> None:
    file = tmp_path / "t.tsp"
    file.write_text("COMMENT: its EDGE_WEIGHT_SECTION is full\n" + HEAD.format("UPPER_ROW", "2 5 1"))
    np.testing.assert_array_equal(read_matrix(file), [[0, 2, 5], [2, 0, 1], [5, 1, 0]])
    text = with_other_matrix(file, np.zeros((3, 3), int))
    assert text.startswith("COMMENT: its EDGE_WEIGHT_SECTION is full\nTYPE: TSP\n")
    assert text.endswith("EDGE_WEIGHT_SECTION\n0 0 0\n0 0 0\n0 0 0\nEOF\n")
