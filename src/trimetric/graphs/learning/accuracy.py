"""How far predicted distances are off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.paths.pair_sampling import MEAN

ROUNDING = 1e-6  # of the mean: what float32 does to an exact bound is no over-estimation


@dataclass(frozen=True)
class Accuracy:
    """Errors of predictions for pairs of different nodes.

    Attributes:
        mse: mean squared error with the distances scaled to mean 50.
        mean_relative_error: mean of |predicted - true| / true, over true distances above 0.
        over_estimated: part of the pairs that are predicted farther apart than they are.
    """

    mse: float
    mean_relative_error: float
    over_estimated: float

    @classmethod
    def of(
        cls, predicted: NDArray[np.float64], lengths: NDArray[np.float64], *, scale: float | None = None
    ) -> Accuracy:
        """Of predictions beside true lengths, in one unit; `scale` makes the mean 50, of these lengths unless given."""
        factor = MEAN / float(lengths.mean()) if scale is None else scale
        off = predicted - lengths
        positive = lengths > 0
        return cls(
            mse=float(np.mean((factor * off) ** 2)),
            mean_relative_error=float(np.mean(np.abs(off[positive]) / lengths[positive])),
            over_estimated=float(np.mean(off > ROUNDING * lengths.mean())),
        )
