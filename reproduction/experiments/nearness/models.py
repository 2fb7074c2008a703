"""The models of metric nearness: the paper's architectures, and the two recipes that train them."""

from __future__ import annotations

import numpy as np
from torch import nn

import trimetric as tm
from trimetric.nearness.learned import HEAD_START
from trimetric.nearness.row_start import landmark_rows, start_as_rows

MODELS = ("Eucl", "DN", "WN rectified", "WN")
RECIPES = {
    "paper": tm.TrainingConfig(learning_rate=1e-3, schedule="thirds", batch_size=1000, calibrate=False),
    "rows": tm.TrainingConfig(learning_rate=1.5e-3, schedule="cosine", batch_size=1000),
}
"""the paper's: 1e-3, 3e-4 and 1e-4 for a third of the epochs each; ours: points start as rows of the matrix,
calibrated, with a cosine schedule from 1.5e-3"""


def make_model(method: str, recipe: str, width: int, distances: np.ndarray, *, symmetric: bool) -> tm.Siamese:
    """Build an embedding of the objects with one of the paper's heads.

    Args:
        method: one of `MODELS`.
        recipe: one of `RECIPES`.
        width: of the layers; 512 in the paper.
        distances: the matrix, (n, n).
        symmetric: whether the model is.
    """
    head = _head(method, width, symmetric)
    points = nn.Embedding(len(distances), head.dim)
    if recipe == "rows":
        given = (distances + distances.T) / 2 if symmetric else distances
        start_as_rows(points, head, landmark_rows(given, symmetric=symmetric, start=HEAD_START))
    return tm.Siamese(points, tm.Calibrated(head))


def _head(method: str, width: int, symmetric: bool) -> tm.Distance:
    if method == "Eucl":
        return tm.NormInduced(tm.Euclidean(2 * width))
    if method == "DN":
        deep = tm.DeepNorm(width, widths=(width, width), activation="maxrelu", pool="maxmean")
        return tm.NeuralMetric(tm.Symmetrized(deep) if symmetric else deep, concave_units=5)
    sizes = {"components": width // 4, "width": 3 * width // 32}
    if symmetric:
        return tm.NeuralMetric(tm.WideNorm(width, **sizes, symmetric=True), concave_units=5)
    form = "rectified" if method == "WN rectified" else "paper"
    return tm.NeuralMetric(tm.WideNorm(width, **sizes, form=form), concave_units=5)
