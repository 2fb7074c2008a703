"""The matrix of a distance in one pass: where that is possible, and what has to be computed again."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from trimetric.distances.base import Distance
from trimetric.kernels.close_pairs import find_close_pairs
from trimetric.kernels.fused import FusedPairs, can_fuse, fused_distances
from trimetric.norms.activations import pooling_of

ROUGH_BYTES = 1 << 28


def fused_matrix(distance: Distance, fused: FusedPairs | None, x: Tensor, y: Tensor, budget: int) -> Tensor | None:
    """Compute the distances of all pairs in one pass, where there is a fused kernel for them.

    Args:
        distance: any distance.
        fused: what its kernel says of that.
        x: the points of the rows.
        y: the points of the columns.
        budget: bytes that may be used beside points and distances.

    Returns:
        The matrix; None if the distances have to be computed block by block.
    """
    pooling = None if fused is None else pooling_of(distance.pool)
    if fused is None or pooling is None or not can_fuse(fused, x, len(y), budget):
        return None
    if not (x.detach().sum() + y.detach().sum()).isfinite() and (x.isinf().any() or y.isinf().any()):
        return None  # what infinity less infinity makes of a sum depends on its order
    center = close = None
    if fused.loses_digits:
        center = center_of(x, y)
        close = find_close_pairs(x, y, center, at_most=budget // 64)
        if close is None:
            return None  # block by block, so that memory stays bounded
    rows = fused.project(x, center)
    values = fused_distances(fused, rows, rows if x is y else fused.project(y, center), pooling)
    if fused.kind != "euclidean" and not values.detach().sum().isfinite() and _overflows(values, x, y):
        return None
    if close is None or not len(close[0]):
        return values
    put = Tensor.index_put if values.requires_grad else Tensor.index_put_
    return put(values, close, _close_distances(distance, x, y, *close, budget))


def rough_matrix(distance: Distance, x: Tensor, y: Tensor, *, budget: int = ROUGH_BYTES) -> Tensor | None:
    """Compute the distances of all pairs in one pass, and leave close pairs as they are.

    The error is small beside the extent of the points, but not beside a distance that is much smaller: for those who
    only look for candidates.  Without gradients.

    Args:
        distance: any distance.
        x: the points of the rows.
        y: the points of the columns.
        budget: bytes that may be used beside points and distances.

    Returns:
        The matrix; None if there is no faster way than `all_pairs`.
    """
    fused = distance.pair_kernel().fused
    pooling = None if fused is None else pooling_of(distance.pool)
    if fused is None or pooling is None or not fused.loses_digits or not can_fuse(fused, x, len(y), budget):
        return None
    center = center_of(x, y)
    return fused_distances(fused, fused.project(x, center), fused.project(y, center), pooling)


def center_of(x: Tensor, y: Tensor) -> Tensor:
    """Compute the mean of all points, without what is not a number.

    Args:
        x: points.
        y: points.
    """
    x, y = x.detach(), y.detach()
    mean = x.mean(dim=0) if x is y else (x.sum(dim=0) + y.sum(dim=0)) / (len(x) + len(y))
    return mean if mean.isfinite().all() else torch.cat([x, y]).nanmean(dim=0)


def _close_distances(distance: Distance, x: Tensor, y: Tensor, i: Tensor, j: Tensor, budget: int) -> Tensor:
    """The distances of close pairs by definition; equal points have no gradient and one distance, computed once."""
    apart = (x.detach()[i] != y.detach()[j]).any(dim=1)
    if apart.all():
        return _of_pairs(distance, x, y, i, j, budget)
    with torch.no_grad():
        same = (~apart).nonzero()[:1, 0]
        values = distance(x[i[same]], y[j[same]]).expand(len(i))
    if not apart.any():
        return values
    return values.masked_scatter(apart, _of_pairs(distance, x, y, i[apart], j[apart], budget))


def _overflows(values: Tensor, x: Tensor, y: Tensor) -> bool:
    """Whether some values are not finite although those of the points are, or at least some are infinite."""
    return bool(values.isinf().any()) or not (x.isnan().any() or y.isnan().any())


def _of_pairs(distance: Distance, x: Tensor, y: Tensor, i: Tensor, j: Tensor, budget: int) -> Tensor:
    """The distances of some pairs, by definition."""
    size = max(1, budget // (2 * distance.definition_floats * x.element_size()))
    if len(i) <= size:
        return distance(x[i], y[j])
    ends = zip(i.split(size), j.split(size), strict=True)
    return torch.cat([checkpoint(lambda a, b: distance(x[a], y[b]), *pair, use_reentrant=False) for pair in ends])
