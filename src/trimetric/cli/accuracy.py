"""How far predictions are off: on average, and for short and long distances apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
"""of the distances: where the buckets begin and end; narrow for short ones, where an average hides most"""
FEWEST = 10
"""pairs for which buckets say something"""


def errors(predicted: NDArray[np.float64], targets: NDArray[np.float64], mean: float) -> dict[str, Any]:
    """Errors of predictions for pairs at finite distance, as notes can hold them.

    Args:
        predicted: a distance for each pair.
        targets: the true ones; pairs at infinite distance are left out.
        mean: what a model would predict that knows nothing, for comparison.

    Returns:
        `pairs`, `mse`, `mse_of_mean` (of predicting `mean` always), `mean_relative_error` (of pairs that are apart)
        and `by_distance`: for each bucket of distances `from`, `to`, `pairs`, `mean_error` and `mean_relative_error`.
    """
    finite = np.isfinite(targets)
    predicted, targets = predicted[finite], targets[finite]
    off = np.abs(predicted - targets)
    return {
        "pairs": len(targets),
        "mse": float(np.mean(off**2)) if len(targets) else float("nan"),
        "mse_of_mean": float(np.mean((targets - mean) ** 2)) if len(targets) else float("nan"),
        "mean_relative_error": _relative(off, targets),
        "by_distance": _buckets(off, targets) if len(targets) >= FEWEST else [],
    }


def table(found: dict[str, Any]) -> Iterator[str]:
    """The buckets of `errors` as lines for people."""
    if found["by_distance"]:
        yield "  distance              pairs   mean error   relative"
    for row in found["by_distance"]:
        bounds = f"{row['from']:.4g} to {row['to']:.4g}"
        share = shown(row["mean_relative_error"], ".1%")
        yield f"  {bounds:<19} {row['pairs']:>7,}   {row['mean_error']:>10.4g}   {share:>8}"


def shown(error: float, form: str) -> str:
    """An error for people; a dash where no pair has one, as the relative error of distances that are all 0."""
    return "-" if np.isnan(error) else format(error, form)


def _buckets(off: NDArray[np.float64], targets: NDArray[np.float64]) -> list[dict[str, float | int]]:
    """Errors by quantiles of the distances; equal distances are in one bucket."""
    limits = np.unique(np.quantile(targets, QUANTILES))
    bucket = np.searchsorted(limits[1:-1], targets, side="left")
    parts = [bucket == i for i in range(len(limits)) if (bucket == i).any()]
    return [
        {
            "from": float(targets[part].min()),
            "to": float(targets[part].max()),
            "pairs": int(part.sum()),
            "mean_error": float(off[part].mean()),
            "mean_relative_error": _relative(off[part], targets[part]),
        }
        for part in parts
    ]


def _relative(off: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    apart = targets > 0
    return float(np.mean(off[apart] / targets[apart])) if apart.any() else float("nan")
