"""The heads: all on points of 64 numbers from the same encoder, and all calibrated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import trimetric as tm

DIM = 64


@dataclass(frozen=True)
class Head:
    """One line of the tables."""

    about: str
    build: Callable[[], tm.Norm | tm.Distance]
    asymmetric: bool = True
    metric: bool = True
    """whether it keeps the triangle inequality"""


def _wide() -> tm.WideNorm:
    return tm.WideNorm(DIM, components=8, width=16)


def _network() -> tm.MLPDistance:
    # With a linear output, which may be negative, all distances become 1 and stay so.
    return tm.MLPDistance(DIM, widths=(32,) * 3, inputs="concatenation", output="softplus")


HEADS: dict[str, Head] = {
    "MRN grouped": Head("metric residual, 8 groups", lambda: tm.ResidualMetric(DIM, components=8)),
    "IQE": Head("intervals, 8 groups, maxmean", lambda: tm.IntervalQuasimetric(DIM, components=8)),
    "WN": Head("rectified Wide Norm, 8 components of 16", _wide),
    "DN": Head("Deep Norm, 3 layers of 32", lambda: tm.DeepNorm(DIM, widths=(32,) * 3)),
    "recommended": Head("tm.recommended: IQE + WN + MRN", lambda: tm.recommended(DIM, symmetric=False).inner),
    "length + WN": Head("the length and WN, weighted", lambda: tm.WideMetric([tm.Euclidean(DIM), _wide()])),
    "Euclidean": Head("the length of the difference", lambda: tm.Euclidean(DIM), asymmetric=False),
    "MLP softplus": Head("3 x 32 of both ends", _network, metric=False),
}
"""grouped MRN is the one that the recipes were found with"""
