"""The networks that `trimetric fit` can train."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from torch import nn

from trimetric import checks, heads
from trimetric.distances import Calibrated, Distance, MLPDistance
from trimetric.encoders import MLP
from trimetric.recommended import recommended
from trimetric.siamese import Siamese
from trimetric.tables.errors import InputError


def _named(name: heads.HeadName) -> Callable[[int, bool, int], Distance]:
    return lambda dim, symmetric, concave: heads.make_head(name, dim, symmetric=symmetric, concave_units=concave)


# From the number of dimensions, whether the distance is to be symmetric, and the number of concave units.
HEADS: dict[str, Callable[[int, bool, int], Distance]] = {
    **{name: _named(name) for name in heads.HEADS},
    "recommended": lambda dim, symmetric, _: recommended(dim, symmetric=symmetric),
    "mlp": lambda dim, *_: MLPDistance(dim),
}


def make_network(
    head: str, *, objects: int, features: int | None, dim: int, widths: Sequence[int], symmetric: bool, concave: int
) -> Siamese:
    """An encoder of features, or a table of one point for each object, below a calibrated head."""
    checks.positive_int("dim", dim)
    encoder = _points(objects, dim) if features is None else MLP(features, dim, widths=tuple(widths))
    distance = HEADS[head](dim, symmetric, concave)
    if symmetric and not distance.axioms.symmetric:
        raise InputError(f"--symmetric: expected a head that can promise it, got --head {head}")
    return Siamese(encoder, distance if isinstance(distance, Calibrated) else Calibrated(distance))


def _points(objects: int, dim: int) -> nn.Embedding:
    """Points about 1 apart: there the concave units begin bent, and learn."""
    points = nn.Embedding(objects, dim)
    nn.init.normal_(points.weight, std=1 / math.sqrt(2 * dim))
    return points
