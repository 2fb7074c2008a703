"""Distances by name, for those who choose one from a list: estimators, grid searches, the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from trimetric import checks
from trimetric.distances import Distance, NeuralMetric, NormInduced
from trimetric.norms import DeepNorm, Euclidean, Mahalanobis, Norm, Symmetrized, WideNorm

HeadName = Literal["wide", "deep", "mahalanobis", "euclidean"]


def make_head(name: HeadName, dim: int, *, symmetric: bool = False, concave_units: int = 0) -> Distance:
    """The distance of that name on vectors of size `dim`; every one keeps the triangle inequality.

    - `wide` a rectified `WideNorm`, `deep` a `DeepNorm` of two layers: asymmetric unless `symmetric`;
    - `mahalanobis`, `euclidean`: always symmetric.

    With `concave_units` above 0 the norm's components carry that many learned concave units (a `NeuralMetric`);
    with 0 the distance is that of the norm, $||y - x||$.
    """
    checks.one_of("head", name, HEADS)
    if isinstance(concave_units, bool) or concave_units != 0:
        return NeuralMetric(HEADS[name](dim, bool(symmetric)), concave_units=concave_units)
    return NormInduced(HEADS[name](dim, bool(symmetric)))


def _deep(dim: int, symmetric: bool) -> Norm:
    norm = DeepNorm(dim, widths=(64, 64))
    return Symmetrized(norm) if symmetric else norm


HEADS: dict[HeadName, Callable[[int, bool], Norm]] = {
    "wide": lambda dim, symmetric: WideNorm(dim, symmetric=symmetric),
    "deep": _deep,
    "mahalanobis": lambda dim, _: Mahalanobis(dim),
    "euclidean": lambda dim, _: Euclidean(dim),
}
