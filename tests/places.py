"""Where the tests find the project and the data of experiments, which may be absent."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
DATA = ROOT.parent / "shared" / "data"
