"""Pictures of a trained distance: predictions against the truth, and where the objects lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from trimetric._support.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DOTS = 5000
MOST_NAMES = 40
MOST_GROUPS = 20


def draw_predictions(predicted: ArrayLike, truth: ArrayLike, *, unit: str | None = None) -> Figure:
    """Draw predicted against true distances.

    Args:
        predicted: the distances of pairs, as a model gives them.
        truth: the true distances; pairs at infinite distance are left out, and of more than 5000 pairs some are drawn.
        unit: of the distances, such as "minutes".

    Returns:
        The figure; `figure.savefig` writes it.

    Examples:
        >>> figure = draw_predictions([1.0, 2.5], [1.0, 2.0], unit="minutes")
        >>> figure.axes[0].get_xlabel()
        'true distance in minutes'
    """
    from matplotlib.figure import Figure

    x, y = np.asarray(truth, np.float64), np.asarray(predicted, np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"truth: expected one for each of the predicted distances {y.shape}, got shape {x.shape}")
    finite = np.isfinite(x)
    x, y = x[finite], y[finite]
    shown = _some(len(x), MOST_DOTS)
    label = "distance" if unit is None else f"distance in {unit}"
    figure = Figure(figsize=(5.0, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(x[shown], y[shown], ".", markersize=3, alpha=0.4)
    largest = float(x.max(initial=0.0))
    axes.plot([0, largest], [0, largest], color="black", linewidth=0.8)
    count = f"{len(x):,} pairs" if len(shown) == len(x) else f"{len(shown):,} of {len(x):,} pairs"
    axes.set(xlabel=f"true {label}", ylabel=f"predicted {label}", title=count)
    return figure


def draw_points(
    points: Tensor | np.ndarray,
    *,
    groups: Sequence[object] | np.ndarray | None = None,
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw the points of objects in the plane of their two principal axes.

    The plane shows points, not distances: with a head other than the Euclidean norm, points that look far apart may be
    near, and the distance in one direction may differ from that in the other.

    Args:
        points: `(n, dim)`, as `Model.embed` gives them.
        groups: what to color each point by, such as its class.
        names: of the objects; up to 40 are written beside their points.

    Returns:
        The figure; `figure.savefig` writes it.

    Examples:
        >>> figure = draw_points(torch.eye(3), groups=["a", "a", "b"])
        >>> figure.axes[0].get_title()
        '3 objects: 100% of the variance of 3 dimensions'
    """
    from matplotlib.figure import Figure

    table = torch.as_tensor(points).detach().double().cpu().numpy()
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise ValueError(f"points: expected finite points (n, dim), got shape {table.shape}")
    for name, given in (("groups", groups), ("names", names)):
        if given is not None and len(given) != len(table):
            raise ValueError(f"{name}: expected one for each of {len(table)} points, got {len(given)}")
    plane, share = _principal_plane(table)
    figure = Figure(figsize=(6.0, 5.2), layout="constrained")
    axes = figure.subplots()
    if groups is None:
        axes.plot(*plane.T, ".", markersize=5, alpha=0.6)
    else:
        kinds = list(dict.fromkeys(str(group) for group in groups))
        if len(kinds) > MOST_GROUPS:
            raise ValueError(f"groups: expected at most {MOST_GROUPS} different ones, got {len(kinds)}")
        for kind in sorted(kinds):
            rows = [i for i, group in enumerate(groups) if str(group) == kind]
            axes.plot(*plane[rows].T, ".", markersize=5, alpha=0.6, label=kind)
        axes.legend(frameon=False)
    if names is not None and len(names) <= MOST_NAMES:
        for name, (x, y) in zip(names, plane, strict=True):
            axes.annotate(str(name), (x, y), fontsize=7, xytext=(3, 3), textcoords="offset points", parse_math=False)
    axes.set(
        xlabel="first principal axis",
        ylabel="second principal axis",
        title=f"{len(table):,} objects: {share:.0%} of the variance of {table.shape[1]} dimensions",
    )
    axes.set_aspect("equal", adjustable="datalim")
    return figure


def save_figure(figure: Figure, file: Path | str) -> Path:
    """Write a figure, completely or not at all.

    Args:
        figure: what to write.
        file: a .png, .svg or .pdf file.

    Returns:
        The path of the file.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_figure(draw_predictions([1.0], [1.0]), Path(folder) / "errors.png").stat().st_size > 0
        True
    """
    path = Path(file)
    with replacing(path) as part:
        figure.savefig(part, format=path.suffix.removeprefix("."), dpi=150)
    return path


def _some(count: int, most: int) -> np.ndarray:
    """Row numbers: all of them, or `most` at random."""
    return np.arange(count) if count <= most else np.sort(np.random.default_rng(0).permutation(count)[:most])


def _principal_plane(table: np.ndarray) -> tuple[np.ndarray, float]:
    """The points on their two principal axes, and the share of the variance that these have."""
    centered = table - table.mean(axis=0)
    _, lengths, axes = np.linalg.svd(centered, full_matrices=False)
    plane = centered @ axes[:2].T
    plane = np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))
    total = float((lengths**2).sum())
    return plane, float((lengths[:2] ** 2).sum()) / total if total else 1.0
