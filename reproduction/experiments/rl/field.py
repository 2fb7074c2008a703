"""What the figures draw: the distance to a goal over the places of a world, and some walks, as plain numbers."""

from __future__ import annotations

import numpy as np
import torch

import trimetric as tm
from trimetric import rl

SPACING = {"directed": 0.25, "pointmaze": 1.0}
EVERY = 4
"""steps between the points of a walk that are kept"""


@torch.no_grad()
def field_of(model: tm.Siamese, world: rl.TaskWorld) -> list[list[float]]:
    """The distance from places on a grid to the goal of the first task.

    Args:
        model: a learned distance.
        world: a pointmaze or the directed world.

    Returns:
        x, y and distance of each place.
    """
    if isinstance(world, rl.DirectedPoint):
        height, width = world.flow.grid.shape
        places = _grid((-0.5, width - 0.5), (-0.5, height - 0.5), SPACING["directed"])
        places = places[~world.flow.blocked(places)]
    else:
        assert isinstance(world, rl.PointMaze)
        high, wide = world.map.walls.shape
        places = _grid((-6.0, 4.0 * wide - 6), (-6.0, 4.0 * high - 6), SPACING["pointmaze"])
        places = places[world.map.clearance(places) >= 0.5]
    goal = torch.tensor([world.tasks[0].goal], dtype=torch.float32)
    found = tm.all_pairs(model, torch.from_numpy(places.astype(np.float32)), goal)[:, 0]
    return [
        [round(float(x), 2), round(float(y), 2), round(d, 1)] for (x, y), d in zip(places, found.tolist(), strict=True)
    ]


def walks_of(found: rl.Evaluation) -> list[list[list[float]]]:
    """The first walk of each task, thinned out.

    Args:
        found: an evaluation with paths.
    """
    assert found.paths is not None
    ends = found.steps[:, 0]
    return [
        [[round(float(value), 2) for value in place] for place in path[: end + 1][::EVERY]]
        for path, end in zip(found.paths[:, 0], ends, strict=True)
    ]


def _grid(across: tuple[float, float], down: tuple[float, float], spacing: float) -> np.ndarray:
    x, y = (np.arange(low + spacing / 2, high, spacing) for low, high in (across, down))
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
