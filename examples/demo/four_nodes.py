"""Part 1: four nodes that no Euclidean space can hold, in the plane."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import trimetric as tm

NODES = "ABCD"
DISTANCES = torch.tensor([[0.0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]])
PAIRS = torch.triu_indices(4, 4, offset=1)
EUCLIDEAN_FLOOR = (3 - 2 * math.sqrt(2)) / 3
"""the smallest mean squared error over the six pairs in a Euclidean space of any dimension"""
DIRECTIONS = 180
CLOUD = 300
"""random points of the plane that the audit adds to the four nodes"""

MODELS: dict[str, Callable[[], tm.Distance]] = {
    "Euclidean": lambda: tm.NormInduced(tm.Euclidean(2)),
    "Deep Norm": lambda: tm.NormInduced(tm.Symmetrized(tm.DeepNorm(2, widths=(32, 32)))),
    "Wide Norm": lambda: tm.NormInduced(tm.WideNorm(2, components=16, width=2, symmetric=True)),
}


@dataclass(frozen=True, eq=False)
class PlaneFit:
    """The best of several fits of a norm and of four points in the plane.

    Attributes:
        mse: mean squared error over the six pairs.
        points: the four embedded nodes, `(4, 2)`.
        predicted: the learned distances of the six pairs.
        ball: the boundary of the unit ball, `(directions, 2)`.
        audit: of the distance, on the nodes and on random points of the plane.
    """

    mse: float
    points: NDArray[np.float64]
    predicted: list[float]
    ball: NDArray[np.float64]
    audit: tm.Audit


def fit_plane(name: str, *, steps: int, starts: int) -> PlaneFit:
    """Fit the four nodes by one of `MODELS`.

    Args:
        name: of the model.
        steps: Adam steps per start, each on all six pairs.
        starts: random starts, of which the one with the smallest error counts.
    """
    fits = [_fit(MODELS[name], steps=steps, seed=seed) for seed in range(starts)]
    model = min(fits, key=_mse)
    with torch.no_grad():
        points = model.encoder(torch.eye(len(NODES)))
        predicted = model.distance(*points[PAIRS])
        turn = torch.arange(DIRECTIONS) * (2 * math.pi / DIRECTIONS)
        directions = torch.stack([turn.cos(), turn.sin()], dim=-1)
        ball = directions / model.distance(torch.zeros(2), directions).unsqueeze(-1)
    cloud = torch.randn(CLOUD, 2, generator=torch.Generator().manual_seed(0)) * points.std()
    return PlaneFit(
        mse=_mse(model),
        points=points.double().numpy(),
        predicted=predicted.tolist(),
        ball=ball.double().numpy(),
        audit=tm.audit(model.distance, torch.cat([points, cloud])),
    )


def _fit(make: Callable[[], tm.Distance], *, steps: int, seed: int) -> tm.Siamese:
    torch.manual_seed(seed)
    model = tm.Siamese(nn.Linear(len(NODES), 2, bias=False), make())
    config = tm.TrainingConfig(epochs=steps, batch_size=PAIRS.shape[1], learning_rate=0.02, seed=seed)
    objects = torch.eye(len(NODES))
    tm.fit(model, PAIRS.mT.contiguous(), DISTANCES[*PAIRS], objects=objects, config=config, progress="silent")
    return model


@torch.no_grad()
def _mse(model: tm.Siamese) -> float:
    start, end = torch.eye(len(NODES))[PAIRS]
    return (model(start, end) - DISTANCES[*PAIRS]).square().mean().item()
