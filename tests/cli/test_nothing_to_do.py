"""An option about the data that finds nothing to do says so in a line on standard error; the result is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trimetric.cli import main

pytestmark = pytest.mark.usefixtures("empty_folder")

OUT = ["-o", "m.safetensors", "--epochs", "1", "--dim", "4"]
RING = "a,b,1\nb,c,1\nc,d,1\nd,a,1\n"
CASES: dict[str, tuple[list[str], str, str]] = {
    "drop-unreachable, pairs": (
        ["fit", "pairs.csv", *OUT, "--drop-unreachable"],
        "--drop-unreachable: nothing to drop, as no pair of pairs.csv is at infinite distance\n",
        "x,a,inf\n",
    ),
    "drop-unreachable, edges": (
        ["fit", "edges.csv", "--edges", *OUT, "--drop-unreachable"],
        "--drop-unreachable: nothing to drop, as no pair of edges.csv is at infinite distance\n",
        "x,a,1\n",
    ),
    "largest": (
        ["fit", "--graph", "edges.csv", *OUT, "--largest", "--cache", "cache"],
        "--largest: nothing to leave out, as edges.csv is connected\n",
        "x,a,1\n",
    ),
    "restart": (
        ["fit", "pairs.csv", *OUT, "--restart"],
        "--restart: nothing to start over, as there was no m.safetensors.checkpoint\n",
        "",
    ),
    "restart values": (
        ["values", "fit", "--dataset", "log.npz", "--pairs", "9", *OUT, "--restart"],
        "--restart: nothing to start over, as there was no m.safetensors.checkpoint\n",
        "",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_said_only_where_nothing_is_done(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, message, more = CASES[case]
    steps = np.eye(4, 2)
    np.savez("log.npz", observations=steps, next_observations=1 - steps, costs=np.ones(4))
    for rows, told in ((RING, True), (RING + more, False)):
        Path("pairs.csv").write_text("from,to,distance\n" + rows)
        Path("edges.csv").write_text("from,to,weight\n" + rows)
        if not told and "--restart" in words:
            Path("m.safetensors.checkpoint").write_text("of another run")
        assert main(words) == 0
        assert (message in capsys.readouterr().err) == told
    Path("pairs.csv").write_text("from,to,distance\n" + RING)
    Path("edges.csv").write_text("from,to,weight\n" + RING)
    assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_repair_without_gaps(capsys: pytest.CaptureFixture[str]) -> None:
    message = "--missing: nothing to fill in, as no cell of D.csv is empty or NaN\n"
    for matrix, told in {"0,1\n1,0\n": True, "0,\n1,0\n": False, "nan,1\n1,0\n": False}.items():
        Path("D.csv").write_text(matrix)
        assert main(["repair", "D.csv", "-o", "X.npy", "--missing"]) == 0
        assert (message in capsys.readouterr().err) == told
