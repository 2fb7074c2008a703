"""Pairs that are not trained on, and how far predictions are off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def hold_out(ends: NDArray[np.int64], fraction: float, seed: int) -> tuple[Rows, Rows]:
    """Rows to train on and rows to hold out, about that fraction of them, by seed.

    The first pair of each object, in random order, is trained on: an object that is in no training pair would
    have a point that says nothing.
    """
    order = np.random.default_rng(seed).permutation(len(ends))
    _, positions = np.unique(ends[order].ravel(), return_index=True)
    free = np.ones(len(order), dtype=bool)
    free[positions // 2] = False
    held = order[free][: round(fraction * len(order))]
    return np.setdiff1d(order, held), np.sort(held)


def errors(predicted: NDArray[np.float64], targets: NDArray[np.float64], mean: float) -> dict[str, float | int]:
    """Of the finite targets: mean squared error, that of predicting `mean` always, and the mean relative error."""
    finite = np.isfinite(targets)
    predicted, targets = predicted[finite], targets[finite]
    positive = targets > 0
    off = np.abs(predicted - targets)
    return {
        "pairs": len(targets),
        "mse": float(np.mean(off**2)) if len(targets) else float("nan"),
        "mse_of_mean": float(np.mean((targets - mean) ** 2)) if len(targets) else float("nan"),
        "mean_relative_error": float(np.mean(off[positive] / targets[positive])) if positive.any() else float("nan"),
    }
