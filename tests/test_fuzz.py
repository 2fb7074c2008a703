"""A short run of the fuzzer over every reader; `make fuzz` is the long one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

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


@pytest.mark.parametrize("name", READERS)
def test_mutations_change_valid_files(name: str) -> None:
    if name in NATIVE:
        pytest.importorskip("osmium")
    reader = READERS[name]
    seeds = reader.seeds()
    for mutation in set(reader.mutations):
        random = Random(0)
        assert any(mutation(data, random) != data for data in seeds for _ in range(10))


def test_readers_in_other_languages() -> None:
    pytest.importorskip("osmium")
    words = [word for name in NATIVE for word in ("--reader", name)]
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--inputs", str(INPUTS), *words], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
