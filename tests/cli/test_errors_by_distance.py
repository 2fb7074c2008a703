"""The errors that `fit` and `predict` report, for short and long distances apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trimetric.cli import main
from trimetric.training.pair_errors import PairErrors


def test_buckets_cover_all_finite_pairs_and_tell_short_from_long() -> None:
    targets = np.append(np.arange(1.0, 101), np.inf)
    found = PairErrors.measure(np.where(targets <= 10, 2 * targets, targets), targets, mean=50)
    buckets = found.by_distance
    assert [bucket.pairs for bucket in buckets] == [10, 15, 25, 25, 25]
    assert [(bucket.shortest, bucket.longest) for bucket in buckets[:2]] == [(1, 10), (11, 25)]
    assert [bucket.mean_relative_error for bucket in buckets] == [1, 0, 0, 0, 0]
    assert buckets[0].mean_error == 5.5
    assert found.mean_relative_error == pytest.approx(0.1)
    assert len(found.table()) == 6


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_equal_distances_are_one_bucket(value: float) -> None:
    found = PairErrors.measure(np.full(20, value + 1), np.full(20, value), mean=value)
    (bucket,) = found.by_distance
    assert (bucket.pairs, bucket.shortest, bucket.longest) == (20, value, value)
    assert found.table()[1].split()[-1] == ("-" if value == 0 else "33.3%")


def test_few_pairs_have_no_buckets() -> None:
    assert PairErrors.measure(np.ones(9), np.ones(9), mean=1).by_distance == ()
    assert PairErrors.measure(np.ones(0), np.ones(0), mean=1).by_distance == ()


@pytest.mark.usefixtures("empty_folder")
def test_predict_and_info_show_them(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(city / "points.safetensors"), str(city / "pairs.csv"), "-o", "d.csv"]) == 0
    assert Path("d.csv").read_text().startswith("from,to,distance,given\n")
    told = capsys.readouterr().err.splitlines()
    assert "on 4,032 given distances" in told[0]
    assert told[1].split() == ["distance", "pairs", "mean", "error", "relative"]
    assert len(told) == 7
    assert main(["info", str(city / "points.safetensors")]) == 0
    assert "errors.by_distance.1.mean_relative_error: " in capsys.readouterr().out
