"""The parts of a corridor: its base, the loss that trains it, and the floor."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric.distances import (
    Calibrated,
    CorridorMetric,
    IntervalQuasimetric,
    ObjectDistance,
    Siamese,
    SymmetrizedMetric,
    TollMetric,
    join,
)
from trimetric.distances.corridor import LARGEST_FLOOR
from trimetric.models.encoders import MLP
from trimetric.training.losses import CustomLoss

FIRST_FLOOR = 0.12
"""of the mean value: the floor that the base is trained for where none is given"""
BAND_FLOOR = 2 / 3
"""the same without a base: from there to twice that, the mean is in the middle"""
FLOORS = (0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0, 1.125, 1.25, 1.5, 1.75, 2.0)
"""multiples of it that are tried afterwards"""
PULL = 0.1
"""weight of the pull to the middle of the corridor"""
DIM = 128


def corridor(f: ObjectDistance, base: ObjectDistance | None, floor: float) -> ObjectDistance:
    """Keep a function above a base, for any two networks that read the same objects.

    Args:
        f: any model.
        base: one that promises the triangle inequality; None for 0.
        floor: c, see `CorridorMetric`.

    Returns:
        A `Siamese` where one of the two has an encoder, otherwise a `CorridorMetric`.
    """
    encoder, (upper, *lower) = join([f] if base is None else [f, base])
    head = CorridorMetric(upper, base=lower[0] if lower else None, floor=floor)
    return head if encoder is None else Siamese(encoder, head)


def corridor_loss(floor: float, pull: float) -> CustomLoss:
    """Make the loss of a base: 0 where f is in the middle of the corridor, large where f is outside.

    Predictions are those of B, and targets the values of f - 1.5 c.  Squares become linear beyond c, so that a few
    wild values of f do not lead the base away from all others.

    Args:
        floor: c.
        pull: weight of the squared distance to the middle, beside that to the corridor.
    """

    def loss(predictions: Tensor, targets: Tensor, _: float) -> Tensor:
        off = (predictions - targets).abs()
        return _robust((off - floor / 2).relu(), floor) + pull * _robust(off, floor)

    return CustomLoss(loss, f"corridor of floor {floor!r}, pull {pull!r}")


def default_base(objects: Tensor, *, symmetric: bool, seed: int) -> Siamese:
    """Build an untrained base for objects: intervals with tolls, on features or on numbers of objects.

    Args:
        objects: a matrix of features, or a vector of numbers.
        symmetric: whether it must be symmetric.
        seed: of the weights.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        intervals = IntervalQuasimetric(DIM)
        head = Calibrated(TollMetric(SymmetrizedMetric(intervals) if symmetric else intervals))
        if not objects.is_floating_point() and objects.ndim == 1:
            points = nn.Embedding(int(objects.max()) + 1, head.dim)
            nn.init.normal_(points.weight, std=DIM**-0.5)
            return Siamese(points, head).to(objects.device)
        if objects.ndim != 2 or not objects.is_floating_point():
            raise ValueError(
                f"objects: expected a matrix of features, or give a base that reads them, got shape "
                f"{tuple(objects.shape)} and dtype {objects.dtype}"
            )
        encoder = MLP(objects.shape[1], head.dim, widths=(128, 128), activation="silu")
        encoder = encoder.to(objects)
        encoder.standardize.measure(objects)
        return Siamese(encoder, head.to(objects))


def _robust(change: Tensor, scale: float) -> Tensor:
    """The square up to `scale`, then linear."""
    if scale == 0:
        return change.square()
    return 2 * F.huber_loss(change, torch.zeros_like(change), reduction="none", delta=scale)


def clamp_values(values: Tensor, base: Tensor, floor: float) -> Tensor:
    return torch.minimum(torch.maximum(values, base + floor), base + 2 * floor)


def first_floor(values: Tensor, *, banded: bool = False, name: str = "f") -> float:
    mean = float(values.double().mean())
    if not 0 < mean < LARGEST_FLOOR:
        raise ValueError(f"{name}: expected a mean above 0 and below {LARGEST_FLOOR:g}, got {mean:.4g}")
    return (BAND_FLOOR if banded else FIRST_FLOOR) * mean


def best_floor(values: Tensor, base: Tensor, error: Callable[[Tensor], Tensor], first: float) -> float:
    """The multiple of `first` whose corridor has the smallest mean error; of equal ones, the smallest."""
    errors = {
        scale * first: float(error(clamp_values(values, base, scale * first)).double().mean()) for scale in FLOORS
    }
    return min(errors, key=lambda floor: (errors[floor], floor))
