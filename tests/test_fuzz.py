"""A short run of the fuzzer over every reader; `make fuzz` is the long one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.campaign import Campaign
from fuzz.registry import READERS, warm_up
from places import ROOT

INPUTS, COMMANDS = 60, 4
# These run in C++, where a crash takes the process with it.
NATIVE = ("graph osm", "graph osm.pbf")


@pytest.mark.parametrize("name", [name for name in READERS if name not in NATIVE])
def test_a_valid_result_or_one_line(name: str, tmp_path: Path) -> None:
    warm_up()
    campaign = Campaign(READERS[name], seed=0, commands=COMMANDS)
    campaign.begin(tmp_path)
    campaign.run(tmp_path, inputs=INPUTS)
    assert not campaign.escapes
    assert campaign.counts["refused"] or name in ("graph cache", "ledger")


def test_readers_in_other_languages() -> None:
    pytest.importorskip("osmium")
    words = [word for name in NATIVE for word in ("--reader", name)]
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--inputs", str(INPUTS), *words], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
