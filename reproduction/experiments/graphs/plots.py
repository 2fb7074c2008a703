"""Learning curves of the graph experiments: test error by training pairs, and by epoch."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot
from matplotlib.ticker import LogLocator, NullFormatter

from reproduction.experiments.graphs.data import ASYMMETRIC, SYMMETRIC
from reproduction.experiments.graphs.heads import HEADS, PAPER
from reproduction.experiments.graphs.tables import PROTOCOLS, Runs
from reproduction.frame.figures import Figure, add_legend
from reproduction.frame.rows import Row

COLORS = {
    "Eucl.": "#8c8c8c",
    "WN": "#e07b1f",
    "DN_I": "#7fb3e0",
    "DN_N": "#2f6fb5",
    "MLP": "#000000",
    "MLP calibrated": "#000000",
    "MLP difference": "#8e5bb5",
    "WN rectified": "#c0392b",
    "IQE": "#2e8b57",
    "Toll WN": "#e6a96b",
    "Toll DN_N": "#1b3f66",
    "Toll IQE": "#7ac79a",
    "Band": "#b8a100",
    "recommended": "#d4589b",
    "wide MLP": "#555555",
    "wide Toll IQE": "#0f5c33",
}
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
    return drawn


def _by_pairs(runs: Runs, kind: str, graphs: list[str], protocol: str) -> Figure:
    depths = runs.depths(protocol, graphs)
    panels = [[(graph, depth) for depth in depths] for graph in graphs]
    if len(depths) == 1:  # side by side, not one tall column
        panels = [[panel for line in panels for panel in line]]
    plot = Plot(figsize=(3.8 * len(panels[0]), 2.9 * len(panels)), layout="constrained")
    axes = plot.subplots(
        len(panels), len(panels[0]), squeeze=False, sharey="row" if len(depths) > 1 else False, sharex=True
    )
    for line, row in zip(axes, panels, strict=True):
        for ax, (graph, depth) in zip(line, row, strict=True):
            _lines(ax, runs, protocol, graph, depth)
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


def _lines(ax: Axes, runs: Runs, protocol: str, graph: str, depth: int) -> None:
    for head in HEADS:
        points = []
        for size in runs.sizes(protocol):
            choice = runs.choice(protocol, graph, head, size, {"depth": depth})
            cell = None if choice is None else choice.measured("mse")
            if cell is not None:
                points.append((size, cell.value, cell.spread or 0.0))
        if points:
            x, y, spread = zip(*points, strict=True)
            # Error bars of length 0 leave a logarithmic axis without limits.
            ax.errorbar(x, y, yerr=spread if any(spread) else None, **_style(head), capsize=2, elinewidth=0.8)
    ax.set(xscale="log", yscale="log")
    sizes = runs.sizes(protocol)
    ax.set_xticks(sizes, [f"{size / 1000:g}K" for size in sizes], fontsize=8)
    ax.set_xticks([], minor=True)
    _plain_numbers(ax)


def _plain_numbers(ax: Axes) -> None:
    """Label a logarithmic axis with numbers such as 20 and 50, not with powers of ten."""
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.grid(alpha=0.25, which="both")


def _by_epoch(runs: Runs, kind: str, graphs: list[str], protocol: str) -> Figure:
    """Draw the errors with the most training pairs and the settings that validation chose."""
    size = max(runs.sizes(protocol))
    plot = Plot(figsize=(4.2 * len(graphs), 3.6), layout="constrained")
    axes = plot.subplots(1, len(graphs), squeeze=False)[0]
    for ax, graph in zip(axes, graphs, strict=True):
        for head in HEADS:
            choice = runs.choice(protocol, graph, head, size)
            curves = [] if choice is None else [row.value for row in choice.rows if row.metric == "curve"]
            if curves:
                mean = np.mean(np.array(curves), axis=0)
                ax.plot(mean[:, 0], mean[:, 3], **_style(head))
        ax.set(title=graph, yscale="log", xlabel="epoch")
        _plain_numbers(ax)
    axes[0].set_ylabel("test MSE")
    add_legend(plot, plot.axes, HEADS)
    return Figure(
        label=f"figure_{kind}_graph_epochs",
        title=f"{kind.capitalize()} graphs: test MSE by epoch with {size:,} pairs, {protocol} protocol",
        alt="A panel for each graph, a line for each head: the mean squared error on test pairs by epoch.",
        plot=plot,
        stem=f"figure_{kind}_graph_epochs_{protocol}",
    )


def _style(head: str) -> dict[str, Any]:
    return {
        "color": COLORS[head],
        "linestyle": "-" if HEADS[head].metric else "--",
        "marker": "o" if head in PAPER else "^",
        "markersize": 4,
        "linewidth": 1.3,
        "label": head,
    }
