"""Pictures of predictions and points: what is drawn, from Python, estimators and the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import trimetric as tm
from trimetric.cli import main
from trimetric.models import draw_points, draw_predictions, save_figure

PNG = b"\x89PNG"


def test_predictions_are_drawn_over_the_truth() -> None:
    figure = draw_predictions([1.0, 5.0, 2.0], [2.0, np.inf, 3.0])
    dots, diagonal = figure.axes[0].get_lines()
    assert np.column_stack([dots.get_xdata(), dots.get_ydata()]).tolist() == [[2, 1], [3, 2]]
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0, 3]
    assert draw_predictions(np.ones(6000), np.ones(6000)).axes[0].get_title() == "5,000 of 6,000 pairs"


def test_points_are_drawn_on_their_principal_axes() -> None:
    generator = torch.Generator().manual_seed(0)
    flat = torch.randn(50, 2, generator=generator) @ torch.randn(2, 5, generator=generator)
    figure = draw_points(flat, groups=[i % 2 for i in range(50)])
    assert figure.axes[0].get_title().startswith("50 objects: 100%")
    drawn = np.concatenate([np.column_stack([line.get_xdata(), line.get_ydata()]) for line in figure.axes[0].lines])
    rows = [*range(0, 50, 2), *range(1, 50, 2)]
    apart = np.linalg.norm(drawn[:, None] - drawn, axis=2)
    np.testing.assert_allclose(apart, torch.cdist(flat[rows].double(), flat[rows].double()).numpy(), atol=1e-5)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["0", "1"]
    assert len(draw_points(torch.ones(3, 1), names=["a", "$b", "c"]).axes[0].texts) == 3


def test_messages(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="truth: expected one for each"):
        draw_predictions([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="groups: expected one for each of 3 points, got 2"):
        draw_points(torch.eye(3), groups=[1, 2])
    with pytest.raises(ValueError, match="groups: expected at most 20 different ones, got 30"):
        draw_points(torch.eye(30), groups=list(range(30)))
    with pytest.raises(ValueError, match="points: expected finite points"):
        draw_points(torch.full((2, 2), torch.nan))
    assert save_figure(draw_points(torch.eye(3)), tmp_path / "x.svg").read_bytes().startswith(b"<?xml")


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tm.Model(tm.NormInduced(tm.WideNorm(2)), ["a", "b", "c"], torch.randn(3, 2)).save("town.safetensors")
    Path("pairs.csv").write_text("from,to,distance\na,b,1\nb,c,2\n")
    Path("bare.csv").write_text("from,to\na,b\n")
    return tmp_path


@pytest.mark.usefixtures("town")
def test_commands_draw(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "town.safetensors", "pairs.csv", "-o", "d.parquet", "--picture", "errors.png"]) == 0
    assert main(["embed", "town.safetensors", "-o", "points.parquet", "--picture", "points.png"]) == 0
    assert "picture: points.png" in capsys.readouterr().out
    assert all(Path(name).read_bytes().startswith(PNG) for name in ("errors.png", "points.png"))
    for words, message in [
        (["predict", "town.safetensors", "bare.csv", "--picture", "x.png"], "--picture: expected only with PAIRS that"),
        (["predict", "town.safetensors", "--all-pairs", "--picture", "x.png"], "--picture: expected only with PAIRS"),
        (["predict", "town.safetensors", "pairs.csv", "--picture", "x.txt"], "--picture: x.txt: expected a name that"),
        (["embed", "town.safetensors", "-o", "p.csv", "--picture", "town.safetensors"], "--picture: town.safetensors"),
    ]:
        assert main(words) == 2
        assert message in capsys.readouterr().err
    assert not Path("x.png").exists()
