"""Every norm and distance of the package, once for each option that changes its formula.

A new public class that can be built from a dimension alone joins the contract suite by itself; further options, and
classes that need more, have a line here.  `test_contract.py` checks that none is missing.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

import trimetric as tm
from trimetric.distances import PartDistance

DIM = 6


def _hull(dim: int) -> tm.PolyhedralNorm:
    directions = np.random.default_rng(0).normal(size=(4 * dim + 4, dim))
    return tm.PolyhedralNorm.from_points(np.concatenate([directions, -directions[: dim + 1]]))


def _siamese(dim: int) -> tm.Siamese:
    encoder = nn.Sequential(nn.Linear(dim, 8), nn.Tanh(), nn.Linear(8, 4))
    return tm.Siamese(encoder, tm.NeuralMetric(tm.WideNorm(4, components=3, width=2)))


def _hubs(dim: int, *, directed: bool) -> tm.HubMetric:
    distance = tm.HubMetric(dim, directed=directed)
    distance.set_between(torch.rand(distance.hubs, distance.hubs))
    return distance


def _intervals(dim: int, **options: Any) -> tm.IntervalQuasimetric:
    return tm.IntervalQuasimetric(dim, components=min(2, dim), **options)


def _unlisted(kind: type, listed: Iterable[str]) -> dict[str, Callable[[int], Any]]:
    """The public classes of a kind that have no entry."""
    named = {re.match(r"\w+", name)[0] for name in listed}  # type: ignore[index]
    found = inspect.getmembers(tm, lambda value: inspect.isclass(value) and issubclass(value, kind))
    return {name: cls for name, cls in found if name not in named and not inspect.isabstract(cls)}


def _tolled(make: Callable[[int], tm.Norm | tm.Distance], dim: int, tolls: int = 2, **options: Any) -> tm.Distance:
    """Tolls take coordinates of the embedding; a line has none to spare."""
    if dim <= tolls:
        tolls, options = 1, {"shared": True}
    return tm.TollMetric(make(dim - tolls), **options) if dim > 1 else tm.NormInduced(tm.Euclidean(1))


def _successors(dim: int) -> list[tm.Norm | tm.Distance]:
    return [
        _intervals(dim),
        tm.PoissonQuasimetric(dim),
        tm.ResidualMetric(dim),
        tm.RandersMetric(dim),
        tm.WideNorm(dim, components=2, width=2),
    ]


NORMS: dict[str, Callable[[int], tm.Norm]] = {
    "Euclidean": lambda dim: tm.Euclidean(dim),
    "Mahalanobis": lambda dim: tm.Mahalanobis(dim),
    "Mahalanobis-rank": lambda dim: tm.Mahalanobis(dim, rank=2),
    "DeepNorm": lambda dim: tm.DeepNorm(dim, widths=(8, 6, 4)),
    "DeepNorm-relu-mean": lambda dim: tm.DeepNorm(dim, widths=(7, 5), activation="relu", pool="mean"),
    "DeepNorm-leaky-max": lambda dim: tm.DeepNorm(dim, widths=(5, 3), activation="leaky_relu", pool="max"),
    "DeepNorm-one-layer": lambda dim: tm.DeepNorm(dim, widths=(6,)),
    "WideNorm": lambda dim: tm.WideNorm(dim, components=4, width=3),
    "WideNorm-paper": lambda dim: tm.WideNorm(dim, components=4, width=3, form="paper", pool="mean"),
    "WideNorm-symmetric": lambda dim: tm.WideNorm(dim, components=4, width=3, symmetric=True, pool="max"),
    "WideNorm-monotone": lambda dim: tm.WideNorm(dim, components=4, width=3, symmetric=True, monotone=True),
    "PolyhedralNorm": _hull,
    "Symmetrized": lambda dim: tm.Symmetrized(tm.DeepNorm(dim, widths=(8, 4))),
    "PositiveDefinite": lambda dim: tm.PositiveDefinite(tm.WideNorm(dim, components=3, width=2)),
    "Asymmetrized": lambda dim: tm.Asymmetrized(
        tm.WideNorm(2 * dim, components=3, width=2, symmetric=True, monotone=True)
    ),
    "CombinedNorm": lambda dim: tm.CombinedNorm(
        [tm.DeepNorm(dim, widths=(4, 4)), tm.Euclidean(dim), tm.WideNorm(dim, components=2, width=2)]
    ),
}
NORMS |= _unlisted(tm.Norm, NORMS)


def _wide_band(dim: int) -> tm.BandMetric:
    """One that no point of the tests leaves: outside, gradients are those of a projection and no derivatives."""
    band = tm.BandMetric(tm.Euclidean(dim))
    band.gain.fill_(0.01)
    return band


def jumping(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """A discontinuous function without any promise: negative, asymmetric, not 0 at x = y."""
    return (7 * x.sum(-1)).floor() * (x - 2 * y).abs().amax(-1).round() - 3


def scattered(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """As good as random: the next digits of a large sine."""
    return 20 * (1e4 * (x.sin().sum(-1) + 2 * (y + 1).cos().sum(-1))).sin().round()


class Jumping(tm.Described):
    """`jumping` as a module, which a model file can name."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return jumping(x, y)


