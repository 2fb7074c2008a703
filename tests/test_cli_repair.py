"""The command `trimetric repair`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trimetric as tm
from trimetric.cli import main

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_repair_writes_a_metric_and_says_how_near_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    given = np.random.default_rng(0).uniform(0, 5, (20, 20))
    np.fill_diagonal(given, 0)
    np.savetxt("D.csv", given, delimiter=",")
    assert main(["repair", "D.csv", "-o", "X.npy", "--picture", "change.png", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["gap"] <= 1e-6
    assert told["written"] == ["X.npy", "change.png"]
    metric = np.load("X.npy")
    assert (metric[:, None] <= metric[:, :, None] + metric[None]).all()
    assert Path("change.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        ("0,1\n1,0\n2,2\n3,3\n", [], "D.csv: expected a square matrix, got 4 rows of 2 columns"),
        ("0,\n1,0\n", [], "expected finite distances, got D[0, 1] = nan; say --missing"),
        ("0,nan\n1,0\n", [], "expected finite distances, got D[0, 1] = nan; say --missing"),
        ("0,-1\n1,0\n", [], "D[0, 1] = -1"),
        ("1,1\n1,0\n", [], "D[0, 0] = 1"),
        ("0,1\n2,0\n", ["--symmetric"], "expected a symmetric matrix"),
        ("0,1,2\n1,x,1\n2,1,0\n", [], "D.csv, line 2: expected a number, got 'x'"),
        ("", [], "D.csv: expected a matrix, got an empty file"),
    ],
)
def test_repair_refuses(capsys: pytest.CaptureFixture[str], matrix: str, options: list[str], message: str) -> None:
    Path("D.csv").write_text(matrix)
    assert main(["repair", "D.csv", "-o", "X.npy", *options]) == 2
    assert message in capsys.readouterr().err
    assert not Path("X.npy").exists()


def test_repair_shows_gap_and_violation(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    given = np.random.default_rng(0).uniform(0, 5, (20, 20))
    np.fill_diagonal(given, 0)
    np.save("D.npy", given)
    monkeypatch.setattr("trimetric.progress.LINE_SECONDS", 0.0)
    assert main(["repair", "D.npy", "-o", "X.csv"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 3
    assert all(re.match(r"round \d+  gap (about )?\S+  largest violation \S+  \S+ s$", line) for line in lines)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, as far as rich knows
    assert main(["repair", "D.npy", "-o", "X.csv"]) == 0
    assert "repairing" in capsys.readouterr().err
    assert main(["repair", "D.npy", "-o", "X.csv", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_repair_interrupted_writes_the_best_so_far() -> None:
    given = np.random.default_rng(0).uniform(0, 5, (60, 60))
    np.fill_diagonal(given, 0)
    np.save("D.npy", given)
    code = (
        "import sys, trimetric.progress as progress; from trimetric.cli import main; progress.LINE_SECONDS = 0.0\n"
        "sys.exit(main(['repair', 'D.npy', '-o', 'X.npy', '--tolerance', '1e-300', '--method', 'dykstra']))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("round ")
    process.terminate()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert "ended before the tolerance was reached (interrupted)" in out
    assert "relative duality gap" in out
    assert tm.nearness.is_metric(np.load("X.npy"))
