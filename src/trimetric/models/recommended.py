"""The head to begin with."""

from __future__ import annotations

from trimetric._support import checks
from trimetric.distances import (
    Calibrated,
    Distance,
    IntervalQuasimetric,
    ResidualMetric,
    SymmetrizedMetric,
    TollMetric,
    WideMetric,
)
from trimetric.norms import WideNorm


def recommended(dim: int, *, symmetric: bool, tolls: bool = False) -> Calibrated:
    """A head for embeddings of size `dim` with a part for every kind of cost: one to try first.

    An interval quasimetric (costs that several coordinates share), a metric residual (a length, and the worst of
    several one-sided costs) and a small Wide Norm (costs of moving), added with learned weights, under an output scale
    that `fit` sets before the first step.

    On the leaderboard (`python -m reproduction leaderboard`; docs/heads.md has the evidence) it has the best mean rank
    of all heads: seldom the first, but close to it on graphs and matrices.  On norms of the plane intervals alone do
    better.

    Args:
        dim: length of the embedding.
        symmetric: whether d(x, y) = d(y, x).
        tolls: also costs that depend on one end alone, such as fetching a passenger, read from the last two
            coordinates (one where symmetric); they cost more than they bring where there is no such thing.

    >>> import torch
    >>> head = recommended(64, symmetric=False)
    >>> head(torch.randn(5, 64), torch.randn(5, 64)).shape
    torch.Size([5])
    """
    checks.boolean("symmetric", symmetric)
    checks.boolean("tolls", tolls)
    taken = (1 if symmetric else 2) if tolls else 0
    if checks.positive_int("dim", dim) <= taken:
        raise ValueError(f"dim: expected more than the {taken} that the tolls take, got {dim}")
    own = dim - taken
    moving = WideNorm(own, components=8, width=8, symmetric=symmetric)
    others: list[Distance] = [ResidualMetric(own), IntervalQuasimetric(own)]
    parts = [moving, *(SymmetrizedMetric(part) if symmetric else part for part in others)]
    head = WideMetric(parts, pool="mean")
    return Calibrated(TollMetric(head) if tolls else head)