class Scattered(tm.Described):
    """`scattered` as a module."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return scattered(x, y)


def _inside(dim: int) -> tm.CorridorMetric:
    """One that no point of the gradient's test leaves."""
    network = tm.MLPDistance(dim, widths=(8,), inputs="concatenation")
    return tm.CorridorMetric(tm.WideMetric([network, tm.Euclidean(dim)]), base=_part(dim), floor=50.0)


def _part(dim: int) -> tm.Distance:
    start = dim // 2
    return PartDistance(tm.IntervalQuasimetric(dim - start), dim, start=start)


DISTANCES: dict[str, Callable[[int], tm.Distance]] = {
    "NeuralMetric": lambda dim: tm.NeuralMetric(tm.DeepNorm(dim, widths=(8, 6, 4)), concave_units=5),
    "NeuralMetric-Symmetrized": lambda dim: tm.NeuralMetric(tm.Symmetrized(tm.DeepNorm(dim, widths=(6, 4)))),
    "NeuralMetric-wide": lambda dim: tm.NeuralMetric(tm.WideNorm(dim, components=4, width=3), pool="max"),
    "NeuralMetric-twice": lambda dim: tm.NeuralMetric(tm.NeuralMetric(tm.Euclidean(dim)), concave_units=1),
    "WideMetric": lambda dim: tm.WideMetric([tm.WideNorm(dim), tm.NeuralMetric(tm.Euclidean(dim))]),
    "WideMetric-max": lambda dim: tm.WideMetric([tm.Euclidean(dim), tm.DeepNorm(dim, widths=(4, 4))], pool="max"),
    "Calibrated": lambda dim: tm.Calibrated(tm.NeuralMetric(tm.WideNorm(dim, components=3, width=2))),
    "Calibrated-free": lambda dim: tm.Calibrated(tm.MLPDistance(dim, widths=(8,))),
    "Discounted": lambda dim: tm.Discounted(tm.WideNorm(dim, components=3, width=2), gamma=0.9),
    "IntervalQuasimetric": lambda dim: _intervals(dim),
    "IntervalQuasimetric-one-mean": lambda dim: tm.IntervalQuasimetric(dim, pool="mean"),
    "PoissonQuasimetric": lambda dim: tm.PoissonQuasimetric(dim, components=min(2, dim), pool="maxmean"),
    "PoissonQuasimetric-gaussian": lambda dim: tm.PoissonQuasimetric(dim, components=min(2, dim), shape="gaussian"),
    "ResidualMetric": lambda dim: tm.ResidualMetric(dim),
    "ResidualMetric-grouped": lambda dim: tm.ResidualMetric(dim, components=min(2, dim), pool="max"),
    "ResidualMetric-shared": lambda dim: tm.ResidualMetric(dim, shared=True),
    "RandersMetric": lambda dim: tm.RandersMetric(dim, components=2, rank=3),
    "HubMetric": lambda dim: _hubs(dim, directed=dim % 2 == 0),
    "HubMetric-undirected": lambda dim: _hubs(dim, directed=False),
    "LandmarkBound": lambda dim: tm.LandmarkBound(dim, directed=dim % 2 == 0),
    "LandmarkBound-mixtures": lambda dim: tm.LandmarkBound(dim, components=3, directed=dim % 2 == 0, pool="mean"),
    "LandmarkBound-undirected": lambda dim: tm.LandmarkBound(dim, components=2, directed=False),
    "SymmetrizedMetric": lambda dim: tm.SymmetrizedMetric(_intervals(dim), how="max"),
    "NeuralMetric-intervals": lambda dim: tm.NeuralMetric(tm.SymmetrizedMetric(_intervals(dim)), concave_units=3),
    "TollMetric": lambda dim: _tolled(lambda d: tm.WideMetric(_successors(d), pool="maxmean"), dim),
    "TollMetric-shared": lambda dim: _tolled(tm.Euclidean, dim, tolls=1),
    "TollMetric-components": lambda dim: _tolled(
        lambda d: tm.WideNorm(d, components=2, width=2), dim, tolls=4, per="component", map="abs"
    ),
    "NeuralMetric-tolls": lambda dim: tm.NeuralMetric(_tolled(lambda d: tm.DeepNorm(d, widths=(4, 4)), dim)),
    "BandMetric": lambda dim: tm.BandMetric(tm.MLPDistance(dim, widths=(8,), inputs="concatenation")),
    "BandMetric-beside": lambda dim: tm.WideMetric([_intervals(dim), _wide_band(dim)], pool="mean"),
    "CorridorMetric": lambda dim: tm.CorridorMetric(
        tm.FunctionDistance(Jumping(), dim), base=_intervals(dim), floor=0.5
    ),
    "CorridorMetric-random": lambda dim: tm.CorridorMetric(
        tm.FunctionDistance(Scattered(), dim), base=_tolled(tm.Euclidean, dim, tolls=1), floor=3.0
    ),
    "CorridorMetric-network": _inside,
    "FunctionDistance": lambda dim: tm.FunctionDistance(Jumping(), dim),
    "recommended": lambda dim: tm.recommended(dim, symmetric=False),
    "recommended-symmetric": lambda dim: tm.recommended(dim, symmetric=True),
    "recommended-tolls": lambda dim: tm.recommended(dim, symmetric=False, tolls=dim > 2),
    "MLPDistance": lambda dim: tm.MLPDistance(dim, widths=(8, 8)),
    "MLPDistance-concatenation": lambda dim: tm.MLPDistance(
        dim, widths=(8,), inputs="concatenation", output="softplus"
    ),
    "MLPDistance-both": lambda dim: tm.MLPDistance(dim, widths=(8,), inputs="both_differences"),
    "ConvexNetwork": lambda dim: tm.ConvexNetwork(dim, widths=(8, 8)),
    "ConvexNetwork-maxrelu": lambda dim: tm.ConvexNetwork(dim, widths=(8, 8), activation="maxrelu"),
    **{f"NormInduced({name})": (lambda dim, make=make: tm.NormInduced(make(dim))) for name, make in NORMS.items()},
}

