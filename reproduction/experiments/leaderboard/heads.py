"""The heads of the leaderboard, each sized so that all models have the same number of parameters.

Everything that is trained counts: the embeddings of the nodes (or the linear map of the plane) and the head.
A head with few parameters gets a longer embedding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch
from torch import nn

import trimetric as tm
from reproduction.experiments.leaderboard.problems import Problem

PARAMETERS_PER_NODE = 64
PLANE_BUDGET = 1030  # the fewest with which a Wide Norm of 32 x 32 is possible
NODE_DIM, PLANE_DIM = 32, 6
"""length of the embedding below a head that has parameters"""

Family = Literal["Euclidean", "Deep", "Wide", "Interval", "Poisson", "Residual", "Randers", "Landmark", "Mixed", "none"]
Build = Callable[[int, int], tm.Norm | tm.Distance]


@dataclass(frozen=True)
class Head:
    """One line of the leaderboard."""

    name: str
    about: str
    family: Family
    build: Build
    """from the length of the embedding, which it may override, and a size: the larger, the more parameters"""
    plain: bool = True
    """neither tolls nor a sum of other heads"""
    late: bool = False
    """its cells run after those of all others: it is slow, or a combination that turned out worse than others"""


def _deep(dim: int, size: int) -> tm.DeepNorm:
    return tm.DeepNorm(dim, widths=(2 * size,) * 3)


def _wide(dim: int, size: int) -> tm.WideNorm:
    return tm.WideNorm(dim, components=size, width=16)


def _interval(size: int) -> tm.IntervalQuasimetric:
    return tm.IntervalQuasimetric(16 * size)


def _small_wide(size: int) -> tm.WideNorm:
    """A Wide Norm so small that nearly all parameters are left for the embedding."""
    return tm.WideNorm(16 * size, components=8, width=8)


def _mostly_intervals(size: int) -> tm.WideMetric:
    return tm.WideMetric([_small_wide(size), _interval(size)])


def _grouped_residual(size: int) -> tm.ResidualMetric:
    return tm.ResidualMetric(8 * size, components=size, pool="maxmean")


def _three(size: int, residual: tm.ResidualMetric) -> tm.WideMetric:
    return tm.WideMetric([_small_wide(size), residual, _interval(size)])


RECOMMENDED = "IQE + WN + MRN"
"""the head of `tm.recommended`, written out below because measured rows must not change with the default"""

HEADS: dict[str, Head] = {
    head.name: head
    for head in (
        Head("Euclidean", "one Euclidean length", "Euclidean", lambda _, size: tm.Euclidean(size)),
        Head("Mahalanobis", "after a linear map", "Euclidean", lambda _, size: tm.Mahalanobis(size)),
        Head("DN", "Deep Norm of 3 layers", "Deep", _deep),
        Head("NM DN", "with concave units", "Deep", lambda dim, size: tm.NeuralMetric(_deep(dim, size))),
        Head("WN", "rectified Wide Norm, width 16", "Wide", _wide),
        Head(
            "WN paper",
            "the paper's asymmetric form",
            "Wide",
            lambda dim, size: tm.WideNorm(dim, components=size, width=16, form="paper"),
        ),
        Head("NM WN", "rectified, concave units", "Wide", lambda dim, size: tm.NeuralMetric(_wide(dim, size))),
        Head("IQE", "intervals, groups of 16, maxmean", "Interval", lambda _, size: _interval(size)),
        Head(
            "IQE mean",
            "the published sum",
            "Interval",
            lambda _, size: tm.IntervalQuasimetric(16 * size, pool="mean"),
        ),
        Head("NM IQE", "with concave units", "Interval", lambda _, size: tm.NeuralMetric(_interval(size))),
        Head("PQE LH", "Poisson, half-lines", "Poisson", lambda _, size: tm.PoissonQuasimetric(4 * size)),
        Head(
            "PQE GG",
            "Poisson, Gaussian regions",
            "Poisson",
            lambda _, size: tm.PoissonQuasimetric(4 * size, shape="gaussian"),
            late=True,
        ),
        Head(
            "MRN",
            "metric residual, as published but corrected",
            "Residual",
            lambda _, size: tm.ResidualMetric(2 * size),
        ),
        Head(
            "MRN grouped",
            "in groups of 8, maxmean",
            "Residual",
            lambda _, size: _grouped_residual(size),
        ),
        Head(
            "Randers",
            "lengths with a drift, rank 16",
            "Randers",
            lambda dim, size: tm.RandersMetric(dim, components=size, rank=16),
        ),
        Head(
            "Landmark",
            "learned landmark distances, maxmean",
            "Landmark",
            lambda _, size: tm.LandmarkBound(2 * size, pool="maxmean"),
        ),
        Head("Toll DN", "DN and tolls", "Deep", lambda dim, size: tm.TollMetric(_deep(dim - 2, size)), plain=False),
        Head("Toll WN", "WN and tolls", "Wide", lambda dim, size: tm.TollMetric(_wide(dim - 2, size)), plain=False),
        Head("Toll IQE", "IQE and tolls", "Interval", lambda _, size: tm.TollMetric(_interval(size)), plain=False),
        Head(
            "WN + IQE",
            "weighted sum",
            "Mixed",
            lambda dim, size: tm.WideMetric([_wide(dim, size), tm.IntervalQuasimetric(dim)]),
            plain=False,
        ),
        Head(
            "DN + IQE",
            "weighted sum",
            "Mixed",
            lambda dim, size: tm.WideMetric([_deep(dim, size), tm.IntervalQuasimetric(dim)]),
            plain=False,
            late=True,
        ),
        Head("IQE + small WN", "weighted sum, WN 8x8", "Mixed", lambda _, size: _mostly_intervals(size), plain=False),
        Head(
            "Toll IQE + small WN",
            "and tolls",
            "Mixed",
            lambda _, size: tm.TollMetric(_mostly_intervals(size)),
            plain=False,
        ),
        Head(
            RECOMMENDED,
            "all three: tm.recommended",
            "Mixed",
            lambda _, size: _three(size, tm.ResidualMetric(16 * size)),
            plain=False,
        ),
        Head(
            "IQE + WN + MRN grouped",
            "MRN in groups of 8",
            "Mixed",
            lambda _, size: _three(size, _grouped_residual(2 * size)),
            plain=False,
        ),
        Head(
            "Toll IQE + WN + MRN",
            "and tolls",
            "Mixed",
            lambda _, size: tm.TollMetric(_three(size, tm.ResidualMetric(16 * size))),
            plain=False,
            late=True,
        ),
        Head(
            "Toll NM IQE",
            "IQE, concave units and tolls",
            "Interval",
            lambda _, size: tm.TollMetric(tm.NeuralMetric(_interval(size))),
            plain=False,
            late=True,
        ),
        Head(
            "Toll IQE + WN 32x32",
            "a Wide Norm of the default size, and tolls",
            "Mixed",
            lambda _, size: tm.TollMetric(tm.WideMetric([tm.WideNorm(size), tm.IntervalQuasimetric(size)])),
            plain=False,
            late=True,
        ),
        Head(
            "MLP",
            "no metric: a network of both ends",
            "none",
            lambda dim, size: tm.MLPDistance(dim, widths=(size,) * 3, inputs="concatenation"),
        ),
    )
}


def is_metric(name: str) -> bool:
    """Whether a head is a metric by construction."""
    return HEADS[name].family != "none"


def budget(problem: Problem) -> int:
    """The number of parameters that a model of this problem should have."""
    return PLANE_BUDGET if problem.nodes is None else PARAMETERS_PER_NODE * problem.nodes


def make_model(name: str, problem: Problem, seed: int) -> tm.Siamese:
    """Build a new model, which predicts discounts if the problem has a gamma.

    Args:
        name: one of `HEADS`.
        problem: what it is trained on.
        seed: of the initial weights.
    """
    torch.manual_seed(seed)
    return _model(name, problem, size_of(name, problem))


def count_parameters(model: nn.Module) -> int:
    """Count everything that is trained."""
    return sum(p.numel() for p in model.parameters())


@cache
def size_of(name: str, problem: Problem) -> int:
    """Find the size whose number of parameters is nearest to the budget; the number grows with the size."""
    wanted = budget(problem)
    with torch.random.fork_rng():

        def count(size: int) -> int:
            return count_parameters(_model(name, problem, size))

        least, most = 1, 2
        while count(most) < wanted:
            least, most = most, 2 * most
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if count(middle) < wanted else (least, middle)
        return min((least, most), key=lambda size: abs(count(size) - wanted))


def _model(name: str, problem: Problem, size: int) -> tm.Siamese:
    distance = tm.Calibrated(HEADS[name].build(PLANE_DIM if problem.nodes is None else NODE_DIM, size))
    if problem.nodes is None:
        encoder: nn.Module = nn.Linear(2, distance.dim, bias=False)
    else:
        encoder = nn.Embedding(problem.nodes, distance.dim)
    return tm.Siamese(encoder, distance if problem.gamma is None else tm.Discounted(distance, gamma=problem.gamma))
