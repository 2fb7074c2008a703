"""What cannot fit in memory is refused by one line, before it is allocated."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest

from trimetric._support.memory import available_memory
from trimetric.cli import main

pytestmark = pytest.mark.usefixtures("empty_folder")

OUT = ["-o", "m.safetensors"]
NETWORK = "--dim, --widths, --concave-units: expected a network that can be trained in the "
OF_VALUES = "--dim, --widths, --waves, --concave-units: expected a network that can be trained in the "
HUGE = "1000000000000"
CASES: dict[str, tuple[list[str], str]] = {
    "dim": (["fit", "pairs.csv", *OUT, "--dim", HUGE], NETWORK),
    "dim squared": (["fit", "pairs.csv", *OUT, "--dim", HUGE, "--head", "mahalanobis"], NETWORK),
    "widths": (["fit", "pairs.csv", *OUT, "--features", "objects.csv", "--widths", HUGE], NETWORK),
    "concave units": (["fit", "pairs.csv", *OUT, "--concave-units", HUGE], NETWORK),
    "values dim": (["values", "fit", "--dataset", "steps.npz", *OUT, "--dim", HUGE], OF_VALUES),
    "values waves": (["values", "fit", "--dataset", "steps.npz", *OUT, "--waves", HUGE], OF_VALUES),
}


@pytest.mark.parametrize("case", CASES)
def test_networks_beyond_memory(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pairs.csv").write_text("from,to,distance\na,b,1\nb,c,2\nc,a,3\n")
    Path("objects.csv").write_text("id,x\na,1\nb,2\nc,3\n")
    np.savez("steps.npz", observations=[[0.0], [1.0]], next_observations=[[1.0], [2.0]], costs=[1.0, 1.0])
    words, message = CASES[case]
    assert main([*words, "--quiet"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {message}")
    assert told.count("\n") == 1
    assert {file.name for file in Path().iterdir()} == {"pairs.csv", "objects.csv", "steps.npz"}


@pytest.mark.parametrize(
    ("room", "message"),
    [
        (1000, "--sample: expected what fits in the 9.31e-07 GiB of available memory, got 100 pairs, which need"),
        (8000, "--landmarks: expected what fits in the 7.45e-06 GiB of available memory, got 30 landmarks, which"),
    ],
    ids=["sample", "landmarks"],
)
def test_samples_and_landmarks_beyond_memory(
    room: int, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("ring.csv").write_text("from,to,weight\n" + "".join(f"{i},{(i + 1) % 30},1\n" for i in range(30)))
    monkeypatch.setattr("trimetric.graphs.learning.graph_sample.available_memory", lambda: room)
    words = [
        "fit",
        "--graph",
        "ring.csv",
        *OUT,
        "--cache",
        ".",
        "--sample",
        "100",
        "--landmarks",
        "30",
        "--dim",
        "2",
        "--quiet",
    ]
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_a_limit_of_the_process_counts() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    try:
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 28), hard))
        assert 0 < available_memory() <= 1 << 28
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
