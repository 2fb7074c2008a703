"""The accuracy of predicted distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.paths.pair_sampling import MEAN

ROUNDING = 1e-6  # relative to the mean: the rounding of float32 is not an overestimate


@dataclass(frozen=True)
class Accuracy:
    """Errors of predictions for pairs of different nodes.

    Attributes:
        mse: mean squared error with the distances scaled to mean 50.
        mean_relative_error: mean of |predicted - true| / true, over true distances above 0.
        over_estimated: fraction of the pairs whose predicted distance is longer than the true one.

    Examples:
        >>> Accuracy.of(np.array([1.0, 3.0]), np.array([1.0, 4.0]))
        Accuracy(mse=200.0, mean_relative_error=0.125, over_estimated=0.0)
    """

    mse: float
    mean_relative_error: float
    over_estimated: float

    @classmethod
    def of(
        cls, predicted: NDArray[np.float64], lengths: NDArray[np.float64], *, scale: float | None = None
    ) -> Accuracy:
        """Compare predictions with true lengths.

        Args:
            predicted: `(pairs,)` predictions.
            lengths: `(pairs,)` true lengths, in the same unit.
            scale: the factor that scales distances to mean 50; by default that of `lengths`.
        """
        factor = MEAN / float(lengths.mean()) if scale is None else scale
        off = predicted - lengths
        positive = lengths > 0
        return cls(
            mse=float(np.mean((factor * off) ** 2)),
            mean_relative_error=float(np.mean(np.abs(off[positive]) / lengths[positive])),
            over_estimated=float(np.mean(off > ROUNDING * lengths.mean())),
        )
