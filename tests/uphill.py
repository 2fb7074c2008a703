"""A small problem to train on: a distance in the plane that is longer uphill."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import trimetric as tm


def problem(n: int = 40) -> tuple[Tensor, Tensor, Tensor]:
    """Objects in the plane, all pairs of them, and an asymmetric distance (uphill costs three times as much)."""
    generator = torch.Generator().manual_seed(0)
    objects = torch.rand(n, 2, generator=generator)
    pairs = torch.cartesian_prod(torch.arange(n), torch.arange(n))
    difference = objects[pairs[:, 1]] - objects[pairs[:, 0]]
    return objects, pairs, 50 * (difference[:, 0].abs() + 3 * difference[:, 1].relu() + (-difference[:, 1]).relu())


def model(seed: int = 0, head: tm.Distance | None = None) -> tm.Siamese:
    torch.manual_seed(seed)
    encoder = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 4))
    return tm.Siamese(encoder, tm.Calibrated(head or tm.WideNorm(4, components=4, width=4)))


def weights(trained: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in trained.state_dict().items()}
