"""The command `trimetric repair`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import replace
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


REFUSED: dict[str, tuple[str, list[str], str]] = {
    "not square": ("0,1\n1,0\n2,2\n3,3\n", [], "D.csv: expected a square matrix, got 4 rows of 2 columns"),
    "empty cell": ("0,\n1,0\n", [], "D.csv, line 1, column 2: expected distances that are numbers, got nan; --missing"),
    "nan below a header": (
        "a,b\n0,1\nnan,0\n",
        [],
        "D.csv, line 3, column 1: expected distances that are numbers, got",
    ),
    "inf": ("0,inf\n1,0\n", [], "D.csv, line 1, column 2: expected finite distances, got inf; leave unknown cells"),
    "inf with --missing": (
        "0,inf\n1,0\n",
        ["--missing"],
        "D.csv, line 1, column 2: expected finite distances, got inf",
    ),
    "inf beside a gap": (
        "0,inf,1\n1,0,\n1,1,0\n",
        ["--missing"],
        "D.csv, line 1, column 2: expected finite distances, got inf",
    ),
    "negative": ("x,a,b\na,0,1\nb,-1,0\n", [], "D.csv, line 3, column 2: expected distances >= 0, got -1\n"),
    "diagonal": ("1,1\n1,0\n", [], "D.csv, line 1, column 1: expected zeros on the diagonal, got 1\n"),
    "asymmetric": (
        "0,1\n1.0000001,0\n",
        ["--symmetric"],
        "D.csv, line 1, column 2: expected a symmetric matrix, got 1 and 1.0000001 in line 2, column 1; without --s",
    ),
    "text": ("0,1,2\n1,x,1\n2,1,0\n", [], "D.csv, line 2: expected a number, got 'x'"),
    "empty file": ("", [], "D.csv: expected a matrix, got an empty file"),
    "all missing": (",,\n,,\n,,\n", ["--missing"], "D.csv: expected at least one known distance, got none"),
    "names or distances": (",1,2\n1,,3\n2,3,\n", ["--missing"], "D.csv: expected zeros on the diagonal; with empty"),
    "too long to fill in": ("0,1.7e308,\n,0,1.7e308\n,,0\n", ["--missing"], "D.csv: expected distances whose sums are"),
    "tolerance below 0": ("0,1\n1,0\n", ["--tolerance", "-1"], "--tolerance: expected a finite number from 0, got -1"),
    "tolerance nan": ("0,1\n1,0\n", ["--tolerance", "nan"], "--tolerance: expected a finite number from 0, got nan"),
    "no time": ("0,1\n1,0\n", ["--max-seconds", "0"], "--max-seconds: expected a finite number above 0, got 0"),
    "negative time": ("0,1\n1,0\n", ["--max-seconds", "-1"], "--max-seconds: expected a finite number above 0, got -1"),
    "time nan": ("0,1\n1,0\n", ["--max-seconds", "nan"], "--max-seconds: expected a finite number above 0, got nan"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_repair_refuses(capsys: pytest.CaptureFixture[str], case: str) -> None:
    matrix, options, message = REFUSED[case]
    Path("D.csv").write_text(matrix)
    assert main(["repair", "D.csv", "-o", "X.npy", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert not Path("X.npy").exists()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [-1, 0]], "D.npy, row 1, column 0 (counted from 0): expected distances >= 0, got -1"),
        (np.zeros((0, 0)), "D.npy: expected at least one object, got none"),
        ([[0, 1, 2], [1, 0, 3]], "D.npy: expected a square matrix of numbers, got shape (2, 3)"),
    ],
    ids=["negative", "no objects", "not square"],
)
def test_repair_refuses_arrays(matrix: object, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("D.npy", np.array(matrix, dtype=float))
    assert main(["repair", "D.npy", "-o", "X.npy"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")
    assert not Path("X.npy").exists()


@pytest.mark.parametrize(
    ("matrix", "options", "expected"),
    [
        ("0\n", [], [[0]]),
        ("0,1\n2,0\n", [], [[0, 1], [2, 0]]),
        ("0,0\n0,0\n", ["--picture", "X.png"], [[0, 0], [0, 0]]),
        ("0,1,5\n1,0,1\n5,1,0\n", ["--symmetric", "--tolerance", "0"], [[0, 2, 4], [2, 0, 2], [4, 2, 0]]),
        (",,\n1,,2\n3,4,\n", ["--missing"], [[0, 4, 4], [1, 0, 2], [3, 4, 0]]),
        ("0,5e300,1e300\n5e300,0,1e300\n1e300,1e300,0\n", ["--symmetric"], [[0, 4e300, 2e300]]),
        ("0,5e-300,1e-300\n5e-300,0,1e-300\n1e-300,1e-300,0\n", ["--symmetric"], [[0, 4e-300, 2e-300]]),
    ],
    ids=["one object", "two", "zeros", "tolerance 0", "a row missing", "huge", "tiny"],
)
def test_repair_of_odd_matrices(
    matrix: str, options: list[str], expected: list[list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("D.csv").write_text(matrix)
    assert main(["repair", "D.csv", "-o", "X.npy", *options]) == 0
    out = capsys.readouterr().out
    assert "nan" not in out
    assert "-0" not in out.replace("e-0", "")
    assert not re.search(r"\b0 (raised|lowered)", out)
    np.testing.assert_allclose(np.load("X.npy")[: len(expected)], expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["itself", "dotted", "symbolic link", "hard link"])
def test_repair_keeps_its_input_unless_told(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = "0,1,5\n1,0,1\n5,1,0\n"
    Path("D.csv").write_text(text)
    output = {"itself": "D.csv", "dotted": "./../" + Path.cwd().name + "/D.csv"}.get(kind, "link.csv")
    if kind == "symbolic link":
        Path("link.csv").symlink_to("D.csv")
    elif kind == "hard link":
        Path("link.csv").hardlink_to("D.csv")
    assert main(["repair", "D.csv", "-o", output]) == 2
    assert "expected a file other than D.csv, got the same; --overwrite replaces it" in capsys.readouterr().err
    assert Path("D.csv").read_text() == text
    assert main(["repair", "D.csv", "-o", output, "--overwrite", "--quiet"]) == 0
    assert Path(output).read_text() != text


def test_repair_keeps_its_output_from_its_picture(capsys: pytest.CaptureFixture[str]) -> None:
    Path("D.csv").write_text("0,1\n1,0\n")
    Path("X.npy").write_bytes(b"before")
    Path("X.png").symlink_to("X.npy")
    assert main(["repair", "D.csv", "-o", "X.npy", "--picture", "X.png"]) == 2
    assert "--picture: X.png: expected a file other than X.npy" in capsys.readouterr().err
    assert Path("X.npy").read_bytes() == b"before"


def test_a_picture_that_cannot_be_drawn_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("too wide")

    monkeypatch.setattr(tm.nearness, "save_picture", fail)
    Path("D.csv").write_text("0,1\n1,0\n")
    assert main(["repair", "D.csv", "-o", "X.npy", "--picture", "X.png"]) == 1
    assert capsys.readouterr().err == (
        "error: --picture: X.png: could not be drawn (too wide); the matrix is in X.npy\n"
    )
    assert np.load("X.npy").shape == (2, 2)


def test_a_repair_that_is_not_finite_is_not_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tm.nearness.nearest_metric
    spoiled = lambda *d, **named: replace(whole(*d, **named), objective=np.nan)  # noqa: E731
    monkeypatch.setattr(tm.nearness, "nearest_metric", spoiled)
    Path("D.csv").write_text("0,1\n1,0\n")
    assert main(["repair", "D.csv", "-o", "X.npy"]) == 1
    told = capsys.readouterr()
    assert told == ("", "error: D.csv: the repair left the range of floating point; nothing was written\n")
    assert not Path("X.npy").exists()


def test_repair_shows_gap_and_violation(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    given = np.random.default_rng(0).uniform(0, 5, (20, 20))
    np.fill_diagonal(given, 0)
    np.save("D.npy", given)
    monkeypatch.setattr("trimetric._support.progress.LINE_SECONDS", 0.0)
    assert main(["repair", "D.npy", "-o", "X.csv"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 3
    assert all(re.match(r"round \d+  gap (about )?\S+  largest violation \S+  \S+ s$", line) for line in lines)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, as far as rich knows
    assert main(["repair", "D.npy", "-o", "X.csv"]) == 0
    assert "repairing" in capsys.readouterr().err
    assert main(["repair", "D.npy", "-o", "X.csv", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


SLOW = """
import os, signal, sys
import trimetric._support.progress as progress
from trimetric.cli import main
progress.LINE_SECONDS = 0.0
sys.exit(main())
"""


def interrupted(*numbers: int) -> subprocess.CompletedProcess[str]:
    """A repair that would take forever, with these signals after its first round; the second as soon as it can."""
    given = np.random.default_rng(0).uniform(0, 5, (60, 60))
    np.fill_diagonal(given, 0)
    np.save("D.npy", given)
    options = ["--tolerance", "1e-300", "--method", "dykstra"]
    again = f"lambda number: (before(number), os.kill(os.getpid(), {int(numbers[-1])}))"
    twice = f"""
import trimetric.cli.repair as repair
before = repair.tell_now
repair.tell_now = {again}
"""
    code = SLOW.replace("progress.LINE", (twice if len(numbers) > 1 else "") + "progress.LINE")
    words = [sys.executable, "-c", code, "repair", "D.npy", "-o", "X.npy", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("round ")
        process.send_signal(numbers[0])
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_repair_interrupted_writes_the_best_so_far(number: int) -> None:
    done = interrupted(number)
    assert done.returncode == 128 + number, done.stderr
    assert "stopping after this round; press Ctrl-C again to stop without a result\n" in done.stderr
    assert "ended before the tolerance was reached (interrupted)" in done.stdout
    assert "relative duality gap" in done.stdout
    assert tm.nearness.is_metric(np.load("X.npy"))


def test_repair_interrupted_twice_writes_nothing() -> None:
    done = interrupted(signal.SIGINT, signal.SIGINT)
    assert done.returncode == 130
    assert done.stderr.endswith("stopped\n")
    assert "Traceback" not in done.stderr
    assert not Path("X.npy").exists()
