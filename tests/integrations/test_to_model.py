"""Estimators become models for files and the command line, and draw pictures."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import trimetric as tm
from trimetric.cli import main

pytest.importorskip("sklearn", reason="needs the extra `sklearn`")

if TYPE_CHECKING:
    from trimetric.integrations.sklearn import DistanceRegressor


def answers(text: str) -> list[float]:
    return [float(row["distance"]) for row in csv.DictReader(io.StringIO(text))]


def test_the_command_line_predicts_as_the_estimator_does(
    fitted: DistanceRegressor, points: np.ndarray, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = fitted.pairwise(points[:4])
    names = ["home", "work", "gym", "park"]
    known, bare = str(tmp_path / "known.safetensors"), str(tmp_path / "bare.safetensors")
    fitted.to_model(points[:4], names).save(known)
    assert main(["predict", known, "--from", "home", "--to", *names]) == 0
    np.testing.assert_allclose(answers(capsys.readouterr().out), expected[0], rtol=1e-4, atol=1e-3)
    model = fitted.to_model()
    assert model.notes["estimator"] == "DistanceRegressor"
    model.save(bare)
    rows = "".join(f"{name},{x},{y}\n" for name, (x, y) in zip(names, points[:4].tolist(), strict=True))
    (tmp_path / "features.csv").write_text("id,x,y\n" + rows)
    assert main(["predict", bare, "--features", str(tmp_path / "features.csv"), "--all-pairs"]) == 0
    np.testing.assert_allclose(answers(capsys.readouterr().out), expected.ravel(), rtol=1e-4, atol=1e-3)
    assert fitted.to_model(points[:2]).ids == ["0", "1"]


def test_names_of_columns_go_with_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pandas = pytest.importorskip("pandas")
    from sklearn.datasets import load_iris

    from trimetric.integrations.sklearn import MetricLearner

    X, y = load_iris(return_X_y=True)  # noqa: N806
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    learner = MetricLearner(epochs=1, random_state=0).fit(frame, y)
    learner.to_model().save(tmp_path / "iris.safetensors")
    assert tm.Model.load(tmp_path / "iris.safetensors").notes["feature_columns"] == ["a", "b", "c", "d"]
    frame[:3].assign(id=["p", "q", "r"])[["d", "id", "c", "b", "a"]].to_csv(tmp_path / "new.csv", index=False)
    words = [str(tmp_path / "iris.safetensors"), "--features", str(tmp_path / "new.csv"), "--from", "p", "--to", "r"]
    assert main(["predict", *words]) == 0
    np.testing.assert_allclose(answers(capsys.readouterr().out), learner.pairwise(X[:1], X[2:3])[0], rtol=1e-3)


def test_pictures(fitted: DistanceRegressor, hills: tuple[np.ndarray, np.ndarray], points: np.ndarray) -> None:
    dots = fitted.plot_predictions(*hills).axes[0].get_lines()[0]
    np.testing.assert_allclose(dots.get_xdata(), hills[1])
    np.testing.assert_array_equal(dots.get_ydata(), fitted.predict(hills[0]))
    assert len(fitted.plot_embeddings(points, points[:, 0] > 0.5).axes[0].get_lines()) == 2


def test_messages(fitted: DistanceRegressor, points: np.ndarray) -> None:
    with pytest.raises(ValueError, match="ids: expected None without objects, got 2 names"):
        fitted.to_model(ids=["a", "b"])
    with pytest.raises(ValueError, match=r"objects: expected 2 features, got shape \(40, 1\)"):
        fitted.to_model(points[:, :1])
