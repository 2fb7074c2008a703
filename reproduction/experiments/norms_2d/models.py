"""The models of the 2-D norms, the shapes that are tried, and the two recipes that train them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import trimetric as tm

SMALL_BATCH = 16


def _deep(shape: tuple[int, ...], symmetric: bool) -> tm.Norm:
    depth, width = shape
    norm = tm.DeepNorm(2, widths=(width,) * depth)
    return tm.Symmetrized(norm) if symmetric else norm


def _wide(shape: tuple[int, ...], symmetric: bool, form: Any) -> tm.Norm:
    components, width = shape
    if symmetric:
        return tm.WideNorm(2, components=components, width=width, symmetric=True)
    return tm.WideNorm(2, components=components, width=width, form=form)


# Symmetric targets get the symmetric form, if a model has one.
MODELS: dict[str, Callable[[tuple[int, ...], bool], tm.Norm | tm.Distance]] = {
    "Maha": lambda *_: tm.Mahalanobis(2),
    "DN": _deep,
    "WN": lambda shape, symmetric: _wide(shape, symmetric, "paper"),
    "MLP": lambda shape, _: tm.MLPDistance(2, widths=(shape[1],) * shape[0]),
    "WN rectified": lambda shape, _: _wide(shape, False, "rectified"),
}
ONE_FORM = ("Maha", "MLP", "WN rectified")
"""models that are the same for symmetric and asymmetric targets"""
METRICS = ("Maha", "DN", "WN", "WN rectified")

DEEP = tuple(itertools.product((2, 3, 4, 5), (10, 50, 250)))
WIDE = tuple(itertools.product((2, 10, 50), (2, 10, 50)))
Shapes = dict[str, tuple[tuple[int, ...], ...]]
SHAPES: Shapes = {
    "Maha": ((),),
    "DN": DEEP,
    "WN": WIDE,
    "MLP": DEEP,
    "WN rectified": WIDE,
}

OUR_SHAPES: Shapes = {
    "DN": ((2, 50), (3, 50)),
    "WN": ((10, 10), (50, 10)),
    "WN rectified": ((10, 10), (50, 10)),
}
"""shapes that are also trained by our recipe"""

RECIPES = {
    "paper": tm.TrainingConfig(learning_rate=1e-3, schedule="constant", calibrate=False),
    "ours": tm.TrainingConfig(learning_rate=1e-2, schedule="cosine"),
}
"""the paper's: Adam at 1e-3; ours: a calibrated start and a cosine schedule from 1e-2"""
