"""Part 3: travel times with errors of measurement, and the nearest times that contradict no detour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examples.demo.city_data import City
from trimetric import nearness

PLACES = (
    "Station", "Market", "Harbor", "School", "Library", "Hospital", "Museum", "Park", "Bakery", "Theater",
    "Stadium", "Mill", "Bridge", "Castle", "University", "Town Hall", "Cinema", "Pool", "Garden", "Brewery",
)  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class Times:
    """A matrix of travel times and what it is worth.

    Attributes:
        matrix: minutes from row to column.
        broken: ordered triples that break the triangle inequality by more than rounding.
        worst: the most that one of them breaks it by, in minutes.
        moved: root of the mean squared difference from the measured times.
        error: root of the mean squared difference from the true times.
        raised: times that are longer than measured.
        lowered: times that are shorter than measured.
    """

    matrix: NDArray[np.float64]
    broken: int
    worst: float
    moved: float
    error: float
    raised: int
    lowered: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Repair:
    """Measured times and two repairs of them.

    Attributes:
        names: of the places.
        crossings: the crossings where they are.
        noise: standard deviation of the logarithm of the measurements.
        true: the exact times.
        measured: as they were measured.
        nearest: the nearest metric.
        paths: all shortest paths over the measured times.
        result: of `nearest_metric`, with its certificate.
        report: what it changed.
        worst: names of the triple that the measured times break most: from, by way of, to.
        triples: how many ordered triples of different places there are.
    """

    names: tuple[str, ...]
    crossings: list[str]
    noise: float
    true: NDArray[np.float64]
    measured: Times
    nearest: Times
    paths: Times
    result: nearness.NearestMetric
    report: nearness.RepairReport
    worst: tuple[int, int, int]
    triples: int

    def most_changed(self, count: int) -> list[tuple[int, int]]:
        """Find the pairs that the nearest metric changed most, as (from, to).

        Args:
            count: how many.
        """
        change = np.abs(self.nearest.matrix - self.measured.matrix)
        order = np.argsort(-change, axis=None, kind="stable")[:count]
        rows, columns = np.unravel_index(order, change.shape)
        return list(zip(rows.tolist(), columns.tolist(), strict=True))


def repair_times(city: City, *, places: int, noise: float, seed: int) -> Repair:
    """Measure the times between places of the city with errors, and repair them.

    Args:
        city: where the true times come from.
        places: how many places, at most as many as have names.
        noise: standard deviation of the logarithm of each measurement.
        seed: of the places and of the errors.
    """
    if not 3 <= places <= len(PLACES):
        raise ValueError(f"places: expected a number from 3 to {len(PLACES)}, got {places}")
    random = np.random.default_rng(seed)
    rows = random.choice(len(city.names), places, replace=False)
    true = city.matrix[np.ix_(rows, rows)]
    measured = (true * random.lognormal(0.0, noise, true.shape)).round(1)
    nearness.nearest_metric(measured[:3, :3])  # compiles, which should not count as time of the solver
    result = nearness.nearest_metric(measured)
    tolerance = result.count_tolerance

    def times(matrix: NDArray[np.float64]) -> Times:
        worst, broken = nearness.violations(matrix, tolerance)
        change = matrix - measured
        return Times(
            matrix=matrix,
            broken=broken,
            worst=worst,
            moved=_root_mean_square(change),
            error=_root_mean_square(matrix - true),
            raised=int((change > tolerance).sum()),
            lowered=int((change < -tolerance).sum()),
        )

    excess = measured[:, None, :] - (measured[:, :, None] + measured[None, :, :])
    i, j, k = (int(place) for place in np.unravel_index(excess.argmax(), excess.shape))
    return Repair(
        names=PLACES[:places],
        crossings=[city.names[row] for row in rows],
        noise=noise,
        true=true,
        measured=times(measured),
        nearest=times(result.matrix),
        paths=times(nearness.closure(measured)),
        result=result,
        report=nearness.repair_report(result, measured),
        worst=(i, j, k),
        triples=places * (places - 1) * (places - 2),
    )


def _root_mean_square(difference: NDArray[np.float64]) -> float:
    """Over all entries but the diagonal, which is 0."""
    n = len(difference)
    return float(np.sqrt(np.sum(difference**2) / (n * (n - 1))))
