"""The networks that `trimetric fit` can train."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from torch import nn

from trimetric import checks
from trimetric.distances import Calibrated, MLPDistance
from trimetric.encoders import MLP
from trimetric.heads import HeadName, make_head
from trimetric.recommended import recommended
from trimetric.siamese import Siamese
from trimetric.tables.errors import InputError


def make_network(
    head: HeadName | Literal["recommended", "mlp"],
    *,
    objects: int,
    features: int | None,
    dim: int,
    widths: Sequence[int],
    symmetric: bool,
    concave: int,
) -> Siamese:
    """An encoder of features, or a table of one point for each object, below a calibrated head."""
    checks.positive_int("dim", dim)
    encoder = _points(objects, dim) if features is None else MLP(features, dim, widths=tuple(widths))
    if head == "mlp":
        if symmetric:
            raise InputError(f"--symmetric: expected a head that can promise it, got --head {head}")
        return Siamese(encoder, Calibrated(MLPDistance(dim)))
    if head == "recommended":
        return Siamese(encoder, recommended(dim, symmetric=symmetric))
    return Siamese(encoder, Calibrated(make_head(head, dim, symmetric=symmetric, concave_units=concave)))


def _points(objects: int, dim: int) -> nn.Embedding:
    """Points about 1 apart: there the concave units begin bent, and learn."""
    points = nn.Embedding(objects, dim)
    nn.init.normal_(points.weight, std=1 / math.sqrt(2 * dim))
    return points
