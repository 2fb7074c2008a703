"""Accuracy of nearest neighbors by distances that were learned from class labels.

Every method that learns has four settings.  The setting, and the number of neighbors that vote, are chosen by the
accuracy on a validation part; the test part is looked at once, by what was chosen.  A seed is a split.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reproduction.experiments.labels.data import DATASETS, split
from reproduction.experiments.labels.methods import SETTINGS, STEPS, Distances, learn
from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.findings import Finding, check, find
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize

NEIGHBORS = (1, 3, 5, 9, 15)
SEEDS: dict[Scale, tuple[int, ...]] = {"quick": (0,), "default": (0, 1, 2), "paper": tuple(range(20))}
ACCURACY = "test accuracy in %"


@dataclass(frozen=True)
class Cell:
    """One method on one split of a data set."""

    data: str
    method: str
    steps: int
    seed: int


class Labels(Experiment[Cell]):
    """Test accuracy of each method, with its spread over splits."""

    name: ClassVar[str] = "labels"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        names = ("iris", "wine") if scale == "quick" else tuple(DATASETS)
        steps = 30 if scale == "quick" else STEPS
        return [
            Cell(data, method, steps, seed) for seed in seeds or SEEDS[scale] for data in names for method in SETTINGS
        ]

    def run(self, cell: Cell) -> list[Result]:
        parts, started = split(cell.data, cell.seed), time.process_time()
        found: list[tuple[float, str, int, Distances]] = []
        for setting in SETTINGS[cell.method]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of metric-learn: iterations that end before they converge
                distances = learn(cell.method, setting, *parts.train, seed=cell.seed, steps=cell.steps)
            matrix = distances(parts.validation[0], parts.train[0])
            found += [
                (accuracy(matrix, parts.train[1], parts.validation[1], k), setting, k, distances) for k in NEIGHBORS
            ]
        seconds = time.process_time() - started
        best, setting, k, distances = max(found, key=lambda one: one[0])  # of several, the first
        matrix = distances(parts.test[0], parts.train[0])
        return [
            Result(ACCURACY, 100 * accuracy(matrix, parts.train[1], parts.test[1], k)),
            Result("validation accuracy in %", 100 * best),
            Result("neighbors", k),
            Result("setting", setting),
            Result("processor seconds", seconds),
        ]

    def tables(self, rows: list[Row]) -> list[Table]:
        steps = max((row.settings["steps"] for row in rows), default=0)
        names = [name for name in DATASETS if any(row.settings["data"] == name for row in rows)]
        if not names:
            return []
        cells: dict[tuple[str, str], Measured | str | None] = {
            (data, method): _cell(rows, data, method, steps) for data in names for method in SETTINGS
        }
        return [
            Table(
                label="table_labels",
                title="Nearest neighbors by a distance from class labels: test accuracy in %",
                corner="data",
                columns=[Column(method, better=None, format=".1f") for method in SETTINGS],
                rows=names,
                cells=cells,
                note="Mean and standard deviation over splits. Every method that learns has four settings; the setting "
                "and the number of neighbors (1, 3, 5, 9 or 15) are chosen on a validation part. Distances of the "
                "asymmetric head, interval, go from the query to the labeled objects.",
            )
        ]

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        steps = max((row.settings["steps"] for row in rows), default=0)
        checks = []
        for method in ("wide, symmetric", "interval"):
            pairs = [
                (_cell(rows, data, method, steps), _cell(rows, data, "Euclidean Siamese", steps)) for data in DATASETS
            ]
            higher = [ours.value > plain.value for ours, plain in pairs if ours is not None and plain is not None]
            checks.append(check(f"{method}: a higher mean accuracy than the Euclidean Siamese", higher, "data sets"))
        found = find(*checks)
        return {} if found is None else {"table_labels": found}


def _cell(rows: list[Row], data: str, method: str, steps: int) -> Measured | None:
    return summarize(pick(rows, ACCURACY, {"data": data, "method": method, "steps": steps}))


def accuracy(distances: NDArray[np.floating], labels: NDArray[np.int64], truth: NDArray[np.int64], k: int) -> float:
    """The share of the queries whose k nearest labeled objects vote for the right class.

    Args:
        distances: from each query to each labeled object.
        labels: the classes of labeled objects.
        truth: the classes of queries.
        k: how many vote; of classes with equally many votes, the first wins.

    Examples:
        >>> accuracy(np.array([[0.0, 1.0, 2.0]]), np.array([1, 0, 0]), np.array([1]), 1)
        1.0
    """
    voters = labels[np.argsort(distances, axis=1, kind="stable")[:, :k]]
    votes = (voters[:, :, None] == np.arange(labels.max() + 1)).sum(axis=1)
    return float(np.mean(votes.argmax(axis=1) == truth))
