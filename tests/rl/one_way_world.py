"""A small world with one-way doors, its log, exact distances and a network, for several tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

import trimetric as tm
from trimetric.distances import Distance
from trimetric.rl import (
    KnownMoves,
    Transitions,
    World,
    collect,
)
from trimetric.rl.worlds.environment import GridEnvironment

ONE_WAY = """
#########
#   >   #
#   #   #
#   #   #
#   <   #
#########
"""


def walk(steps: int = 2500, **arguments: Any) -> Transitions:
    return collect(GridEnvironment(ONE_WAY, observations="cells", **arguments), steps, seed=0)


def arrays(n: int = 4) -> dict[str, np.ndarray]:
    return {"observations": np.zeros((n, 2)), "next_observations": np.ones((n, 2)), "costs": np.ones(n)}


class Looked(Distance):
    """The exact distance of a world, looked up by cell."""

    def __init__(self, world: World, noise: float = 0.0) -> None:
        super().__init__(2, num_components=1, pool="mean")
        torch.manual_seed(0)
        self.matrix = (world.distances + noise * torch.rand(world.distances.shape)).float()
        self.number = torch.full(world.grid.shape, -1)
        self.number[tuple(world.grid.cells.T)] = torch.arange(world.num_states)

    def components(self, x: Tensor, y: Tensor) -> Tensor:
        x, y = torch.broadcast_tensors(x, y)
        ends = [self.number[tuple(end.long().unbind(-1))] for end in (x, y)]
        return self.matrix[tuple(ends)].unsqueeze(-1)


def network(log: Transitions, head: Any = None) -> tm.Siamese:
    torch.manual_seed(0)
    encoder = tm.MLP(2, 32, widths=(64, 64), waves=3)
    encoder.standardize.measure(KnownMoves(log).states)
    return tm.Siamese(encoder, tm.Calibrated(head or tm.IntervalQuasimetric(32)))
