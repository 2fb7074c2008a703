"""The experiment on class labels: its parts, its runs and its table."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the extra `sklearn`")

from sklearn.neighbors import KNeighborsClassifier

from reproduction.experiments.labels.data import DATASETS, split
from reproduction.experiments.labels.experiment import ACCURACY, Cell, Labels, accuracy
from reproduction.experiments.labels.methods import SETTINGS
from reproduction.frame.rows import Row


def rows_of(cell: Cell) -> list[Row]:
    settings = {name: value for name, value in asdict(cell).items() if name != "seed"}
    results = Labels().run(cell)
    return [
        Row("labels", str(settings), cell.seed, each.metric, each.value, 0, 1.0, "0", "", settings, "run", (i, 5))
        for i, each in enumerate(results)
    ]


@pytest.mark.parametrize("name", DATASETS)
def test_parts_are_disjoint_and_scaled_by_the_training_part(name: str) -> None:
    parts = split(name, 0)
    sizes = [len(part[1]) for part in (parts.train, parts.validation, parts.test)]
    assert sizes[0] == pytest.approx(0.6 * sum(sizes), abs=2)
    assert sizes[2] == pytest.approx(0.2 * sum(sizes), abs=2)
    if name != "digits":
        np.testing.assert_allclose(parts.train[0].mean(axis=0), 0, atol=1e-9)
        assert abs(parts.test[0].mean()) > 1e-6
    assert not np.array_equal(split(name, 1).test[0], parts.test[0])


def test_accuracy_is_that_of_the_classifier_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    labeled, queries = random.normal(size=(60, 2)), random.normal(size=(40, 2))
    labels, truth = random.integers(3, size=60), random.integers(3, size=40)
    distances = np.linalg.norm(queries[:, None] - labeled, axis=2)
    for k in (1, 3, 9):
        theirs = KNeighborsClassifier(k).fit(labeled, labels).score(queries, truth)
        assert accuracy(distances, labels, truth, k) == pytest.approx(theirs)


@pytest.mark.parametrize("method", SETTINGS)
def test_every_method_runs_and_has_its_place_in_the_table(method: str) -> None:
    if method in ("LMNN", "NCA", "ITML"):
        pytest.importorskip("metric_learn", reason="needs the extra `reproduction`")
    rows = rows_of(Cell("iris", method, 4, 0))
    assert {row.metric for row in rows} >= {ACCURACY, "setting", "neighbors"}
    (table,) = Labels().tables(rows)
    cell = table.cells["iris", method]
    assert not isinstance(cell, str)
    assert cell is not None
    assert cell.value == next(row.value for row in rows if row.metric == ACCURACY) > 60
    assert Labels().tables([]) == []


def test_every_method_that_learns_has_as_many_settings() -> None:
    assert {len(settings) for method, settings in SETTINGS.items() if method != "no learning"} == {4}
