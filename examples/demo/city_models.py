"""Part 2, the models: three heads trained with equal care, judged on pairs that none of them saw, and audited."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import trimetric as tm
from examples.demo.city_data import City
from trimetric.models.heads import HeadName

HEADS: dict[str, HeadName] = {"Wide Norm": "wide", "Euclidean": "euclidean", "MLP": "mlp"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Triple:
    """A detour that is shorter than the direct way.

    Attributes:
        names: of the three crossings: from, by way of, to.
        direct: predicted minutes of the direct way.
        first: from the first to the second.
        second: from the second to the third.
    """

    names: tuple[str, str, str]
    direct: float
    first: float
    second: float


@dataclass(frozen=True, eq=False, kw_only=True)
class CityModel:
    """A head that was trained at several learning rates.

    Attributes:
        learned: the run with the smallest error on the validation pairs.
        rate: its learning rate.
        seconds: the time that it took.
        weights: number of its parameters.
        matrix: predicted minutes of all pairs.
        errors: on the pairs that were set aside.
        audit: over all triples of crossings.
        broken: how many of these triples break the triangle inequality by more than rounding.
        worst: the triple of three different crossings that breaks it most; None if none does.
    """

    learned: tm.LearnedPairs
    rate: float
    seconds: float
    weights: int
    matrix: NDArray[np.float64]
    errors: tm.PairErrors
    audit: tm.Audit
    broken: int
    worst: Triple | None


def learn_city(city: City, head: HeadName, *, epochs: int, rates: Sequence[float], seed: int) -> CityModel:
    """Train a head once at each learning rate, and keep the run that does best on its validation pairs.

    Args:
        city: the data; the tested pairs are used neither for training nor for the choice.
        head: the distance between points.
        epochs: passes over the pairs.
        rates: learning rates to try.
        seed: of the training.
    """
    kept = ~city.tested
    runs = []
    for rate in rates:
        start = time.perf_counter()
        learned = tm.learn_pairs(
            city.ends[kept],
            city.minutes[kept],
            names=city.names,
            head=head,
            epochs=epochs,
            learning_rate=rate,
            seed=seed,
            unit="minutes",
            progress="silent",
        )
        runs.append((learned.errors.mse, rate, time.perf_counter() - start, learned))
    _, rate, seconds, learned = min(runs, key=lambda run: run[0])
    model = learned.model
    matrix = model.all_pairs().double().numpy()
    audit = tm.audit(model.network, model.objects())
    broken, worst = _broken_triples(matrix, city.names, audit.rounding)
    return CityModel(
        learned=learned,
        rate=rate,
        seconds=seconds,
        weights=sum(parameter.numel() for parameter in model.network.parameters()),
        matrix=matrix,
        errors=judge(city, matrix),
        audit=audit,
        broken=broken,
        worst=worst,
    )


def judge(city: City, matrix: NDArray[np.float64]) -> tm.PairErrors:
    """Compare predictions with the truth on the pairs that were set aside.

    Args:
        city: the truth.
        matrix: predicted minutes of all pairs.
    """
    mean = float(city.minutes[~city.tested].mean())
    return tm.PairErrors.measure(matrix[*city.ends[city.tested].T], city.minutes[city.tested], mean=mean)


def _broken_triples(matrix: NDArray[np.float64], names: Sequence[str], rounding: float) -> tuple[int, Triple | None]:
    """Count the broken triples, and find the worst one of three different crossings."""
    n = len(matrix)
    excess = matrix[:, None, :] - (matrix[:, :, None] + matrix[None, :, :])  # from i by way of j to k
    broken = int((excess > rounding).sum())
    i, j, k = np.ogrid[:n, :n, :n]
    excess = np.where((i != j) & (j != k) & (i != k), excess, -np.inf)
    if excess.max() <= rounding:
        return broken, None
    a, b, c = (int(place) for place in np.unravel_index(excess.argmax(), excess.shape))
    worst = Triple(
        names=(names[a], names[b], names[c]),
        direct=float(matrix[a, c]),
        first=float(matrix[a, b]),
        second=float(matrix[b, c]),
    )
    return broken, worst
