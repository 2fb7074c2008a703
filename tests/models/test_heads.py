"""The registry of heads, and what is derived from it."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest
import torch
from places import ROOT

import trimetric as tm
from trimetric.models.heads import HEADS, HeadName, heads_table, make_head


def test_the_names_are_those_of_the_registry() -> None:
    assert get_args(HeadName) == tuple(HEADS)


def test_the_docs_have_the_table_of_the_registry() -> None:
    text = (ROOT / "docs/howto/choose-a-head.md").read_text()
    start, end = "<!-- heads: made by trimetric.models.heads.heads_table() -->\n", "\n<!-- /heads -->"
    assert text.partition(start)[2].partition(end)[0] == heads_table()


def test_the_registry_loads_without_torch() -> None:
    code = "import sys, trimetric.models.heads; assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", HEADS)
def test_a_head_is_what_its_entry_says(name: HeadName) -> None:
    head = HEADS[name]
    plain, bent = make_head(name, 6), make_head(name, 6, concave_units=3)
    assert plain(torch.randn(5, 6), torch.randn(5, 6)).shape == (5,)
    assert plain.axioms.triangle == bent.axioms.triangle == head.metric
    assert isinstance(bent, tm.NeuralMetric) == head.concave
    assert plain.axioms.symmetric == (head.symmetry == "always")
    if head.symmetry == "never":
        with pytest.raises(ValueError, match="symmetric: expected a head that can promise it, got 'mlp'"):
            make_head(name, 6, symmetric=True)
    else:
        assert make_head(name, 6, symmetric=True).axioms.symmetric


def test_the_recommended_head_is_calibrated_once() -> None:
    assert isinstance(tm.recommended(6, symmetric=False), tm.Calibrated)
    assert not isinstance(make_head("recommended", 6), tm.Calibrated)
