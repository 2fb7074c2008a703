"""Distances that equal a plain distance between other vectors, for approximate indexes of other libraries."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from trimetric.distances import Calibrated, Distance, LandmarkBound, NormInduced, as_distance
from trimetric.norms import Euclidean, Mahalanobis, Norm
from trimetric.norms.activations import Max

PlainMetric = Literal["l2", "max"]


@torch.no_grad()
def plain_vectors(distance: Norm | Distance, points: Tensor) -> tuple[Tensor, PlainMetric]:
    """Map points to vectors between which a distance is the Euclidean one, or the largest difference.

    FAISS, hnswlib and usearch search such vectors approximately, and faster than an exact index if bounds exclude
    little.  This works for `Euclidean` and `Mahalanobis` ("l2"), for the undirected `LandmarkBound` without mixtures
    and with `pool="max"` ("max"), and for a `Calibrated` of one of these.  No other head is a plain distance between
    such vectors; in particular, maxima and means of several norms, and asymmetric distances, are not.

    Args:
        distance: one of these.
        points: `(n, dim)`; for a `Siamese` those that its `embed` makes.

    Returns:
        The vectors, and the name of their distance.

    Raises:
        ValueError: for every other distance.

    Examples:
        >>> import torch, trimetric as tm
        >>> head, points = tm.NormInduced(tm.Mahalanobis(3)), torch.randn(4, 3)
        >>> vectors, metric = plain_vectors(head, points)
        >>> metric, torch.allclose(torch.cdist(vectors, vectors), tm.all_pairs(head, points), atol=1e-5)
        ('l2', True)
    """
    head = as_distance("distance", distance)
    head.embed(points, name="points")
    if isinstance(head, Calibrated):
        vectors, metric = plain_vectors(head.inner, points)
        return vectors * head.scale, metric
    if isinstance(head, NormInduced) and isinstance(head.inner, Euclidean):
        return points.clone(), "l2"
    if isinstance(head, NormInduced) and isinstance(head.inner, Mahalanobis):
        return points @ head.inner.weight.mT, "l2"
    largest = isinstance(head.pool, Max) or head.num_components == 1
    if isinstance(head, LandmarkBound) and not head.directed and head.raw_weight is None and largest:
        return points.clone(), "max"
    raise ValueError(
        "distance: expected Euclidean, Mahalanobis, an undirected LandmarkBound without mixtures, or one of these in "
        f"Calibrated, got {type(head).__name__}, which is no plain distance of other vectors"
    )
