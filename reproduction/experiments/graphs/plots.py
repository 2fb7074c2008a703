"""Learning curves of the graph experiments: test error by training pairs, and by epoch."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

from reproduction.experiments.graphs.data import ASYMMETRIC, SYMMETRIC
from reproduction.experiments.graphs.heads import HEADS
from reproduction.experiments.graphs.tables import PROTOCOLS, Runs
from reproduction.frame.figures import Figure, add_legend, has_line
from reproduction.frame.rows import Row
from reproduction.frame.styles import styles_of

STYLE = styles_of(HEADS)
KINDS = {"symmetric": SYMMETRIC, "asymmetric": ASYMMETRIC}


def figures(rows: list[Row]) -> list[Figure]:
    """Draw the curves by kind of graph, for each protocol that was run; the quick one only if there is no other."""
    runs = Runs(rows)
    protocols = [protocol for protocol in runs.protocols() if protocol != "quick"] or runs.protocols()
    drawn = []
    for kind, names in KINDS.items():
        for protocol in protocols:
            there = [graph for graph in names if any(key[:2] == (protocol, graph) for key in runs.groups)]
            if there:
                drawn += [_by_pairs(runs, kind, there, protocol), _by_epoch(runs, kind, there, protocol)]
    return [figure for figure in drawn if figure is not None]


Points = list[tuple[int, float, float]]
"""training pairs, error and its spread"""


def _by_pairs(runs: Runs, kind: str, graphs: list[str], protocol: str) -> Figure | None:
    depths = runs.depths(protocol, graphs)
    panels = {(graph, depth): _errors(runs, protocol, graph, depth) for graph in graphs for depth in depths}
    panels = {panel: lines for panel, lines in panels.items() if has_line(lines.values())}
    if not panels:
        return None
    names = list(dict.fromkeys(graph for graph, _ in panels))
    shown = sorted({depth for _, depth in panels})
    grid = [[(graph, depth) for depth in shown] for graph in names]
    if len(shown) == 1:  # side by side, not one tall column
        grid = [[panel for line in grid for panel in line]]
    plot = Plot(figsize=(3.8 * len(grid[0]) + 1.2, 2.9 * len(grid)), layout="constrained")
    axes = plot.subplots(len(grid), len(grid[0]), squeeze=False, sharey="row" if len(shown) > 1 else False, sharex=True)
    for line, row in zip(axes, grid, strict=True):
        for ax, (graph, depth) in zip(line, row, strict=True):
            if (graph, depth) not in panels:
                ax.set_visible(False)
                continue
            _lines(ax, panels[graph, depth], runs.sizes(protocol))
            ax.set_title(f"{graph}, {depth} layers", fontsize=10)
        line[0].set_ylabel("test MSE")
    for ax in axes[-1]:
        ax.set_xlabel("training pairs", fontsize=9)
    add_legend(plot, plot.axes, HEADS)
    label = f"figure_{kind}_graph_learning_curves"
    return Figure(
        label=label,
        title=f"{kind.capitalize()} graphs: test MSE by training pairs and layers of the encoder, {protocol} protocol",
        alt="A row of panels for each graph, a panel for each depth of the encoder, a line for each head: the "
        "mean squared error on test pairs falls with the number of training pairs. " + PROTOCOLS[protocol],
        plot=plot,
        stem=f"{label}_{protocol}",
    )


def _errors(runs: Runs, protocol: str, graph: str, depth: int) -> dict[str, Points]:
    """The points of each head that was run."""
    found: dict[str, Points] = {}
    for head in HEADS:
        for size in runs.sizes(protocol):
            choice = runs.choice(protocol, graph, head, size, {"depth": depth})
            cell = None if choice is None else choice.measured("mse")
            if cell is not None:
                found.setdefault(head, []).append((size, cell.value, cell.spread or 0.0))
    return found


def _lines(ax: Axes, lines: dict[str, Points], sizes: list[int]) -> None:
    for head, points in lines.items():
        x, y, spread = zip(*points, strict=True)
        # Error bars of length 0 leave a logarithmic axis without limits.
        ax.errorbar(x, y, yerr=spread if any(spread) else None, **_style(head), capsize=2, elinewidth=0.8)
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(sizes, [f"{size / 1000:g}K" for size in sizes], fontsize=8)
    ax.set_xticks([], minor=True)
    _plain_numbers(ax)


def _plain_numbers(ax: Axes) -> None:
    """Label a logarithmic axis with numbers such as 20 and 50, not with powers of ten."""
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.grid(alpha=0.25, which="both")


def _by_epoch(runs: Runs, kind: str, graphs: list[str], protocol: str) -> Figure | None:
    """Draw the errors with the most training pairs and the settings that validation chose."""
    size = max(runs.sizes(protocol))
    panels = {graph: _curves(runs, protocol, graph, size) for graph in graphs}
    panels = {graph: curves for graph, curves in panels.items() if has_line(curves.values())}
    if not panels:
        return None
    plot = Plot(figsize=(4.2 * len(panels) + 1.2, 3.6), layout="constrained")
    axes = plot.subplots(1, len(panels), squeeze=False)[0]
    for ax, (graph, curves) in zip(axes, panels.items(), strict=True):
        for head, curve in curves.items():
            ax.plot(curve[:, 0], curve[:, 3], **_style(head))
        ax.set(title=graph, yscale="log", xlabel="epoch")
        _plain_numbers(ax)
    axes[0].set_ylabel("test MSE")
    add_legend(plot, plot.axes, HEADS)
    return Figure(
        label=f"figure_{kind}_graph_learning_curves",
        title=f"{kind.capitalize()} graphs: test MSE by epoch with {size:,} pairs, {protocol} protocol",
        alt="A panel for each graph, a line for each head: the mean squared error on test pairs by epoch.",
        plot=plot,
        stem=f"figure_{kind}_graph_epochs_{protocol}",
    )


def _curves(runs: Runs, protocol: str, graph: str, size: int) -> dict[str, NDArray[np.float64]]:
    """The mean curve of each head that was run."""
    found = {}
    for head in HEADS:
        choice = runs.choice(protocol, graph, head, size)
        curves = [] if choice is None else [row.value for row in choice.rows if row.metric == "curve"]
        if curves:
            found[head] = np.mean(np.array(curves), axis=0)
    return found


def _style(head: str) -> dict[str, Any]:
    return {**STYLE[head].options(), "label": head}
