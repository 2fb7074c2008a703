"""Curves of the value functions: SPL and MSE by the training fraction and by epoch."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot

from reproduction.experiments.values.heads import CHOSEN, HEADS, JUDGED, SHOWN
from reproduction.experiments.values.tables import FRACTIONS, WORLDS, comparable
from reproduction.frame.figures import Figure, add_legend
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import summarize

COLORS = {
    "Euclidean": "#8c8c8c",
    "MLP": "#000000",
    "ICNN": "#8e5bb5",
    "DN": "#2f6fb5",
    "WN": "#e07b1f",
    "WN rectified": "#c0392b",
    "IQE": "#2e8b57",
    CHOSEN: "#d81b9c",
    "MRN": "#17a2b8",
    "Randers": "#7a5c3e",
    "Toll IQE": "#8fce3a",
    "recommended": "#1a3a8f",
}
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
    return [*by_fraction, *(_curves(rows, worlds, split) for split, worlds in found.items())]


def _sparsity(rows: list[Row], worlds: list[str]) -> Figure:
    plot = Plot(figsize=(4.2 * len(worlds), 7.0), layout="constrained")
    lines = plot.subfigures(2, 1, squeeze=False)[:, 0]
    for line, heads in zip(lines, (JUDGED, BESIDE), strict=True):
        axes = line.subplots(1, len(worlds), squeeze=False, sharey=True)[0]
        for ax, world in zip(axes, worlds, strict=True):
            _by_fraction(ax, rows, "test spl", world, heads)
            ax.set(title=world, ylim=(0, 1.05))
        axes[0].set_ylabel("test SPL")
        add_legend(line, axes, HEADS)
    return Figure(
        label="figure_value_it_sparsity",
        title="Test SPL by the fraction of goals seen (mean over seeds, bars: standard deviation)",
        alt="A column for each world, a line for each head, the paper's above and the successors below: SPL on "
        "held-out goals, which rises with the fraction of goals seen. At 1 the training pairs are tested.",
        plot=plot,
        stem="figure_value_it_sparsity",
    )


def _appendix(rows: list[Row], worlds: list[str]) -> Figure:
    plot = Plot(figsize=(4.0 * len(worlds), 2.8 * len(LINES)), layout="constrained")
    axes = plot.subplots(len(LINES), len(worlds), squeeze=False)
    for line, metric in zip(axes, LINES, strict=True):
        for ax, world in zip(line, worlds, strict=True):
            _by_fraction(ax, rows, metric, world, SHOWN)
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


def _by_fraction(ax: Axes, rows: list[Row], metric: str, world: str, heads: Collection[str]) -> None:
    for head in heads:
        cells = {f: summarize(comparable(rows, metric, world, f, head, among=heads)) for f in FRACTIONS}
        points = [(fraction, cell) for fraction, cell in cells.items() if cell is not None]
        if points:
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


def _curves(rows: list[Row], worlds: list[str], split: str) -> Figure:
    """Draw curves by epoch, at the fraction with the most heads and worlds; of several, the largest."""
    curves = pick(rows, "curve", {"split": split})
    ran = {(row.settings["fraction"], row.config) for row in curves}
    partial = [fraction for fraction, _ in ran if fraction < 1] or [1.0]
    fraction = max(sorted(set(partial), reverse=True), key=partial.count)
    plot = Plot(figsize=(4.0 * len(LINES), 2.8 * len(worlds)), layout="constrained")
    axes = plot.subplots(len(worlds), len(LINES), squeeze=False)
    for line, world in zip(axes, worlds, strict=True):
        for i, (ax, metric) in enumerate(zip(line, LINES, strict=True)):
            for head in SHOWN:
                chosen = comparable(curves, "curve", world, fraction, head, split=split, among=SHOWN)
                if chosen:
                    points = np.array([row.value for row in chosen])
                    ax.plot(points[0, :, 0], points[:, :, 1 + i].mean(axis=0), **_style(head))
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


def _words(metric: str) -> str:
    return metric.replace("spl", "SPL").replace("mse", "MSE")


def _style(head: str) -> dict[str, Any]:
    metric = HEADS[head].metric
    return {
        "color": COLORS[head],
        "linestyle": "-" if metric else "--",
        "marker": "o" if metric else "s",
        "markersize": 4,
        "linewidth": 1.4,
        "label": head,
    }
