"""One thread a process (the suite runs on several), and the same random numbers in every order of the tests."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import torch

import trimetric.distances.all_pairs

torch.set_num_threads(1)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # the suite runs behind an &, but what it tests does not
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _fast_paths_for_small_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small inputs go through the definition for speed; here they must not, or nothing would be tested."""
    monkeypatch.setattr(trimetric.distances.all_pairs, "SMALL_FLOATS", 0)


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To be in, for commands that read and write files."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of the command, and two models of it."""
    from trimetric.cli import main

    folder = tmp_path_factory.mktemp("cli") / "city"
    assert main(["example", "-o", str(folder), "--quiet"]) == 0
    pairs, quick = str(folder / "pairs.csv"), ["--epochs", "3", "--dim", "8", "--learning-rate", "0.03", "--quiet"]
    assert main(["fit", pairs, "-o", str(folder / "points.safetensors"), *quick]) == 0
    features = ["--features", str(folder / "objects.csv"), "--widths", "16"]
    assert main(["fit", pairs, "-o", str(folder / "features.safetensors"), *features, *quick]) == 0
    return folder
