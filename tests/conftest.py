"""One thread a process (the suite runs on several), and the same random numbers in every order of the tests."""

from __future__ import annotations

import sys

import pytest
import torch

import trimetric.all_pairs  # noqa: F401

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _fast_paths_for_small_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small inputs go through the definition for speed; here they must not, or nothing would be tested."""
    monkeypatch.setattr(sys.modules["trimetric.all_pairs"], "SMALL_FLOATS", 0)
