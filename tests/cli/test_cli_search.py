"""`index build`, `embed`, and the nearest objects through an index."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import trimetric as tm
from trimetric.cli import main, queries


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tm.Model:
    monkeypatch.chdir(tmp_path)
    names = [f"place {i}" for i in range(90)]
    points = torch.randn(90, 2)
    points[3] = points[4]
    model = tm.Model(tm.NormInduced(tm.WideNorm(2, components=3, width=3)), names, points)
    model.save("town.safetensors")
    return model


@pytest.mark.usefixtures("town")
@pytest.mark.parametrize("reverse", [[], ["--reverse"]])
def test_an_index_answers_as_a_comparison_with_all(reverse: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "build", "town.safetensors", "-o", "town.index", "--leaf-size", "8"]) == 0
    assert "90 objects" in capsys.readouterr().out
    words = ["predict", "town.safetensors", "--nearest", "4", *reverse]
    assert main(words) == 0
    plain = capsys.readouterr()
    assert main([*words, "--index", "town.index"]) == 0
    fast = capsys.readouterr()
    assert "an index skipped" in fast.err
    assert "an index skipped" not in plain.err
    rows, others = (sorted(text.out.splitlines()) for text in (plain, fast))
    assert len(rows) == 361
    for row, other in zip(rows, others, strict=True):
        assert row.split(",")[:2] == other.split(",")[:2] or row.split(",")[2] == other.split(",")[2]


@pytest.mark.usefixtures("town")
def test_an_index_is_built_where_it_pays(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", "town.safetensors", "--nearest", "2", "-o", "near.parquet"]
    assert main(words) == 0
    from trimetric.files.columns import read_table

    before = read_table(Path("near.parquet"), ids=["from", "to"], numbers=["distance"]).numbers["distance"]
    monkeypatch.setattr(queries, "INDEXED_SOURCES", 10)
    monkeypatch.setattr(queries, "INDEXED_TARGETS", 10)
    capsys.readouterr()
    assert main(words) == 0
    assert "an index skipped" in capsys.readouterr().err
    after = read_table(Path("near.parquet"), ids=["from", "to"], numbers=["distance"]).numbers["distance"]
    assert np.allclose(before, after, rtol=1e-5)
    assert len(after) == 180


def test_an_index_of_another_model_is_refused(town: tm.Model, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "build", "town.safetensors", "-o", "town.index", "--quiet"]) == 0
    town.features = town.features + 1  # type: ignore[operator]
    town.save("other.safetensors")
    assert main(["predict", "other.safetensors", "--nearest", "2", "--index", "town.index"]) == 2
    assert "--index: town.index: expected an index of other.safetensors" in capsys.readouterr().err
    Path("broken.index").write_bytes(Path("town.index").read_bytes()[:500])
    assert main(["predict", "town.safetensors", "--nearest", "2", "--index", "broken.index"]) == 2
    assert "truncated or no index" in capsys.readouterr().err


def test_a_model_without_the_triangle_inequality_has_no_index(
    town: tm.Model, capsys: pytest.CaptureFixture[str]
) -> None:
    tm.Model(tm.MLPDistance(2), town.ids, town.features).save("free.safetensors")
    assert main(["index", "build", "free.safetensors", "-o", "free.index"]) == 2
    assert "free.safetensors: expected one that keeps the triangle inequality" in capsys.readouterr().err
    assert not Path("free.index").exists()


def test_embed_writes_the_points(town: tm.Model) -> None:
    for file in ("points.csv", "points.parquet", "points.npz"):
        assert main(["embed", "town.safetensors", "-o", file, "--quiet"]) == 0
    stored = np.load("points.npz")
    assert stored["ids"].tolist() == town.ids
    assert np.array_equal(stored["points"], town.embed().numpy())
    from trimetric.files.features import read_features

    for file in ("points.csv", "points.parquet"):
        table = read_features(Path(file))
        assert table.names == town.ids
        assert np.array_equal(table.values.astype(np.float32), town.embed().numpy())


def test_distances_that_are_not_finite_are_told(
    town: tm.Model, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    features = town.features.clone()  # type: ignore[union-attr]
    features[5] = 3e38
    tm.Model(town.network, town.ids, features).save("far.safetensors")
    monkeypatch.setattr(queries, "INDEXED_SOURCES", 10)
    monkeypatch.setattr(queries, "INDEXED_TARGETS", 10)
    assert main(["predict", "far.safetensors", "--nearest", "2"]) == 2
    assert "expected finite values, got" in capsys.readouterr().err
