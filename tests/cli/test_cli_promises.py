"""A model that promises nothing says so in every command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import trimetric as tm
from trimetric.cli import main

BEWARE = "this model promises nothing: its distances may break the triangle inequality"


@pytest.fixture(params=["nothing", "everything"])
def model(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, bool]:
    monkeypatch.chdir(tmp_path)
    distance = tm.MLPDistance(2) if request.param == "nothing" else tm.NormInduced(tm.WideNorm(2))
    tm.Model(distance, ["a", "b", "c"], torch.randn(3, 2)).save("m.safetensors")
    return "m.safetensors", request.param == "nothing"


def test_predict_info_export_and_audit(model: tuple[str, bool], capsys: pytest.CaptureFixture[str]) -> None:
    file, nothing = model
    assert main(["predict", file, "--all-pairs"]) == 0
    told = capsys.readouterr()
    assert (BEWARE in told.err) == nothing
    assert BEWARE not in told.out
    assert main(["predict", file, "--all-pairs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["promises"]["triangle"] != nothing
    assert main(["info", file]) == 0
    assert (BEWARE in capsys.readouterr().out) == nothing
    assert main(["export", file, "-o", "m.pt2"]) == 0
    assert (BEWARE in capsys.readouterr().out) == nothing
    assert main(["audit", file]) == 0
    told = capsys.readouterr().out
    assert ("nothing is promised" in told) == nothing
    assert ("every promise holds" in told) != nothing


@pytest.mark.usefixtures("empty_folder")
def test_fit_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.csv").write_text("from,to,distance\na,b,1\nb,c,2\nc,a,9\n")
    assert main(["fit", "p.csv", "-o", "m.safetensors", "--head", "mlp", "--epochs", "1"]) == 0
    told = capsys.readouterr().out
    assert "nothing is promised" in told
    assert "every promise holds" not in told
    steps = np.eye(4, 2)
    np.savez("log.npz", observations=steps, next_observations=1 - steps, costs=np.ones(4))
    quick = ["--epochs", "1", "--pairs", "9", "--held-out", "0", "-o", "v.safetensors"]
    assert main(["values", "fit", "--dataset", "log.npz", *quick, "--head", "mlp"]) == 0
    assert BEWARE in capsys.readouterr().out
    assert main(["values", "plan", "v.safetensors", "log.npz", "--pairs", "9"]) == 0
    assert BEWARE in capsys.readouterr().out


@pytest.mark.usefixtures("empty_folder")
def test_the_unit_goes_from_fit_to_predict(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.csv").write_text("from,to,distance\na,b,1\nb,c,2\nc,a,9\n")
    assert main(["fit", "p.csv", "-o", "m.safetensors", "--unit", "minutes", "--epochs", "1"]) == 0
    assert "pairs, in minutes:" in capsys.readouterr().out
    assert main(["predict", "m.safetensors", "--from", "a", "--to", "b"]) == 0
    assert "distances are in minutes" in capsys.readouterr().err
    assert main(["info", "m.safetensors", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unit"] == "minutes"
