"""How reliable a success rate is: intervals over the tasks and the seeds over which it was averaged."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

DRAWS = 2000


def bootstrap_interval(
    values: Float[np.ndarray, "groups each"], *, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Compute a bootstrap interval for the mean of means of groups: groups and the values in them are resampled.

    Args:
        values: one row per group, such as a task; NaN where a group has fewer values.
        level: how often the interval should hold the mean.
        seed: of the draws.

    Returns:
        The lower and the upper end.

    Examples:
        >>> low, high = bootstrap_interval(np.array([[1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]))
        >>> bool(0.5 <= low < 0.875 < high <= 1)
        True
    """
    generator = np.random.default_rng(seed)
    groups, each = values.shape
    drawn = generator.integers(groups, size=(DRAWS, groups))
    inside = generator.integers(each, size=(DRAWS, groups, each))
    chosen = values[drawn[:, :, None], inside]
    known = ~np.isnan(chosen)
    counts = known.sum(axis=2)
    means = np.where(known, chosen, 0).sum(axis=2) / np.maximum(counts, 1)
    total = np.where(counts > 0, means, 0).sum(axis=1) / np.maximum((counts > 0).sum(axis=1), 1)
    low, high = np.quantile(total, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
