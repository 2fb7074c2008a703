"""Distances by name, for those who choose one from a list: estimators, grid searches, the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from trimetric._support import checks
from trimetric.distances import Distance, IntervalQuasimetric, NeuralMetric, SymmetrizedMetric, as_distance
from trimetric.norms import DeepNorm, Euclidean, Mahalanobis, Norm, Symmetrized, WideNorm

HeadName = Literal["wide", "deep", "interval", "mahalanobis", "euclidean"]


def make_head(name: HeadName, dim: int, *, symmetric: bool = False, concave_units: int = 0) -> Distance:
    """The distance of that name on vectors of size `dim`; every one keeps the triangle inequality.

    - `wide` a rectified `WideNorm`, `deep` a `DeepNorm` of two layers, `interval` an `IntervalQuasimetric`: asymmetric
      unless `symmetric`;
    - `mahalanobis`, `euclidean`: always symmetric.

    With `concave_units` above 0 the components carry that many learned concave units (a `NeuralMetric`); with 0 the
    distance of a norm is $||y - x||$.
    """
    checks.one_of("head", name, HEADS)
    head = HEADS[name](dim, bool(symmetric))
    if isinstance(concave_units, bool) or concave_units != 0:
        return NeuralMetric(head, concave_units=concave_units)
    return as_distance("head", head)


def _deep(dim: int, symmetric: bool) -> Norm:
    norm = DeepNorm(dim, widths=(64, 64))
    return Symmetrized(norm) if symmetric else norm


def _interval(dim: int, symmetric: bool) -> Distance:
    distance = IntervalQuasimetric(dim)
    return SymmetrizedMetric(distance) if symmetric else distance


HEADS: dict[HeadName, Callable[[int, bool], Norm | Distance]] = {
    "wide": lambda dim, symmetric: WideNorm(dim, symmetric=symmetric),
    "deep": _deep,
    "interval": _interval,
    "mahalanobis": lambda dim, _: Mahalanobis(dim),
    "euclidean": lambda dim, _: Euclidean(dim),
}
