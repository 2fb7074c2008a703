"""The heads of the graph experiments: the paper's, ours, and the encoder below them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import nn

import trimetric as tm
from trimetric.models.encoders import MLP, ActivationName

UNITS = 128
"""width of the encoder's layers, and of a head's input"""
INTERVALS = 256
"""input width of interval heads, which have no parameters: 16 groups of 16"""
CONCAVE = 5


@dataclass(frozen=True)
class Head:
    """One column of the table."""

    about: str
    build: Callable[[int, bool], tm.Norm | tm.Distance]
    """from the width of its input and whether the graph is symmetric; a head with tolls has a wider input"""
    dim: int = UNITS
    """width of its input, on top of an encoder"""
    units: int = UNITS
    """width of the encoder's hidden layers"""
    metric: bool = True
    paper: bool = False
    """whether it is one of the paper's; then it is not calibrated in the paper's protocol"""
    encoded: bool = False
    """whether it needs an encoder, because the features have no coordinates for tolls"""
    asymmetric: bool = False
    """whether it is the same as WN if the graph is symmetric"""
    only: tuple[str, ...] = ()
    """the graphs on which it is run; empty for all"""


def _wide(dim: int, symmetric: bool, *, form: str = "rectified") -> tm.NeuralMetric:
    norm = tm.WideNorm(dim, symmetric=True) if symmetric else tm.WideNorm(dim, form=form)  # type: ignore[arg-type]
    return tm.NeuralMetric(norm, concave_units=CONCAVE)


def _deep(dim: int, symmetric: bool, *, activation: str, pool: str) -> tm.Norm:
    norm = tm.DeepNorm(dim, widths=(UNITS,) * 3, activation=activation, pool=pool)  # type: ignore[arg-type]
    return tm.Symmetrized(norm) if symmetric else norm


def _deep_metric(dim: int, symmetric: bool) -> tm.NeuralMetric:
    return tm.NeuralMetric(_deep(dim, symmetric, activation="maxrelu", pool="maxmean"), concave_units=CONCAVE)


def _intervals(dim: int, symmetric: bool) -> tm.Distance:
    intervals = tm.IntervalQuasimetric(dim)
    return tm.SymmetrizedMetric(intervals) if symmetric else intervals


def _network(inputs: str) -> Callable[[int, bool], tm.Distance]:
    return lambda dim, _: tm.MLPDistance(dim, widths=(UNITS,) * 3, inputs=inputs)  # type: ignore[arg-type]


def _band(dim: int, symmetric: bool) -> tm.BandMetric:
    network = tm.MLPDistance(dim, widths=(UNITS,) * 3, inputs="concatenation")
    return tm.BandMetric(tm.SymmetrizedMetric(network) if symmetric else network)


HEADS: dict[str, Head] = {
    "Eucl.": Head("Mahalanobis, rank 128", lambda dim, _: tm.Mahalanobis(dim, rank=UNITS), paper=True),
    "WN": Head(
        "32 components of 32, 5 concave units, maxmean, the paper's form",
        lambda dim, symmetric: _wide(dim, symmetric, form="paper"),
        paper=True,
    ),
    "DN_I": Head(
        "3 x 128, relu, mean", lambda dim, symmetric: _deep(dim, symmetric, activation="relu", pool="mean"), paper=True
    ),
    "DN_N": Head("3 x 128, MaxReLU, 5 concave units, maxmean", _deep_metric, paper=True),
    "MLP": Head("3 x 128 of both ends, no metric", _network("concatenation"), metric=False, paper=True),
    "MLP calibrated": Head("the same", _network("concatenation"), metric=False),
    "MLP difference": Head("3 x 128 of the difference, no metric", _network("difference"), metric=False),
    "WN rectified": Head("as WN in our form", _wide, asymmetric=True),
    "IQE": Head("intervals, 16 groups of 16, maxmean", _intervals, dim=INTERVALS),
    "Toll WN": Head("WN rectified and tolls", lambda *a: tm.TollMetric(_wide(*a)), encoded=True),
    "Toll DN_N": Head("DN_N and tolls", lambda *a: tm.TollMetric(_deep_metric(*a)), encoded=True),
    "Toll IQE": Head("IQE and tolls", lambda *a: tm.TollMetric(_intervals(*a)), dim=INTERVALS, encoded=True),
    "Band": Head("an MLP of both ends within a factor of two, a metric", _band, only=("3dd",)),
    "recommended": Head(
        "tm.recommended with tolls: IQE + WN + MRN",
        lambda dim, symmetric: tm.recommended(dim + (1 if symmetric else 2), symmetric=symmetric, tolls=True),
        dim=INTERVALS,
        encoded=True,
    ),
}
WIDE = 2 * UNITS
HEADS |= {
    f"wide {name}": replace(HEADS[name], about=f"{name} on an encoder of {WIDE} units", units=WIDE, paper=False)
    for name in ("MLP", "Toll IQE")
}
PAPER = tuple(name for name, head in HEADS.items() if head.paper)
OURS = tuple(name for name in HEADS if name not in PAPER)


def make_model(
    name: str,
    features: int,
    depth: int,
    *,
    symmetric: bool,
    calibrated: bool,
    seed: int,
    activation: ActivationName = "relu",
) -> tm.Siamese:
    """Build a head on top of an encoder.

    Args:
        name: one of `HEADS`.
        features: number of features of a node.
        depth: layers of the encoder, the last one linear; with 0, the head reads the features.
        symmetric: whether the graph is.
        calibrated: whether the scale of the output is calibrated before training.
        seed: of the initial weights.
        activation: of the encoder.
    """
    torch.manual_seed(seed)
    head = HEADS[name]
    if depth == 0 and head.encoded:
        raise ValueError(f"depth: expected at least 1 below {name!r}, whose tolls need coordinates of their own, got 0")
    distance = head.build(head.dim if depth else features, symmetric)
    if calibrated and not isinstance(distance, tm.Calibrated):
        distance = tm.Calibrated(distance)
    if depth == 0:
        return tm.Siamese(nn.Identity(), distance)
    return tm.Siamese(MLP(features, distance.dim, widths=(head.units,) * (depth - 1), activation=activation), distance)
