"""Draw a plan: walks over the learned distance to a goal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from torch import Tensor

from trimetric._support.atomic import replacing
from trimetric.distances import ObjectDistance
from trimetric.rl.planning.over_moves import plan
from trimetric.rl.transitions.embedding import embed_states
from trimetric.rl.transitions.known_moves import KnownMoves

PANEL_INCHES = 4.2
MOST_CELLS = 250_000


@torch.no_grad()
def distance_field(model: ObjectDistance, moves: KnownMoves, goal: int) -> Float[Tensor, " m"]:
    """Compute the learned distance of each state to a goal.

    Args:
        model: as for `plan`.
        moves: the moves of the log whose states are measured.
        goal: number of the goal.

    Returns:
        Distances (m,).
    """
    distance, points = embed_states(model, moves)
    return distance(points, points[goal].expand_as(points))


def save_plan(
    file: Path | str,
    models: Mapping[str, ObjectDistance],
    moves: KnownMoves,
    pairs: Int[Tensor, "k 2"],
    *,
    max_steps: int = 500,
    labels: tuple[str, str] = ("first coordinate", "second coordinate"),
) -> Path:
    """Draw a row of panels for each model and a column for each goal: the distance to the goal, and walks there.

    The states are drawn at their first two coordinates, the first one downwards and the second to the right, as in a
    map.  Walks that reach their goal are white, others red; a dot marks the start and a star the goal.

    Args:
        file: a .png, .svg or .pdf file.
        models: models by the name to print.
        moves: the moves that can be taken.
        pairs: states and goals of the walks, by number (k, 2).
        max_steps: number of steps after which a walk ends without success.
        labels: names of the first two coordinates.

    Returns:
        The path of the file.
    """
    if moves.states.ndim != 2 or moves.states.shape[1] < 2:
        raise ValueError(
            f"picture: expected states of at least 2 coordinates, got shape {tuple(moves.states.shape[1:])}"
        )
    goals = pairs[:, 1].unique()
    size = (PANEL_INCHES * len(goals), PANEL_INCHES * len(models))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(models), len(goals), squeeze=False, sharex=True, sharey=True)
    for row, (name, model) in zip(panels, models.items(), strict=True):
        found = plan(model, moves, pairs, max_steps=max_steps)
        for axes, goal in zip(row, goals.tolist(), strict=True):
            own = (pairs[:, 1] == goal).nonzero().flatten().tolist()
            paths, reached = [found.path(walk).numpy() for walk in own], found.reached.numpy()[own]
            _panel(axes, distance_field(model, moves, goal), moves, goal, paths, reached)
            axes.set_title(f"{name}: {reached.sum()} of {len(reached)} walks arrive", fontsize=9)
    for axes in panels[-1]:
        axes.set_xlabel(labels[1])
    for axes in panels[:, 0]:
        axes.set_ylabel(labels[0])
    panels[0, 0].invert_yaxis()
    path = Path(file)
    with replacing(path) as stream:
        figure.savefig(stream, dpi=110, format=path.suffix[1:] or "png")
    return path


def _panel(
    axes: Axes, field: Tensor, moves: KnownMoves, goal: int, paths: list[np.ndarray], reached: np.ndarray
) -> None:
    states = moves.states.numpy()
    place = states[:, 1], states[:, 0]
    values = field.cpu().numpy()
    lines = [np.unique(states[:, axis], return_inverse=True) for axis in (0, 1)]
    (rows, row), (columns, column) = lines
    if len(rows) * len(columns) <= MOST_CELLS:
        grid = np.full((len(rows), len(columns)), np.nan)
        grid[row, column] = values
        drawn: ScalarMappable = axes.pcolormesh(columns, rows, grid, shading="nearest")
    else:  # no grid, such as continuous positions
        drawn = axes.scatter(*place, c=values, s=4, linewidths=0)
    axes.figure.colorbar(drawn, ax=axes, shrink=0.8, label="learned distance to the star")
    axes.set_facecolor("0.2")
    for path, arrived in zip(paths, reached, strict=True):
        color = "white" if arrived else "tab:red"
        axes.plot(place[0][path], place[1][path], color=color, linewidth=1.2)
        axes.plot(place[0][path[0]], place[1][path[0]], "o", color=color, markersize=4)
    axes.plot(place[0][goal], place[1][goal], "*", color="tab:orange", markersize=14, markeredgecolor="black")
