"""Learning curves of metric nearness, with the exact optimum, which is a lower bound."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot

from reproduction.frame.figures import Figure, has_line
from reproduction.frame.rows import Row, longest_trained, pick
from reproduction.frame.styles import styles_of

METHODS = ("Eucl", "WN", "DN", "WN rectified")
STYLE = styles_of((*METHODS, "landmarks"))
TOP = 0.5
"""upper end of the axis: a matrix of zeros has J = 1, so values far above are not informative"""
NAMES = {
    "S": "symmetric",
    "A": "asymmetric",
    "S mirrored": "symmetric, mirrored noise",
    "A open": "asymmetric, open lattice",
}


def figures(rows: list[Row]) -> list[Figure]:
    """Draw one figure with a panel for each kind of matrix that was run."""
    n = max((row.settings["n"] for row in rows), default=0)
    curves = pick(rows, "curve", {"n": n})
    readings = [
        reading for reading in NAMES if has_line(row.value for row in curves if row.settings["reading"] == reading)
    ]
    if not readings:
        return []
    plot = Plot(figsize=(5.2 * len(readings), 3.8), layout="constrained")
    for ax, reading in zip(plot.subplots(1, len(readings), squeeze=False)[0], readings, strict=True):
        _panel(ax, rows, reading, n)
    return [
        Figure(
            label="figure_mn_curves",
            title=f"Metric nearness of {n} objects: J by epoch (mean over seeds; dashed: our recipe)",
            alt="Learning curves of the Euclidean embedding, the Wide Norm and the Deep Norm Neural Metrics; "
            "horizontal lines mark learned landmarks, the exact optimum and triangle fixing, which nearly coincide.",
            plot=plot,
            stem="figure_mn_curves",
        )
    ]


def _panel(ax: Axes, rows: list[Row], reading: str, n: int) -> None:
    seeds: set[int] = set()
    for method in METHODS:
        for recipe, style in (("paper", "-"), ("rows", "--")):
            where = {"reading": reading, "method": method, "recipe": recipe, "n": n}
            chosen = longest_trained(pick(rows, "curve", where))
            if not chosen:
                continue
            epochs = [epoch for epoch, _ in chosen[0].value]
            values = np.array([[value for _, value in row.value] for row in chosen])
            label = method if recipe == "paper" else f"{method}, our recipe"
            seeds |= {row.seed for row in chosen}
            look = {**STYLE[method].options(), "linestyle": style, "markevery": max(1, len(epochs) // 6)}
            ax.plot(epochs, values.mean(axis=0), label=label, **look)
    for method, style, color in (
        ("landmarks", "-", STYLE["landmarks"].color),
        ("exact", ":", "black"),
        ("TF", "-.", "black"),
    ):
        # For the same matrices as the curves: the optimum of others may be above or below.
        level = [row for row in pick(rows, "J", {"reading": reading, "method": method, "n": n}) if row.seed in seeds]
        if level:
            mean = float(np.mean([row.value for row in level]))
            ax.axhline(mean, color=color, linestyle=style, linewidth=1, label=method)
    ax.set(title=NAMES[reading], xlabel="epoch", ylabel="J (squared)", yscale="log")
    ax.set_ylim(top=min(ax.get_ylim()[1], TOP))
    ax.legend(fontsize=8)
