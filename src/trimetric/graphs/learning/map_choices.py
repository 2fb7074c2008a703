"""Which numbers become the model: trained ones only where they are no worse than those of landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.graph import Graph
from trimetric.graphs.learning.potential_training import Points, predict_trips
from trimetric.graphs.learning.rounding import Precision, Rounded, round_potentials
from trimetric.graphs.learning.trips import Trips

LANDMARKS = "chosen landmarks"
LIKE_QUERIES = "like the queries"
TOLERANCE = 1e-4  # of a relative error: what is no worse


@dataclass(frozen=True, eq=False)
class Choice:
    """Potentials that could be the model.

    Attributes:
        name: how they came about.
        points: `(n, k)` potentials.
        slack: how much too far a distance may be at most, relative to itself; 0 for a lower bound.
        errors: relative errors of the validation trips, by the name of the set.
    """

    name: str
    points: Points
    slack: float
    errors: dict[str, NDArray[np.float64]]

    def is_no_worse_than(self, other: Choice) -> bool:
        """Whether the mean error is no larger on any set, with a margin of two standard errors of the difference."""
        return self is other or all(
            _largest_mean(mine - other.errors[name]) <= TOLERANCE for name, mine in self.errors.items()
        )


def measure(points: Points, validation: dict[str, Trips], *, directed: bool) -> dict[str, NDArray[np.float64]]:
    """Compute the relative errors on sets of trips.

    Args:
        points: `(n, k)` potentials.
        validation: the sets by name.
        directed: whether differences count in one direction only.
    """
    return {
        name: np.abs(predict_trips(points, trips, directed=directed) / trips.lengths - 1)
        for name, trips in validation.items()
    }


def rescaled(choice: Choice, validation: dict[str, Trips], *, directed: bool) -> Choice:
    """Multiply potentials so that half of the first set's trips are too far; a multiple of a quasimetric is one."""
    trips = next(iter(validation.values()))
    predicted = predict_trips(choice.points, trips, directed=directed)
    factor = float(np.median(trips.lengths / np.maximum(predicted, 1e-30)))
    factor = max(1.0, factor) if np.isfinite(factor) and factor < 2 else 1.0
    points = choice.points * np.float32(factor)
    return Choice(
        f"{choice.name}, times {factor:.3f}",
        points,
        (1 + choice.slack) * factor - 1,
        measure(points, validation, directed=directed),
    )


def rounded_choice(
    choice: Choice, validation: dict[str, Trips], precision: Precision, *, below: Graph | None, directed: bool
) -> tuple[Choice, Rounded]:
    """Round potentials, and measure what that leaves of them.

    Args:
        choice: the potentials.
        validation: sets of trips by name.
        precision: how to store them.
        below: the graph whose distances they must not exceed; None for no such promise.
        directed: whether differences count in one direction only.
    """
    rounded = round_potentials(choice.points, precision, below=below, directed=directed)
    points = rounded.values()
    errors = measure(points, validation, directed=directed)
    return Choice(choice.name, points, choice.slack, errors), rounded


def finer_at_equal_bytes(
    start: Points, validation: dict[str, Trips], precision: Precision, *, directed: bool
) -> Points | None:
    """Return half of the landmarks if they are better in 16 bits than all of them in 8, which takes the same memory.

    Args:
        start: the potentials of the chosen landmarks, the most useful ones first.
        validation: sets of trips by name.
        precision: that was asked for.
        directed: whether differences count in one direction only; then their number stays even.
    """
    half = start.shape[1] // 2
    half -= half % 2 if directed else 0
    if precision != "int8" or half < 1:
        return None
    fewer = np.ascontiguousarray(start[:, :half])
    whole = measure(round_potentials(start, "int8").values(), validation, directed=directed)
    part = measure(round_potentials(fewer, "int16").values(), validation, directed=directed)
    better = Choice("16 bits", fewer, 0.0, part).is_no_worse_than(Choice("8 bits", start, 0.0, whole))
    return fewer if better else None


def best_choice(choices: list[Choice]) -> Choice:
    """Return the choice of the least error among those that are no worse than the first one on any set.

    The error is that on trips like the queries or, without queries, the mean of all sets.

    Args:
        choices: with errors on the same sets; the first is what must not be worse.
    """
    first = choices[0]
    allowed = [choice for choice in choices if choice.is_no_worse_than(first)]
    main = [LIKE_QUERIES] if LIKE_QUERIES in first.errors else list(first.errors)
    return min(allowed, key=lambda choice: sum(float(choice.errors[name].mean()) for name in main))


def _largest_mean(differences: NDArray[np.float64]) -> float:
    """An upper bound of the mean that random trips rarely exceed."""
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return float(differences.mean()) + 2 * spread / np.sqrt(len(differences))