DISTANCES |= _unlisted(tm.Distance, DISTANCES)
OBJECTS: dict[str, Callable[[int], nn.Module]] = {**DISTANCES, "Siamese": _siamese}


def _signs(weight: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(2, weight.shape, generator=generator).to(weight.dtype) * 2 - 1


WEIGHTS: dict[str, Callable[[torch.Tensor, torch.Generator], torch.Tensor]] = {
    "fresh": lambda w, _: w,
    "normal": lambda w, g: torch.randn(w.shape, generator=g),
    "normal-1e4": lambda w, g: 1e4 * torch.randn(w.shape, generator=g),
    "negative": lambda w, g: -10 * torch.rand(w.shape, generator=g),
    "signs": lambda w, g: 100 * _signs(w, g),
    "mixed-scales": lambda w, g: torch.randn(w.shape, generator=g) * 10.0 ** torch.randint(-4, 5, w.shape, generator=g),
    "zero": lambda w, _: torch.zeros(w.shape),
}


def reweight(module: nn.Module, how: str, seed: int = 0) -> nn.Module:
    """Overwrite every parameter through `.data`, behind the back of any bookkeeping."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        parameter.data = WEIGHTS[how](parameter.data, generator).to(parameter.dtype)
    return module


def awkward_points(n: int, dim: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> torch.Tensor:
    """Random points, points of one line (tight triangles), a duplicate, the origin and a far cluster."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(n, dim, generator=generator, dtype=torch.float64)
    line = torch.linspace(-2, 3, n // 3, dtype=torch.float64)
    points[: n // 3] = line[:, None] * points[0]
    points[-1] = points[-2]
    points[-3] = 0
    points[-n // 4 : -4] += 50
    return points.to(dtype)
