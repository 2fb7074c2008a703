"""Matrices from files, those of TSPLIB repaired, and what a repair reports."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from matrices import random_matrix
from places import ROOT

from trimetric.nearness import nearest_metric, read_matrix, repair_picture, repair_report, violations, write_matrix

ATSP = Path(os.environ.get("TRIMETRIC_ATSP", ROOT.parent / "shared" / "data" / "atsp"))


def tsplib(name: str) -> np.ndarray:
    path = ATSP / f"{name}.atsp"
    if not path.exists():
        pytest.skip(f"no {path.name} in {ATSP.name}/: set TRIMETRIC_ATSP to a folder of TSPLIB instances")
    return read_matrix(path)


def test_tsplib_quasimetric_is_returned_unchanged() -> None:
    d = tsplib("ftv170")
    assert d.shape == (171, 171)
    result = nearest_metric(d)
    assert (result.matrix == d).all()
    assert (result.gap, result.objective, result.violations, result.converged) == (0, 0, 0, True)


def test_tsplib_with_noise_is_repaired_towards_the_truth() -> None:
    truth = tsplib("ftv170")
    noise = np.random.default_rng(0).normal(scale=0.2 * truth.mean(), size=truth.shape)
    noisy = np.maximum(truth + noise, 0.0)
    np.fill_diagonal(noisy, 0.0)
    result = nearest_metric(noisy, tolerance=1e-5)
    assert result.converged
    assert np.linalg.norm(result.matrix - truth) < 0.9 * np.linalg.norm(noisy - truth)


@pytest.mark.parametrize("name", ["br17", "p43", "ry48p", "kro124p", "rbg443"])
def test_tsplib_instances_are_repaired_exactly(name: str) -> None:
    d = tsplib(name)
    assert violations(d)[1] > 0
    result = nearest_metric(d)
    assert result.converged
    assert result.gap <= 1e-6
    assert violations(result.matrix) == (0.0, 0)


def test_files(tmp_path: Path) -> None:
    d = random_matrix(5, 0, symmetric=False)
    for name in ("d.npy", "d.npz", "d.csv", "d.tsv", "d.txt"):
        write_matrix(tmp_path / name, d)
        assert (read_matrix(tmp_path / name) == d).all()
    (tmp_path / "named.csv").write_text("city,a,b\na,0,1\nb,,0\n")
    np.testing.assert_array_equal(read_matrix(tmp_path / "named.csv"), [[0, 1], [np.nan, 0]])
    head = "NAME: t\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {}\nEDGE_WEIGHT_SECTION\n{}\nEOF\n"
    triangle = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    for form, numbers in {
        "FULL_MATRIX": "9 1 2 1 9 3 2 3 9",
        "UPPER_ROW": "1 2\n3",
        "LOWER_DIAG_ROW": "0 1 0 2 3 0",
    }.items():
        (tmp_path / "t.tsp").write_text(head.format(form, numbers))
        np.testing.assert_array_equal(read_matrix(tmp_path / "t.tsp"), triangle)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("d.xlsx", "", "d.xlsx: expected a name that ends in .csv, .tsv, .txt"),
        ("d.csv", "", "d.csv: expected a matrix, got an empty file"),
        ("d.csv", "0,1\n1", "d.csv, line 2: expected 2 columns as before, got 1"),
        ("d.csv", "0,1\n1,x", "d.csv, line 2: expected a number, got 'x'"),
        ("d.txt", "# from to\n0 1\n\n1 x", "d.txt, line 4: expected a number, got 'x'"),
        ("d.npy", "no array", "d.npy: expected arrays of NumPy"),
        ("t.tsp", "DIMENSION: x\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_SECTION\n1\n", "t.tsp: DIMENSION: expected a"),
        ("t.tsp", "EDGE_WEIGHT_TYPE: EUC_2D\n", "t.tsp: expected EDGE_WEIGHT_TYPE EXPLICIT with a matrix, got EUC_2D"),
        (
            "t.tsp",
            "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_SECTION\n1 2 3\nEOF",
            "t.tsp: expected 4 numbers for 2 nodes, got 3",
        ),
    ],
)
def test_mistakes_in_files(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_matrix(tmp_path / name)


def test_report_and_picture(tmp_path: Path) -> None:
    d = random_matrix(30, 0, symmetric=False)
    d[3, 4] = np.nan
    result = nearest_metric(d, missing="nan")
    report = repair_report(result, d)
    known = ~np.isnan(d) & ~np.eye(30, dtype=bool)
    assert report.known == known.sum() == 30 * 29 - 1
    assert report.filled == 1
    assert report.changed == report.raised + report.lowered > 0
    assert report.largest_rise == np.max((result.matrix - d)[known])
    assert report.broken_before > 0
    assert "after: none, in floating point" in str(report)
    repair_picture(result, d).savefig(tmp_path / "repair.png")
    assert (tmp_path / "repair.png").stat().st_size > 10_000
    with pytest.raises(ValueError, match="D: expected the matrix that was repaired"):
        repair_report(result, d[:3, :3])
