"""The parts of the benchmarks that other benchmarks share."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import pytest
import torch
from rich.console import Console
from torch import Tensor, nn

from benchmarks import limits, nearness, torchqmet_heads
from benchmarks.limits import Limit, share_of_limit


def test_a_share_is_the_part_of_the_limit_that_was_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "limits", lambda: (Limit("torch.mm", "float32", 4e9), Limit("maximum", "float32", 1e9)))
    assert share_of_limit("torch.mm", "float32", 1e9, 0.5) == 0.5
    assert share_of_limit("maximum", "float32", 1e9, 2.0) == 0.5
    assert share_of_limit("torch.mm", "float64", 1e9, 1.0) is None


def test_limits_are_measured_for_both_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REPEATS", 20)
    monkeypatch.setattr(limits, "ROUNDS", 3)
    found = limits._measure()
    kinds = {limit.operation for limit in found}
    assert "torch.mm" in kinds
    assert {(limit.operation, limit.dtype) for limit in found} == {
        (kind, dtype) for kind in kinds for dtype in ("float32", "float64")
    }
    assert all(limit.per_second > 0 for limit in found)


def printed(rows: list[torchqmet_heads.Compared]) -> str:
    console = Console(file=io.StringIO(), width=140)
    torchqmet_heads.show(rows, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_without_torchqmet_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchqmet", None)
    assert torchqmet_heads.torchqmet() is None
    assert torchqmet_heads.run() == []
    assert printed([]).count("\n") == 1
    assert "torchqmet" in printed([])


class PlainIQE(nn.Module):
    def __init__(self, input_size: int, dim_per_component: int = 16) -> None:
        super().__init__()
        self.shape = (input_size // dim_per_component, dim_per_component)
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.scale * (y - x).unflatten(-1, self.shape).relu().sum(-1).amax(-1)


class OtherArguments(nn.Module):
    def __init__(self, input_size: int, layers: int) -> None:
        super().__init__()
        self.size = input_size * layers


class PlainMRN(PlainIQE):
    def __init__(self, input_size: int) -> None:
        super().__init__(input_size)


def test_heads_of_torchqmet_are_compared_where_it_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that is missing, or has other arguments than documented, is left out."""
    fake = ModuleType("torchqmet")
    fake.IQE, fake.DeepNorm, fake.MRNFixed = PlainIQE, OtherArguments, PlainMRN  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torchqmet", fake)
    monkeypatch.setattr(torchqmet_heads, "ROWS", 16)
    monkeypatch.setattr(torchqmet_heads, "PAIRS", 16)
    rows = torchqmet_heads.run(budget=0.01)
    assert [(row.head, row.way) for row in rows] == [
        (f"{head}{suffix}", way)
        for head in ("IQE", "MRN")
        for suffix in ("", ", one import changed")
        for way in torchqmet_heads.WAYS
    ]
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)
    assert "IQE" in printed(rows)
    assert "WN" not in printed(rows)


def test_the_growth_of_nearness_keeps_sizes_that_were_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def row(n: int, seconds: float) -> nearness.Growth:
        return nearness.Growth("the paper's symmetric", n, seconds, 9, 1e-7, 100, 0.01, 1.0)

    saved = tmp_path / "results.json"
    before = nearness.Solved(50, {}, {}, [row(20, 1.0), row(5000, 300.0)])
    saved.write_text(json.dumps({"nearness": asdict(before)}))
    drawn: list[nearness.Growth] = []
    monkeypatch.setattr(nearness, "RESULTS", saved)
    monkeypatch.setattr(nearness, "draw_growth", lambda rows, _: drawn.extend(rows))
    nearness.run(quick=True, sizes=[20, 30], picture=tmp_path / "growth.png")
    sizes = {(row.data, row.n) for row in drawn}
    assert sizes == {(name, n) for name in nearness.DATA for n in (20, 30)} | {("the paper's symmetric", 5000)}
    assert all(row.seconds != 1.0 for row in drawn)
    monkeypatch.undo()
    nearness.draw_growth(drawn, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
