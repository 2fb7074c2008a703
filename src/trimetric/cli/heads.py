"""The networks that `trimetric fit` can train."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from torch import nn

from trimetric import checks
from trimetric.distances import Calibrated, Distance, MLPDistance, NeuralMetric
from trimetric.encoders import MLP
from trimetric.norms import DeepNorm, Euclidean, Mahalanobis, Norm, Symmetrized, WideNorm
from trimetric.siamese import Siamese
from trimetric.tables.errors import InputError

# From the number of dimensions, and whether the distance is to be symmetric.
HEADS: dict[str, Callable[[int, bool], Norm | Distance]] = {
    "wide": lambda dim, symmetric: WideNorm(dim, symmetric=symmetric),
    "deep": lambda dim, symmetric: _symmetrized(DeepNorm(dim), symmetric),
    "mahalanobis": lambda dim, _: Mahalanobis(dim),
    "euclidean": lambda dim, _: Euclidean(dim),
    "mlp": lambda dim, _: MLPDistance(dim),
}


def make_network(
    head: str, *, objects: int, features: int | None, dim: int, widths: Sequence[int], symmetric: bool, concave: int
) -> Siamese:
    """An encoder of features, or a table of one point for each object, below a calibrated head."""
    checks.positive_int("dim", dim)
    encoder = _points(objects, dim) if features is None else MLP(features, dim, widths=tuple(widths))
    inner = HEADS[head](dim, symmetric)
    if symmetric and not inner.axioms.symmetric:
        raise InputError(f"--symmetric: expected a head that can promise it, got --head {head}")
    if isinstance(inner, Norm) and concave:
        inner = NeuralMetric(inner, concave_units=concave)
    return Siamese(encoder, Calibrated(inner))


def _points(objects: int, dim: int) -> nn.Embedding:
    """Points about 1 apart: there the concave units begin bent, and learn."""
    points = nn.Embedding(objects, dim)
    nn.init.normal_(points.weight, std=1 / math.sqrt(2 * dim))
    return points


def _symmetrized(norm: Norm, symmetric: bool) -> Norm:
    return Symmetrized(norm) if symmetric else norm
