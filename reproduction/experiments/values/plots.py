"""Curves of the value functions: SPL and MSE by the training fraction and by epoch."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot
from numpy.typing import NDArray

from reproduction.experiments.values.heads import HEADS, JUDGED, SHOWN
from reproduction.experiments.values.tables import FRACTIONS, WORLDS, comparable
from reproduction.frame.figures import Figure, add_legend, has_line
from reproduction.frame.rows import Row, Rows, pick
from reproduction.frame.styles import styles_of
from reproduction.frame.tables import Measured, summarize

STYLE = styles_of(HEADS)
BESIDE = ("WN", *(head for head in HEADS if head not in JUDGED))
"""our form of the Wide Norm and the successors, next to the paper's best"""
LINES = ("train spl", "test spl", "train mse", "test mse")


def figures(rows: list[Row]) -> list[Figure]:
    """Draw all curves that have rows."""
    found = {}
    for split in ("goal", "state"):
        ran = [world for world, where in WORLDS.items() if pick(rows, "test spl", {**where, "split": split})]
        if ran:
            found[split] = ran
    by_fraction = [_sparsity(rows, found["goal"]), _appendix(rows, found["goal"])] if "goal" in found else []
    drawn = [*by_fraction, *(_curves(rows, worlds, split) for split, worlds in found.items())]
    return [figure for figure in drawn if figure is not None]


Lines = dict[str, list[tuple[float, Measured]]]
"""by head, the fraction of goals seen and what was measured"""


def _sparsity(rows: list[Row], worlds: list[str]) -> Figure | None:
    kinds = {
        heads: {world: _lines(rows, "test spl", world, heads) for world in worlds} for heads in (tuple(JUDGED), BESIDE)
    }
    kinds = {heads: kept for heads, panels in kinds.items() if (kept := _with_lines(panels))}
    if not kinds:
        return None
    widest = max(map(len, kinds.values()))
    plot = Plot(figsize=(4.2 * widest, 3.5 * len(kinds)), layout="constrained")
    parts = plot.subfigures(len(kinds), 1, squeeze=False)[:, 0]
    for part, panels in zip(parts, kinds.values(), strict=True):
        axes = part.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for ax, (world, lines) in zip(axes, panels.items(), strict=True):
            _draw(ax, lines)
            ax.set(title=world, ylim=(0, 1.05))
        axes[0].set_ylabel("test SPL")
        add_legend(part, axes, HEADS)
    return Figure(
        label="figure_value_it_sparsity",
        title="Test SPL by the fraction of goals seen (mean over seeds, bars: standard deviation)",
        alt="A column for each world, a line for each head, the paper's above and the successors below: SPL on "
        "held-out goals, which rises with the fraction of goals seen. At 1 the training pairs are tested.",
        plot=plot,
        stem="figure_value_it_sparsity",
    )


def _appendix(rows: list[Row], worlds: list[str]) -> Figure | None:
    panels = {metric: _with_lines({world: _lines(rows, metric, world, SHOWN) for world in worlds}) for metric in LINES}
    shown = [world for world in worlds if any(world in line for line in panels.values())]
    if not shown:
        return None
    plot = Plot(figsize=(4.0 * len(shown), 2.8 * len(LINES)), layout="constrained")
    axes = plot.subplots(len(LINES), len(shown), squeeze=False)
    for line, metric in zip(axes, LINES, strict=True):
        for ax, world in zip(line, shown, strict=True):
            if world not in panels[metric]:
                ax.set_visible(False)
                continue
            _draw(ax, panels[metric][world])
            ax.set_title(world, fontsize=10)
            if metric.endswith("mse"):
                ax.set_yscale("log")
            else:
                ax.set_ylim(0, 1.05)
        line[0].set_ylabel(_words(metric))
    add_legend(plot, axes.flat, HEADS)
    return Figure(
        label="figure_value_it_sparsity_app",
        title="SPL and MSE on training and test pairs by the training fraction",
        alt="Four rows of panels, training and test SPL and training and test MSE, against the fraction of goals seen.",
        plot=plot,
        stem="figure_value_it_sparsity_app",
    )


def _lines(rows: list[Row], metric: str, world: str, heads: Collection[str]) -> Lines:
    found = {}
    for head in heads:
        cells = {f: summarize(comparable(rows, metric, world, f, head, among=heads)) for f in FRACTIONS}
        if points := [(fraction, cell) for fraction, cell in cells.items() if cell is not None]:
            found[head] = points
    return found


def _with_lines(panels: dict[str, Lines]) -> dict[str, Lines]:
    return {world: lines for world, lines in panels.items() if has_line(lines.values())}


def _draw(ax: Axes, lines: Lines) -> None:
    for head, points in lines.items():
        ax.errorbar(
            [fraction for fraction, _ in points],
            [cell.value for _, cell in points],
            yerr=[cell.spread or 0 for _, cell in points],
            **_style(head),
            capsize=2,
            elinewidth=0.8,
        )
    ax.set_xticks(FRACTIONS)
    ax.set_xlabel("fraction of goals seen", fontsize=9)
    ax.grid(alpha=0.25)


def _curves(rows: list[Row], worlds: list[str], split: str) -> Figure | None:
    """Draw curves by epoch, at the fraction with the most heads and worlds; of several, the largest."""
    curves = Rows(pick(rows, "curve", {"split": split}))
    ran = {(row.settings["fraction"], row.config) for row in curves}
    partial = [fraction for fraction, _ in ran if fraction < 1] or [1.0]
    fraction = max(sorted(set(partial), reverse=True), key=partial.count)
    panels = {world: _means(curves, world, fraction, split) for world in worlds}
    panels = {world: means for world, means in panels.items() if has_line(means.values())}
    if not panels:
        return None
    plot = Plot(figsize=(4.0 * len(LINES), 2.8 * len(panels)), layout="constrained")
    axes = plot.subplots(len(panels), len(LINES), squeeze=False)
    for line, (world, means) in zip(axes, panels.items(), strict=True):
        for i, (ax, metric) in enumerate(zip(line, LINES, strict=True)):
            for head, points in means.items():
                ax.plot(points[:, 0], points[:, 1 + i], **_style(head))
            ax.set_title(_words(metric), fontsize=10)
            ax.set_xlabel("epoch", fontsize=9)
            ax.grid(alpha=0.25)
            if metric.endswith("mse"):
                ax.set_yscale("log")
        line[0].set_ylabel(world)
    add_legend(plot, axes.flat, HEADS)
    return Figure(
        label="figure_value_curves",
        title=f"SPL and MSE by epoch with {fraction:g} of the {split}s seen (mean over seeds)",
        alt="Learning curves of each head in each world: training and test SPL, training and test MSE.",
        plot=plot,
        stem=f"figure_value_curves_{split}",
    )


def _means(curves: list[Row], world: str, fraction: float, split: str) -> dict[str, NDArray[np.float64]]:
    """The mean curve of each head over its seeds."""
    chosen = {head: comparable(curves, "curve", world, fraction, head, split=split, among=SHOWN) for head in SHOWN}
    return {head: np.mean([row.value for row in found], axis=0) for head, found in chosen.items() if found}


def _words(metric: str) -> str:
    return metric.replace("spl", "SPL").replace("mse", "MSE")


def _style(head: str) -> dict[str, Any]:
    return {**STYLE[head].options(), "label": head}
