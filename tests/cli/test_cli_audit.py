"""What `trimetric audit` says of single objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import trimetric as tm
from trimetric.cli import main


@pytest.mark.parametrize("options", [[], ["--points", "7"]])
def test_the_worst_triple_is_named(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(0)
    names = [f"n{i}" for i in range(12)]
    model = tm.Model(tm.Siamese(torch.nn.Embedding(12, 4), tm.MLPDistance(4)), names)
    model.save(tmp_path / "mlp.safetensors")
    assert main(["audit", str(tmp_path / "mlp.safetensors"), "--json", *options]) == 0
    answer = json.loads(capsys.readouterr().out)
    x, y, z = answer["worst_objects"]
    assert [names[row] for row in answer["worst_triple"]] == [x, y, z]
    direct, first, second = model.distances([x, x, y], [z, y, z])
    assert (direct - first - second).item() == pytest.approx(answer["triangle_defect"], rel=1e-4)


def test_random_points_have_no_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tm.Model(tm.Siamese(torch.nn.Embedding(3, 4), tm.MLPDistance(4)), list("abc")).save(tmp_path / "mlp.safetensors")
    assert main(["audit", str(tmp_path / "mlp.safetensors"), "--json", "--random", "--points", "9"]) == 0
    assert json.loads(capsys.readouterr().out)["worst_objects"] is None
