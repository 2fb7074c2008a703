"""The errors of predictions: on average, and by length of the distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
"""of the distances, where the buckets begin and end; narrow for short ones, where an average hides most"""
FEWEST = 10
"""pairs that it takes for buckets to mean something"""


@dataclass(frozen=True)
class Bucket:
    """The errors of pairs whose distances are about equal.

    Attributes:
        shortest: the shortest true distance among them.
        longest: the longest.
        pairs: how many pairs.
        mean_error: mean of |predicted - true|.
        mean_relative_error: mean of |predicted - true| / true, over true distances above 0; NaN if there are none.
    """

    shortest: float
    longest: float
    pairs: int
    mean_error: float
    mean_relative_error: float


@dataclass(frozen=True)
class PairErrors:
    """The errors of predicted distances, for pairs at finite distance.

    Attributes:
        pairs: how many pairs.
        mse: mean squared error; NaN without pairs.
        mse_of_mean: the mean squared error of always predicting the mean, for comparison.
        mean_relative_error: mean of |predicted - true| / true, over true distances above 0; NaN if there are none.
        by_distance: the same from short to long distances; empty for fewer than 10 pairs.

    Examples:
        >>> errors = PairErrors.measure([1.0, 3.0], [2.0, 3.0], mean=2.5)
        >>> errors.pairs, errors.mse, errors.mean_relative_error
        (2, 0.5, 0.25)
    """

    pairs: int
    mse: float
    mse_of_mean: float
    mean_relative_error: float
    by_distance: tuple[Bucket, ...]

    @classmethod
    def measure(cls, predicted: ArrayLike, targets: ArrayLike, *, mean: float) -> PairErrors:
        """Compare predictions with true distances.

        Args:
            predicted: a distance for each pair.
            targets: the true distances; pairs at infinite distance are left out.
            mean: the constant prediction to compare with.

        Returns:
            The errors.
        """
        guesses, truth = np.asarray(predicted, np.float64), np.asarray(targets, np.float64)
        if guesses.shape != truth.shape:
            raise ValueError(f"predicted: expected shape {truth.shape}, as targets have, got {guesses.shape}")
        finite = np.isfinite(truth)
        guesses, truth = guesses[finite], truth[finite]
        off = np.abs(guesses - truth)
        return cls(
            pairs=len(truth),
            mse=float(np.mean(off**2)) if len(truth) else float("nan"),
            mse_of_mean=float(np.mean((truth - mean) ** 2)) if len(truth) else float("nan"),
            mean_relative_error=_relative(off, truth),
            by_distance=_buckets(off, truth) if len(truth) >= FEWEST else (),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the errors as plain data, as the notes of a model and JSON can hold them."""
        buckets = [
            {
                "from": bucket.shortest,
                "to": bucket.longest,
                "pairs": bucket.pairs,
                "mean_error": bucket.mean_error,
                "mean_relative_error": bucket.mean_relative_error,
            }
            for bucket in self.by_distance
        ]
        return {
            "pairs": self.pairs,
            "mse": self.mse,
            "mse_of_mean": self.mse_of_mean,
            "mean_relative_error": self.mean_relative_error,
            "by_distance": buckets,
        }

    def table(self) -> list[str]:
        """Return `by_distance` as lines of text, with a header; none without buckets."""
        if not self.by_distance:
            return []
        rows = [
            f"  {f'{bucket.shortest:.4g} to {bucket.longest:.4g}':<19} {bucket.pairs:>7,}   "
            f"{bucket.mean_error:>10.4g}   {number_or_dash(bucket.mean_relative_error, '.1%'):>8}"
            for bucket in self.by_distance
        ]
        return ["  distance              pairs   mean error   relative", *rows]


def number_or_dash(error: float, form: str) -> str:
    """Format an error; NaN becomes a dash, as for the relative error of distances that are all 0.

    Args:
        error: a number, or NaN.
        form: how to write it, as in `format`.

    Returns:
        The text.

    Examples:
        >>> number_or_dash(0.25, ".0%"), number_or_dash(float("nan"), ".0%")
        ('25%', '-')
    """
    return "-" if np.isnan(error) else format(error, form)


def _buckets(off: NDArray[np.float64], targets: NDArray[np.float64]) -> tuple[Bucket, ...]:
    """Errors by quantiles of the distances; equal distances are in one bucket."""
    limits = np.unique(np.quantile(targets, QUANTILES))
    bucket = np.searchsorted(limits[1:-1], targets, side="left")
    parts = [bucket == i for i in range(len(limits)) if (bucket == i).any()]
    return tuple(
        Bucket(
            shortest=float(targets[part].min()),
            longest=float(targets[part].max()),
            pairs=int(part.sum()),
            mean_error=float(off[part].mean()),
            mean_relative_error=_relative(off[part], targets[part]),
        )
        for part in parts
    )


def _relative(off: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    apart = targets > 0
    return float(np.mean(off[apart] / targets[apart])) if apart.any() else float("nan")
