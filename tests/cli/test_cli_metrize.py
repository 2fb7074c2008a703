"""`trimetric metrize`: a model or a table in, a distance that keeps the triangle inequality out."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from cli_answers import answer, table

import trimetric as tm
from trimetric.cli import main

SHORT = ["--steps", "50"]


def save_network(file: Path) -> tm.Model:
    torch.manual_seed(0)
    network = tm.Siamese(tm.MLP(2, 4), tm.MLPDistance(4, widths=(16,), output="softplus"))
    for parameter in network.distance.parameters():
        parameter.data.mul_(6)
    model = tm.Model(network, [f"n{i}" for i in range(20)], torch.randn(20, 2), {"unit": "minutes"})
    model.save(file)
    return model


def test_a_model_becomes_a_metric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = save_network(tmp_path / "mlp.safetensors")
    (tmp_path / "truth.csv").write_text("from,to,distance\nn0,n1,1\nn1,n2,2\nn3,n4,2\nn5,n6,3\n")
    words = ["metrize", tmp_path / "mlp.safetensors", "-o", tmp_path / "metric.safetensors", *SHORT]
    got = answer(capsys, *words, "--truth", tmp_path / "truth.csv")
    model = tm.Model.load(tmp_path / "metric.safetensors")
    assert model.axioms.triangle
    assert model.notes["unit"] == "minutes"
    assert model.notes["metrized"]["floor"] == got["floor"]
    assert got["triangle_defect_of_f"] > 0 == got["triangle_defect"]
    assert got["errors"]["pairs"] == 2
    assert tm.audit(model.network, model.objects()).triangle_defect == 0
    names = list(model.ids or ())
    values, distances = before.distances(names[:19], names[1:]), model.distances(names[:19], names[1:])
    assert torch.isclose(distances, values, rtol=1e-5).any()  # inside of the corridor nothing changes
    assert not list(tmp_path.glob("*.checkpoint"))
    assert main([*map(str, words), "--quiet", "--symmetric", "--floor", "0.5"]) == 0
    again = tm.Model.load(tmp_path / "metric.safetensors")
    assert again.axioms.symmetric
    assert float(again.distances(names[:19], names[1:]).min()) >= 0.5


def test_a_table_of_scores_becomes_a_metric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(i, j, 40 if (i, j) == (0, 5) else 3 + abs(i - j)) for i in range(6) for j in range(6) if i != j]
    (tmp_path / "scores.csv").write_text("a,b,s\n" + "".join(f"x{i},x{j},{s}\n" for i, j, s in rows))
    columns = ["--from-column", "a", "--to-column", "b", "--distance-column", "s"]
    got = answer(capsys, "metrize", tmp_path / "scores.csv", "-o", tmp_path / "d.csv", "--steps", "200", *columns)
    assert got["triangle_defect"] == 0
    new = {(row["a"], row["b"]): float(row["distance"]) for row in table((tmp_path / "d.csv").read_text())}
    assert len(new) == 30
    assert new["x0", "x5"] < 30
    assert min(new.values()) >= got["floor"] - 1e-4
    nodes = [f"x{i}" for i in range(6)]
    for x, y, z in ((x, y, z) for x in nodes for y in nodes for z in nodes if len({x, y, z}) == 3):
        assert new[x, z] <= new[x, y] + new[y, z] + 1e-4


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_network(tmp_path / "mlp.safetensors")
    model, out = str(tmp_path / "mlp.safetensors"), str(tmp_path / "x.safetensors")
    scores = {
        "itself": "from,to,distance\nn0,n0,0\nn1,n1,0\n",
        "endless": "from,to,distance\nn0,n1,inf\n",
        "other": "a,b,c\nn0,n1,1\n",
        "huge": "from,to,distance\nn0,n1,1e30\nn1,n2,1e30\n",
    }
    for name, text in scores.items():
        (tmp_path / f"{name}.csv").write_text(text)
    of = {name: str(tmp_path / f"{name}.csv") for name in scores}
    to_table = ("-o", str(tmp_path / "x.csv"), *SHORT)
    cases = {
        ("metrize", model, "-o", out, "--truth", of["itself"]): "expected at least two pairs of different objects, got",
        ("metrize", of["itself"], *to_table): "itself.csv: expected a pair of different objects, got none",
        ("metrize", of["endless"], *to_table): "expected a finite number (leave out pairs without one), got 'inf'",
        ("metrize", of["other"], *to_table): "--from-column, --to-column and --distance-column give other names\n",
        ("metrize", of["huge"], *to_table): "expected a mean above 0 and below 1e+18, got 1e+30",
        ("metrize", model, "-o", out, "--learning-rate", "0"): "--learning-rate: expected a finite number above 0, got",
        (
            "metrize",
            model,
            "-o",
            out,
            "--learning-rate",
            "-1",
        ): "--learning-rate: expected a finite number above 0, got",
        ("metrize", model, "-o", out, "--floor", "-1"): "--floor: expected a number >= 0, got -1",
        ("metrize", model, "-o", out, "--steps", "0"): "--steps: expected",
        ("metrize", model, "-o", str(tmp_path / "x.csv")): "--output: ",
        ("metrize", model, "-o", model): "--output: ",
        ("metrize", str(tmp_path / "none.safetensors"), "-o", out): "none.safetensors",
    }
    for words, message in cases.items():
        assert main(list(words)) == 2
        told = capsys.readouterr().err
        assert message in told
        assert told.count("\n") == 1
    assert not list(tmp_path.glob("*.checkpoint*"))
