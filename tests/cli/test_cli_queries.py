"""What the command answers about a model: predict, audit, info and export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cli_answers import answer, table

import trimetric as tm
from trimetric.cli import main

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_predict(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = city / "points.safetensors"
    model = tm.Model.load(file)
    ids, every = list(model.ids or ()), model.all_pairs()
    row = {name: i for i, name in enumerate(ids)}

    def check(found: list[dict[str, Any]], pairs: list[tuple[str, str]]) -> None:
        assert [(pair["from"], pair["to"]) for pair in found] == pairs
        expected = [every[row[a], row[b]].item() for a, b in pairs]
        assert [float(pair["distance"]) for pair in found] == pytest.approx(expected, rel=1e-4, abs=1e-6)

    check(answer(capsys, "predict", file, "--from", "A1", "--to", "H8")["pairs"], [("A1", "H8")])
    both = ["predict", file, "--from", "A1", "B2", "--to", "H8", "C3"]
    check(answer(capsys, *both)["pairs"], [("A1", "H8"), ("A1", "C3"), ("B2", "H8"), ("B2", "C3")])
    check(answer(capsys, "predict", file, "--to", "C3")["pairs"], [(name, "C3") for name in ids])
    check(answer(capsys, "predict", file, "--all-pairs")["pairs"], [(a, b) for a in ids for b in ids])

    others = [name for name in ids if name != "D4"]
    there = sorted(others, key=lambda name: every[row["D4"], row[name]].item())[:4]
    check(answer(capsys, "predict", file, "--from", "D4", "--nearest", 4)["pairs"], [("D4", name) for name in there])
    back = sorted(others, key=lambda name: every[row[name], row["D4"]].item())[:4]
    reverse = answer(capsys, "predict", file, "--from", "D4", "--nearest", 4, "--reverse")
    check(reverse["pairs"], [(name, "D4") for name in back])
    assert len(answer(capsys, "predict", file, "--from", "D4", "--nearest", 1000)["pairs"]) == 63
    assert len(answer(capsys, "predict", file, "--nearest", 2)["pairs"]) == 128

    Path("ask.csv").write_text("to,from\nA1,B1\nB1,B1\nA1,B1\n")
    assert main(["predict", str(file), "ask.csv", "-o", "told.tsv"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 distances written to told.tsv"
    told = table(Path("told.tsv").read_text(), delimiter="\t")
    check(told, [("B1", "A1"), ("B1", "B1"), ("B1", "A1")])

    assert main(["predict", str(file), str(city / "pairs.csv")]) == 0
    out, err = capsys.readouterr()
    rows = table(out)
    mse = np.mean([(float(row["distance"]) - float(row["given"])) ** 2 for row in rows])
    assert len(rows) == 4032
    assert f"mean squared error {mse:.4g}" in err


def test_predict_for_objects_that_were_not_there(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.csv").write_text("y,id,x\n0,corner,0\n3.5,middle,3.5\n")
    file = city / "features.safetensors"
    found = answer(capsys, "predict", file, "--features", "new.csv", "--all-pairs")["pairs"]
    expected = tm.Model.load(file).all_pairs(torch.tensor([[0.0, 0.0], [3.5, 3.5]]))
    assert [pair["distance"] for pair in found] == pytest.approx(expected.flatten().tolist(), rel=1e-4)
    Path("few.csv").write_text("id,x\na,1\n")
    assert main(["predict", str(file), "--features", "few.csv", "--all-pairs"]) == 2
    assert "few.csv: expected a column 'y'" in capsys.readouterr().err
    assert main(["predict", str(city / "points.safetensors"), "--features", "new.csv", "--all-pairs"]) == 2


class Liar(tm.Distance):
    """Promises the triangle inequality, and is a square."""

    axioms = tm.Axioms(symmetric=True)

    def __init__(self, dim: int) -> None:
        super().__init__(dim, num_components=1, pool="mean")

    def components(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x - y).square().sum(-1, keepdim=True)


def test_audit(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "audit", city / "points.safetensors", "--points", 30)
    assert (told["points"], told["triples"], told["holds"], told["triangle_defect"]) == (30, 27000, True, 0)
    told = answer(capsys, "audit", city / "features.safetensors", "--random")
    assert (told["points"], told["holds"]) == (500, True)
    tm.Model(Liar(3)).save("liar.safetensors")
    assert main(["audit", "liar.safetensors", "--points", "20"]) == 1
    assert "BROKEN: triangle" in capsys.readouterr().out
    assert main(["audit", "liar.safetensors", "--points", "0"]) == 2


def test_info(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "info", city / "features.safetensors")
    model = tm.Model.load(city / "features.safetensors")
    assert told["weights"] == sum(p.numel() for p in model.network.parameters())
    assert told["ids"] == model.ids
    assert told["notes"]["feature_columns"] == ["x", "y"]
    assert told["promises"]["triangle"]
    assert main(["info", str(city / "features.safetensors")]) == 0
    out = capsys.readouterr().out
    assert "MLP(in_features=2, out_features=8, widths=[16])" in out
    assert "64: A1, B1, C1, D1, E1, ..." in out


def test_export(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(city / "features.safetensors"), "-o", "m.pt2"]) == 0
    assert capsys.readouterr().out == "written: m.pt2\n"
    model = tm.Model.load(city / "features.safetensors")
    x, y = model.objects(["A1", "B2", "C3"]), model.objects(["H8", "A1", "C3"])
    torch.testing.assert_close(torch.export.load("m.pt2").module()(x, y), model.network(x, y))
