"""Minutes of trips between places, from a source that is wrong for a few of them, and a student to learn them."""

from __future__ import annotations

import torch

import trimetric as tm

SHORT = tm.DistillationConfig(steps=100, batch_size=64)


def truth(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The minutes of a trip: a metric and a toll."""
    return 5 + 20 * (y - x).relu().sum(-1) + 10 * (x - y).relu().sum(-1)


def minutes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The same from a bad source: far too long for a few pairs."""
    right = truth(x, y)
    return torch.where((97 * x[:, 0] + 31 * y[:, 1]) % 1 < 0.03, 3 * right, right)


def places(count: int = 60) -> torch.Tensor:
    return torch.rand(count, 2, generator=torch.Generator().manual_seed(0))


def student(seed: int = 0) -> tm.Siamese:
    torch.manual_seed(seed)
    return tm.Siamese(tm.MLP(2, 18, widths=(32,)), tm.Calibrated(tm.TollMetric(tm.IntervalQuasimetric(16))))
