"""The figures: the learned distance to a goal in each world, with walks over it; drawn from rows alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot

from reproduction.experiments.rl.cells import COMPARED_STEPS, DIRECTED, MAIN, NONE, POINTMAZES, STEPS
from reproduction.frame.figures import Figure
from reproduction.frame.rows import Row, pick
from trimetric.rl.worlds.directed.world import BELTS, GATES

MARKERS = {"^": "^", ">": ">", "v": "v", "<": "<"}
ABOUT = {MAIN: "grouped MRN", "Euclidean": "learned, symmetric head", NONE: "straight lines, nothing learned"}


def _last(rows: list[Row], metric: str, world: str, head: str) -> Row | None:
    objective = NONE if head == NONE else "sqrt"
    steps = 0 if head == NONE else STEPS.get(world.split("-")[0], COMPARED_STEPS)
    found = pick(rows, metric, {"world": world, "head": head, "objective": objective, "steps": steps})
    return next((row for row in found if row.seed == 0), None)


def world_figure(rows: list[Row], world: str, heads: Sequence[str], policy: str) -> Figure | None:
    """Draw the distance to the goal of the first task for some heads, and one walk of each task.

    Args:
        rows: where to look.
        world: the name of the data.
        heads: one panel each; those without rows are left out.
        policy: whose walks to draw.
    """
    shown = [head for head in heads if _last(rows, "field", world, head) is not None]
    if not shown:
        return None
    plot = Plot(figsize=(4.6 * len(shown), 3.8), layout="constrained")
    panels = plot.subplots(1, len(shown), squeeze=False, sharex=True, sharey=True)[0]
    for panel, head in zip(panels, shown, strict=True):
        field, walks = _last(rows, "field", world, head), _last(rows, f"{policy} walks", world, head)
        success = _last(rows, f"{policy} success", world, head)
        assert field is not None
        _panel(panel, np.array(field.value), [] if walks is None else walks.value)
        rate = "" if success is None else f": {100 * success.value:.0f} % arrive"
        if world == DIRECTED:
            _draw_signs(panel)
        panel.set_title(f"{ABOUT.get(head, head)}{rate}", fontsize=9)
    panels[0].invert_yaxis()
    return Figure(
        label="table_rl_directed" if world == DIRECTED else "table_rl_pointmaze",
        title=f"Distance to the goal of the first task in {world}, and a walk of each task by {policy}",
        alt=f"The learned distance to a goal over the places of {world}, with walks of the planner over it.",
        plot=plot,
        stem=f"rl_{world}",
    )


def _panel(panel: Axes, field: np.ndarray, walks: list[list[list[float]]]) -> None:
    x, y, distance = field.T
    side = 7000 / len(x) if len(x) < 1000 else 18
    drawn = panel.scatter(x, y, c=distance, s=side, marker="s", linewidths=0, cmap="viridis")
    panel.figure.colorbar(drawn, ax=panel, shrink=0.8, label="distance")
    for walk in walks:
        path = np.array(walk)
        panel.plot(*path.T, color="white", linewidth=1.1)
        panel.plot(*path[0], "o", color="white", markersize=4, markeredgecolor="black")
        panel.plot(*path[-1], "X", color="tab:red", markersize=5, markeredgecolor="black")
    nearest = distance.argmin()
    panel.plot(x[nearest], y[nearest], "*", color="tab:orange", markersize=14, markeredgecolor="black")
    panel.set_aspect("equal")
    panel.set_facecolor("0.2")


def _draw_signs(panel: Axes) -> None:
    """Draw the gates as large arrows and the belts as small ones."""
    for text, size in ((GATES, 13), (BELTS, 6)):
        for row, line in enumerate(text.strip("\n").split("\n")):
            for column, sign in enumerate(line):
                if sign in MARKERS:
                    panel.plot(column, row, marker=MARKERS[sign], color="tab:pink", markersize=size, alpha=0.8)


def figures_of(rows: list[Row]) -> list[Figure]:
    """Draw one figure for each world that has rows."""
    found = [world_figure(rows, DIRECTED, ("IQE", "Euclidean", NONE), "graph")]
    found += [world_figure(rows, world, (MAIN, NONE), "actor") for world in POINTMAZES]
    return [figure for figure in found if figure is not None]
