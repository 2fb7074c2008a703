"""Pictures of learned norms of the plane: the balls of norm values 0.5, 1 and 2 over the true ones."""

from __future__ import annotations

from collections.abc import Callable

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot

from reproduction.data.plane_norms import SIZES, VALUES, ball, dataset, unit_vectors
from reproduction.frame.figures import Figure
from reproduction.frame.rows import Row
from reproduction.frame.styles import BLUE, GREEN, VERMILLION

TRUE, LEARNED, SEEN = BLUE, VERMILLION, GREEN
FIGURES = {
    "figure_2d_norm_balls": (("sym", "asym"), ("MLP", "DN", "WN", "WN rectified")),
    "figure_2d_norm_balls_appendix_squares": (("square", "diamond"), ("Maha", "MLP", "DN", "WN")),
    "figure_2d_norm_balls_appendix_hull": (("sym", "asym"), ("Maha", "MLP", "DN", "WN", "WN rectified")),
}

Find = Callable[[str, int, str], Row | None]
"""the row with the balls of a kind, a size and a model"""


def figures(find: Find) -> list[Figure]:
    """Draw all figures that have rows."""
    return [
        _figure(label, kinds, models, size, find)
        for label, (kinds, models) in FIGURES.items()
        for size in SIZES
        if any(find(kind, size, model) for kind in kinds for model in models)
    ]


def _figure(label: str, kinds: tuple[str, ...], models: tuple[str, ...], size: int, find: Find) -> Figure:
    plot = Plot(figsize=(2.2 * (len(models) + 1), 2.4 * len(kinds)), layout="constrained")
    axes = plot.subplots(len(kinds), len(models) + 1, squeeze=False)
    for row, kind in zip(axes, kinds, strict=True):
        _training_data(row[0], kind, size)
        for ax, model in zip(row[1:], models, strict=True):
            _balls(ax, kind, find(kind, size, model))
    for ax, name in zip(axes[0], ("training vectors", *models), strict=True):
        ax.set_title(name, fontsize=10)
    for ax, kind in zip(axes[:, 0], kinds, strict=True):
        ax.set_ylabel(kind)
    return Figure(
        label=label,
        title=f"Balls of norm values 0.5, 1 and 2, learned from {size} vectors (true: blue; learned: red, dashed)",
        alt=f"For {' and '.join(kinds)}: the training vectors and the true unit ball, then for {', '.join(models)} the "
        "learned balls over the true ones. If a model never reaches a value, its ball is missing.",
        plot=plot,
        stem=f"{label}_{size}",
    )


def _prepare(ax: Axes, kind: str) -> None:
    outline = _true_unit_ball(kind)
    reach = 2.3 * outline.abs().max().item()
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[], aspect="equal")
    for value in VALUES:
        ax.plot(*(float(value) * outline).T, color=TRUE, linewidth=2.2, alpha=0.55)


def _training_data(ax: Axes, kind: str, size: int) -> None:
    _prepare(ax, kind)
    (_, vectors), values = dataset(kind, size, seed=0).train
    for vector, value in zip(vectors, values, strict=True):
        ax.plot(*torch.stack([vector, vector / value]).T, color=LEARNED, linewidth=0.8)
    ax.scatter(*vectors.T, s=8, color=SEEN, zorder=3)


def _balls(ax: Axes, kind: str, row: Row | None) -> None:
    _prepare(ax, kind)
    if row is None:
        ax.text(0.5, 0.5, "no run", transform=ax.transAxes, ha="center", va="center")
        return
    for value, lengths in row.value.items():
        radii = torch.tensor([float("nan") if length is None else length for length in lengths])
        outline = unit_vectors(len(radii)) * radii.unsqueeze(1)
        ax.plot(*torch.cat([outline, outline[:1]]).T, color=LEARNED, linewidth=1.1, linestyle=(0, (4, 1.5)))
        if all(length is None for length in lengths):
            ax.text(0.03, 0.03, f"never {value}", transform=ax.transAxes, fontsize=8, color=LEARNED)
    ax.set_xlabel(" x ".join(map(str, row.settings["shape"])) or " ", fontsize=8)


def _true_unit_ball(kind: str) -> torch.Tensor:
    directions = unit_vectors(360)
    closed = torch.cat([directions, directions[:1]])
    with torch.no_grad():
        return closed / ball(kind, 0).float()(closed).unsqueeze(1)
