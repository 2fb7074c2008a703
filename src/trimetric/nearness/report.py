"""What a repair changed: in words and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trimetric._support.atomic import replacing
from trimetric.kernels.min_plus import count_violations
from trimetric.nearness.result import NearestMetric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELLS = 400
"""of a heat map along each side; larger matrices are shown by the largest entry of each block"""


@dataclass(frozen=True)
class RepairReport:
    """What a repair changed among the known entries; `str` describes it in words.

    Examples:
        >>> from trimetric.nearness import nearest_metric
        >>> D = [[0, 1, 5], [1, 0, 1], [5, 1, 0]]
        >>> report = repair_report(nearest_metric(D), D)
        >>> report.known, report.raised, report.lowered
        (6, 4, 2)
    """

    known: int
    """entries that were known, without the diagonal"""
    filled: int
    """missing entries that were filled in"""
    changed: int
    """known entries that changed by more than the count tolerance"""
    raised: int
    """known entries that are larger now"""
    lowered: int
    """known entries that are smaller now"""
    largest_rise: float
    """the most that an entry was raised by"""
    largest_fall: float
    """the most that an entry was lowered by"""
    mean_change: float
    """mean absolute change of all known entries"""
    broken_before: int
    """ordered triples of D that broke the triangle inequality by more than the count tolerance; of known entries"""
    violation_before: float
    """largest violation of a triangle inequality in D"""
    text: str
    """all of it in words"""

    def __str__(self) -> str:
        return self.text


def repair_report(result: NearestMetric, D: Any) -> RepairReport:  # noqa: N803
    """Compare the result of `nearest_metric` with the matrix that it was given.

    Args:
        result: what `nearest_metric` returned.
        D: the matrix that it was called with; NaN where a distance is missing.

    Returns:
        How many entries changed and by how much, as numbers and in words.

    Examples:
        >>> from trimetric.nearness import nearest_metric
        >>> D = [[0, 1, 5], [1, 0, 1], [5, 1, 0]]
        >>> print(str(repair_report(nearest_metric(D), D)).splitlines()[1])
        before: 2 ordered triples broke the triangle inequality, by up to 3
    """
    before = _as_given(D, result)
    known = ~np.isnan(before) & ~np.eye(len(before), dtype=bool)
    change = np.where(known, result.matrix - np.where(known, before, 0.0), 0.0)
    small = result.count_tolerance
    violation, broken = _broken(before, small)
    numbers = {
        "known": int(known.sum()),
        "filled": int(before.size - len(before) - known.sum()),
        "changed": int((np.abs(change) > small).sum()),
        "raised": int((change > small).sum()),
        "lowered": int((change < -small).sum()),
        "largest_rise": max(0.0, float(change.max())),
        "largest_fall": max(0.0, -float(change.min())),
        "mean_change": float((np.abs(change) / max(int(known.sum()), 1)).sum()),
        "broken_before": broken,
        "violation_before": violation,
    }
    return RepairReport(**numbers, text=_text(result, numbers))


def _as_given(D: Any, result: NearestMetric) -> np.ndarray:  # noqa: N803
    before = np.array(D, dtype=np.float64)
    if before.shape != result.matrix.shape:
        raise ValueError(f"D: expected the matrix that was repaired, {result.matrix.shape}, got shape {before.shape}")
    np.fill_diagonal(before, 0.0)  # may be missing
    return before


def _broken(before: np.ndarray, tolerance: float) -> tuple[float, int]:
    if not np.isnan(before).any():
        return count_violations(before, tolerance)
    # A missing distance is too long to be a detour, and not there to be broken.
    unknown = np.isnan(before)
    far = 4.0 * np.nanmax(before) + 1.0
    largest, count = 0.0, 0
    detours = np.where(unknown, far, before)
    for i in range(len(before)):
        excess = np.where(unknown[i], -np.inf, before[i])[:, None] - (detours[i] + detours.T)
        largest, count = max(largest, float(excess.max())), count + int((excess > tolerance).sum())
    return largest, count


def _text(result: NearestMetric, numbers: dict[str, Any]) -> str:
    known = max(numbers["known"], 1)
    lines = [
        f"{len(result.matrix)} objects, {numbers['known']:,} known distances"
        + (f", {numbers['filled']:,} filled in" if numbers["filled"] else "")
        + (f" ({result.undetermined:,} of them without any path)" if result.undetermined else ""),
        f"before: {numbers['broken_before']:,} ordered triples broke the triangle inequality, "
        f"by up to {numbers['violation_before']:.4g}",
        "after: none, in whole numbers" if result.matrix.dtype.kind == "i" else "after: none, in floating point",
        f"changed: {numbers['changed']:,} distances ({100 * numbers['changed'] / known:.1f} %), "
        f"{_moved('raised', numbers['raised'], numbers['largest_rise'])}, "
        f"{_moved('lowered', numbers['lowered'], numbers['largest_fall'])}; "
        f"mean change {numbers['mean_change']:.4g}",
        f"J = ||X - D|| / ||D|| = {result.distortion:.6g} (squared: {result.distortion_squared:.6g}), "
        + (
            f"the nearest metric {'of whole numbers ' if result.matrix.dtype.kind == 'i' else ''}that is nowhere larger"
            if result.method == "decrease-only"
            else f"relative duality gap {result.gap:.2g}"
        ),
        f"{result.method}: {result.rounds} rounds, {result.seconds:.2f} s"
        + ("" if result.converged else f"; not converged ({result.stopped})"),
    ]
    return "\n".join(lines)


def _moved(verb: str, count: int, largest: float) -> str:
    return f"{count:,} {verb} by up to {largest:.4g}" if count else f"none {verb}"


def repair_picture(result: NearestMetric, D: Any) -> Figure:  # noqa: N803
    """Draw the matrix before and after, what changed, and a histogram of the changes.

    Args:
        result: what `nearest_metric` returned.
        D: the matrix that it was called with; NaN where a distance is missing.

    Returns:
        A Matplotlib figure with four panels.

    Examples:
        >>> from trimetric.nearness import nearest_metric
        >>> D = [[0, 1, 5], [1, 0, 1], [5, 1, 0]]
        >>> [axes.get_title() for axes in repair_picture(nearest_metric(D), D).axes[:3]]
        ['before', 'after', 'after - before']
    """
    from matplotlib.figure import Figure

    before = _as_given(D, result)
    known = ~np.isnan(before) & ~np.eye(len(before), dtype=bool)
    change = np.where(known, result.matrix - before, np.nan)
    largest = float(max(np.nanmax(before, initial=0.0), result.matrix.max()))
    reach = float(np.nanmax(np.abs(change), initial=0.0)) or 1.0
    figure = Figure(figsize=(15, 3.6), layout="constrained")
    axes = figure.subplots(1, 4)
    panels = (
        ("before", before, "viridis", 0.0, largest),
        ("after", result.matrix, "viridis", 0.0, largest),
        ("after - before", change, "RdBu_r", -reach, reach),
    )
    for ax, (title, matrix, colors, low, high) in zip(axes, panels, strict=False):
        image = ax.imshow(shrink(matrix), cmap=colors, vmin=low, vmax=high, interpolation="nearest")
        ax.set(title=title, xticks=[], yticks=[])
        figure.colorbar(image, ax=ax, shrink=0.8)
    changes = change[known]
    axes[3].hist(changes, bins=60, color="#3b6fb6", log=True)
    axes[3].set(title="changes of distances", xlabel="after - before", ylabel="entries")
    figure.suptitle(f"J = {result.distortion:.4g}, relative gap {result.gap:.1e}, no broken triangle left", fontsize=11)
    return figure


def save_picture(result: NearestMetric, D: Any, path: Path | str) -> None:  # noqa: N803
    """Write `repair_picture` to a file, atomically.

    Args:
        result: what `nearest_metric` returned.
        D: the matrix that it was called with; NaN where a distance is missing.
        path: the file; its suffix is the format, such as `.png`, `.svg` or `.pdf`.
    """
    with replacing(path) as stream:
        repair_picture(result, D).savefig(stream, dpi=130, format=Path(path).suffix[1:] or "png")


def shrink(matrix: np.ndarray) -> np.ndarray:
    """Make a matrix small enough to draw: the largest entry of each block.

    Args:
        matrix: square; NaN entries are left out.
    """
    step = -(-len(matrix) // CELLS)
    if step == 1:
        return matrix
    side = -(-len(matrix) // step)
    padded = np.full((side * step, side * step), np.nan)
    padded[: len(matrix), : len(matrix)] = matrix
    blocks = padded.reshape(side, step, side, step).transpose(0, 2, 1, 3).reshape(side, side, -1)
    sizes = np.where(np.isnan(blocks), -1.0, np.abs(blocks))
    return np.take_along_axis(blocks, sizes.argmax(axis=2)[..., None], axis=2)[..., 0]
