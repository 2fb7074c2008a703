"""A picture of what is broken in a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from trimetric.kernels.min_plus import closure
from trimetric.nearness.report import shrink
from trimetric.nearness.result import COUNT_TOLERANCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def audit_picture(matrix: ArrayLike) -> Figure:
    """Draw a matrix, how much longer each distance is than the shortest path, and a histogram of these differences.

    Args:
        matrix: `(n, n)` distances from row to column; NaN for unknown distances.

    Returns:
        A Matplotlib figure with three panels.

    Examples:
        >>> [axes.get_title() for axes in audit_picture([[0, 1, 5], [1, 0, 1], [5, 1, 0]]).axes[:2]]
        ['distances', 'longer than the shortest path']
    """
    from matplotlib.figure import Figure

    given = np.array(matrix, np.float64)
    known = ~np.isnan(given) & ~np.eye(len(given), dtype=bool)
    paths = closure(np.where(np.isnan(given), np.inf, given))
    with np.errstate(invalid="ignore"):
        excess = np.where(known, given - paths, np.nan)
    rounding = COUNT_TOLERANCE * float(np.nanmax(given, initial=0.0))
    broken = excess[known & (excess > rounding)]
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    axes = figure.subplots(1, 3)
    for ax, (title, values, colors) in zip(
        axes, (("distances", given, "viridis"), ("longer than the shortest path", excess, "magma")), strict=False
    ):
        image = ax.imshow(shrink(values), cmap=colors, vmin=0.0, interpolation="nearest")
        ax.set(title=title, xticks=[], yticks=[], xlabel="to", ylabel="from")
        figure.colorbar(image, ax=ax, shrink=0.8)
    if len(broken):
        axes[2].hist(broken, bins=40, color="#3b6fb6", log=True)
    axes[2].set(title="distances that are too long", xlabel="longer than the shortest path by", ylabel="pairs")
    share = len(broken) / max(int(known.sum()), 1)
    figure.suptitle(f"{len(given):,} objects, {share:.1%} of the pairs have a shorter way through others", fontsize=11)
    return figure
