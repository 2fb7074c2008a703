"""What the exact answer costs beside the learned one: the price of shortest paths and of a table."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from examples.demo.city_data import City
from examples.demo.city_models import CityModel, judge
from trimetric.graphs import all_distances

FLOAT32 = 4
SIZES = (1_000, 100_000, 10_000_000)
"""numbers of crossings for the comparison of a table with points"""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Exact shortest paths beside a model of the same city.

    Attributes:
        streets: number of streets, one for each direction.
        exact_seconds: the time that all exact distances take by Dijkstra's algorithm.
        exact_error: the largest difference from the CSV, in minutes.
        table_bytes: size of the table of all distances.
        model_bytes: size of the model.
        train_seconds: the time that its training took.
        shortest: share of the tested pairs in the bucket of the shortest distances.
        short_share: share of them in the absolute error of shortest paths over the known pairs.
        sizes: for other numbers of crossings: size of the table, and of the points of a model.
    """

    streets: int
    exact_seconds: float
    exact_error: float
    table_bytes: int
    model_bytes: int
    train_seconds: float
    shortest: float
    short_share: float
    sizes: list[tuple[int, str, str]]


def compare_costs(city: City, model: CityModel) -> Cost:
    """Compute all distances exactly and compare the cost.

    Args:
        city: the city; its streets are found in its distances.
        model: a model of it.
    """
    graph = city.graph()
    start = time.perf_counter()
    exact = all_distances(graph)
    seconds = time.perf_counter() - start
    errors = judge(city, city.paths_over_known_pairs())
    totals = [bucket.pairs * bucket.mean_error for bucket in errors.by_distance]
    dim = model.learned.model.embed().shape[1]
    return Cost(
        streets=len(city.streets()),
        exact_seconds=seconds,
        exact_error=float(np.abs(exact - city.matrix).max()),
        table_bytes=FLOAT32 * len(city.names) ** 2,
        model_bytes=FLOAT32 * model.weights,
        train_seconds=model.seconds,
        shortest=errors.by_distance[0].pairs / errors.pairs,
        short_share=totals[0] / sum(totals),
        sizes=[(nodes, size_of(FLOAT32 * nodes**2), size_of(FLOAT32 * nodes * dim)) for nodes in SIZES],
    )


def size_of(count: float) -> str:
    """Write a number of bytes in the unit that fits.

    Args:
        count: number of bytes.

    Returns:
        The text, such as "16 KB".
    """
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} TB"
