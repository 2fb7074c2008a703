"""The head to begin with."""

from __future__ import annotations

from trimetric import checks
from trimetric.distances import Calibrated, IntervalQuasimetric, SymmetrizedMetric, TollMetric, WideMetric
from trimetric.norms import WideNorm


def recommended(dim: int, *, symmetric: bool) -> Calibrated:
    """A head for embeddings of size `dim` with a part for every kind of cost: one to try first.

    An interval quasimetric (costs that several coordinates share) and a small Wide Norm (costs of moving), added with
    learned weights; tolls for what depends on one end alone, read from the last two coordinates (one where
    symmetric); and an output scale that `fit` sets before the first step.

    It has the best mean rank of all heads on the leaderboard (`python -m reproduction leaderboard`), whose finished
    columns are random digraphs, a hierarchy of blocks and a city: seldom the first, never far from it.

    >>> import torch
    >>> head = recommended(64, symmetric=False)
    >>> head(torch.randn(5, 64), torch.randn(5, 64)).shape
    torch.Size([5])
    """
    tolls = 1 if symmetric else 2
    if checks.positive_int("dim", dim) <= tolls:
        raise ValueError(f"dim: expected more than the {tolls} that the tolls take, got {dim}")
    intervals = IntervalQuasimetric(dim - tolls)
    moving = WideNorm(dim - tolls, components=8, width=8, symmetric=symmetric)
    parts = [moving, SymmetrizedMetric(intervals) if symmetric else intervals]
    return Calibrated(TollMetric(WideMetric(parts, pool="mean")))
