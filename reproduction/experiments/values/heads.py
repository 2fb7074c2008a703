"""The heads of the value functions: the paper's, ours and the successors, on embeddings of 64 numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

import trimetric as tm

DIM = 64


@dataclass(frozen=True)
class Head:
    """One line of the figures."""

    about: str
    build: Callable[[], tm.Norm | tm.Distance]
    metric: bool = True


def _wide(form: str) -> tm.NeuralMetric:
    return tm.NeuralMetric(tm.WideNorm(DIM, components=32, width=64, form=form, pool="mean"))  # type: ignore[arg-type]


def _length_and_max(length: float = 1.0) -> tm.WideMetric:
    """The length of the difference, and the largest excess of a coordinate."""
    excess = tm.IntervalQuasimetric(DIM, components=DIM, pool="max")
    both = tm.WideMetric([tm.Euclidean(DIM), excess])
    with torch.no_grad():
        both.raw_weight[0] = length
    return both


HEADS: dict[str, Head] = {
    "Euclidean": Head("the length of the difference", lambda: tm.Euclidean(DIM)),
    "MLP": Head("64 x 3, relu, of the difference", lambda: tm.MLPDistance(DIM, widths=(64,) * 3), metric=False),
    "ICNN": Head("64 x 3, relu, of the difference", lambda: tm.ConvexNetwork(DIM, widths=(64,) * 3), metric=False),
    "DN": Head(
        "64 x 3, MaxReLU, 5 concave units, mean",
        lambda: tm.NeuralMetric(tm.DeepNorm(DIM, widths=(64,) * 3, pool="mean")),
    ),
    "WN": Head("32 components of 64, 5 concave units, mean; the paper's form", lambda: _wide("paper")),
    "WN rectified": Head("the same in our form", lambda: _wide("rectified")),
    "IQE": Head("intervals, 4 groups of 16, maxmean", lambda: tm.IntervalQuasimetric(DIM)),
    "length + WN": Head(
        "the length and WN, with learned weights", lambda: tm.WideMetric([tm.Euclidean(DIM), _wide("paper")])
    ),
    "MRN": Head("metric residual, corrected", lambda: tm.ResidualMetric(DIM)),
    "Randers": Head("lengths with a drift", lambda: tm.RandersMetric(DIM)),
    "Toll IQE": Head("IQE and tolls", lambda: tm.TollMetric(tm.IntervalQuasimetric(DIM))),
    "recommended": Head("tm.recommended: IQE + WN + MRN", lambda: tm.recommended(DIM, symmetric=False)),
}
CANDIDATES: dict[str, Head] = {
    **{name: HEADS[name] for name in ("DN", "WN", "MRN", "length + WN")},
    "length + max": Head("of the coordinates, with learned weights", _length_and_max),
    "MRN shared": Head("length + max without learned weights", lambda: tm.ResidualMetric(DIM, shared=True)),
    "concave length + max": Head("5 concave units of each of them", lambda: tm.NeuralMetric(_length_and_max())),
    "4 length + max": Head("with 4 for the length at the start", lambda: _length_and_max(4)),
}
"""heads among which `values-search` chooses"""
CHOSEN = "length + WN"
"""the best of them on validation goals, over both worlds"""
PAPER = ("Euclidean", "MLP", "ICNN", "DN", "WN")
MAIN = (*PAPER, "WN rectified", "IQE")
SHOWN = (*MAIN, CHOSEN)
JUDGED = (*PAPER, CHOSEN)
"""heads whose numbers support a claim: five seeds"""
SUCCESSORS = tuple(name for name in HEADS if name not in SHOWN)
