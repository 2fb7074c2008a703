"""Pictures of a learned distance to a goal over the states of a log, and of walks there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.figure import Figure

from trimetric._support import checks
from trimetric._support.atomic import replacing
from trimetric.distances import Siamese
from trimetric.rl.evaluation.result import Evaluation

PANEL_INCHES = 4.0
MOST_WALKS = 5


@torch.no_grad()
def save_value_fields(
    file: Path | str,
    models: Mapping[str, Siamese],
    observations: Float[np.ndarray, "n features"],
    goals: Float[np.ndarray, "g features"],
    *,
    evaluation: Evaluation | None = None,
    axes: tuple[int, int] = (0, 1),
) -> Path:
    """Draw the distance from states to goals, a row for each model and a column for each goal, with walks over it.

    Args:
        file: a .png, .svg or .pdf file.
        models: learned distances by the name to print.
        observations: states to draw, vectors, such as some thousand of a log.
        goals: goals, one for each column.
        evaluation: walks, from `evaluate(..., record=True)`, whose tasks have the columns' goals in this order; white
            where they arrive, red where they do not.
        axes: the two coordinates of an observation to draw it at.

    Returns:
        The path of the file.

    Examples:
        >>> import tempfile
        >>> import trimetric as tm
        >>> model = tm.Siamese(tm.MLP(2, 4), tm.Euclidean(4))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = save_value_fields(f"{folder}/field.png", {"untrained": model}, np.eye(2), np.zeros((1, 2)))
        >>> file.name
        'field.png'
    """
    observations, goals = np.asarray(observations, dtype=np.float32), np.asarray(goals, dtype=np.float32)
    if observations.ndim != 2 or goals.ndim != 2 or observations.shape[1] != goals.shape[1]:
        raise ValueError(
            f"goals: expected vectors as long as the observations, got shapes {goals.shape} and {observations.shape}"
        )
    if not models or not len(goals):
        raise ValueError(f"models, goals: expected at least one of each, got {len(models)} and {len(goals)}")
    if not all(0 <= axis < observations.shape[1] for axis in axes):
        raise ValueError(f"axes: expected two numbers from 0 to {observations.shape[1] - 1}, got {axes!r}")
    walks = _walks(evaluation, len(goals))
    path = checks.path("file", file)
    size = (PANEL_INCHES * len(goals), PANEL_INCHES * len(models))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(models), len(goals), squeeze=False, sharex=True, sharey=True)
    seen = torch.from_numpy(observations)
    for row, (name, model) in zip(panels, models.items(), strict=True):
        like = next(model.parameters())
        for panel, goal, own in zip(row, goals, walks, strict=True):
            wanted = torch.from_numpy(goal).expand(len(seen), -1)
            values = model(seen.to(like), wanted.to(like)).float().cpu().numpy()
            drawn = panel.scatter(*observations[:, list(axes)].T, c=values, s=5, linewidths=0)
            figure.colorbar(drawn, ax=panel, shrink=0.8, label="learned distance to the star")
            for walk, arrived in own:
                color = "white" if arrived else "tab:red"
                panel.plot(*walk[:, list(axes)].T, color=color, linewidth=1.2)
                panel.plot(*walk[0, list(axes)], "o", color=color, markersize=4)
            panel.plot(*goal[list(axes)], "*", color="tab:orange", markersize=14, markeredgecolor="black")
            panel.set_facecolor("0.2")
            panel.set_title(name, fontsize=9)
    with replacing(path) as stream:
        figure.savefig(stream, dpi=110, format=path.suffix[1:] or "png")
    return path


def _walks(evaluation: Evaluation | None, columns: int) -> Sequence[list[tuple[np.ndarray, bool]]]:
    if evaluation is None:
        return [[] for _ in range(columns)]
    if evaluation.paths is None or len(evaluation.tasks) != columns:
        raise ValueError(
            f"evaluation: expected paths of {columns} tasks, one for each goal, evaluate(..., record=True)"
        )
    return [
        [
            (path[: steps + 1], bool(arrived))
            for path, steps, arrived in zip(paths[:MOST_WALKS], steps_of, reached, strict=False)
        ]
        for paths, steps_of, reached in zip(evaluation.paths, evaluation.steps, evaluation.reached, strict=True)
    ]
