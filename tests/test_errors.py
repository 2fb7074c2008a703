"""Bad input gets one clear error: the argument, what was expected, what came."""

from __future__ import annotations

import pytest
import torch
from refusals import refusal

import trimetric as tm

d = tm.NormInduced(tm.WideNorm(4))
deep = tm.DeepNorm(4)
x = torch.randn(3, 4)
nan = torch.full((3, 4), torch.nan)

CASES = {
    "wrong last axis": (lambda: d(torch.randn(3, 5), x), "x: expected last axis 4, got shape (3, 5)"),
    "wrong last axis of y": (lambda: d(x, torch.randn(3, 5)), "y: expected last axis 4, got shape (3, 5)"),
    "scalar": (lambda: deep(torch.tensor(1.0)), "x: expected last axis 4, got shape ()"),
    "integers": (lambda: deep(torch.ones(3, 4, dtype=torch.long)), "x: expected a floating-point tensor, got dtype"),
    "not a tensor": (lambda: deep([[1.0] * 4]), "x: expected a floating-point torch.Tensor, got list"),
    "no broadcast": (lambda: d(torch.randn(3, 4), torch.randn(2, 4)), "y: expected batch axes that broadcast"),
    "zero dim": (lambda: tm.Euclidean(0), "dim: expected a positive integer, got 0"),
    "negative dim": (lambda: tm.WideNorm(-3), "dim: expected a positive integer, got -3"),
    "fractional dim": (lambda: tm.DeepNorm(2.5), "dim: expected a positive integer, got 2.5"),
    "boolean dim": (lambda: tm.DeepNorm(True), "dim: expected a positive integer, got True"),
    "negative width": (lambda: tm.WideNorm(4, width=-1), "width: expected a positive integer, got -1"),
    "no components": (lambda: tm.WideNorm(4, components=0), "components: expected a positive integer, got 0"),
    "negative rank": (lambda: tm.Mahalanobis(4, rank=-1), "rank: expected a positive integer, got -1"),
    "no widths": (lambda: tm.DeepNorm(4, widths=()), "widths: expected at least one size"),
    "widths as a number": (lambda: tm.DeepNorm(4, widths=128), "widths: expected a sequence of positive integers"),
    "a negative width": (lambda: tm.DeepNorm(4, widths=(8, -8)), "widths[1]: expected a positive integer, got -8"),
    "odd with maxrelu": (lambda: tm.DeepNorm(4, widths=(8, 7)), "widths: expected even widths"),
    "odd convex": (lambda: tm.ConvexNetwork(4, widths=(7,), activation="maxrelu"), "width: expected an even width"),
    "unknown activation": (
        lambda: tm.DeepNorm(4, activation="tanh"),
        "activation: expected one of 'relu', 'leaky_relu', 'maxrelu', got 'tanh'",
    ),
    "unknown pool": (
        lambda: tm.WideNorm(4, pool="median"),
        "pool: expected one of 'mean', 'max', 'maxmean', got 'median'",
    ),
    "unhashable option": (lambda: tm.WideNorm(4, pool=["mean"]), "pool: expected one of"),
    "unknown form": (lambda: tm.WideNorm(4, form="free"), "form: expected one of 'rectified', 'paper', got 'free'"),
    "monotone only": (lambda: tm.WideNorm(4, monotone=True), "monotone: expected symmetric=True"),
    "paper and symmetric": (lambda: tm.WideNorm(4, form="paper", symmetric=True), "form: 'paper' is asymmetric"),
    "unknown inputs": (lambda: tm.MLPDistance(4, inputs="sum"), "inputs: expected one of 'difference'"),
    "no concave units": (lambda: tm.NeuralMetric(deep, concave_units=0), "concave_units: expected a positive integer"),
    "norm of a module": (lambda: tm.NormInduced(torch.nn.Linear(2, 2)), "norm: expected a Norm, got Linear"),
    "metric of a module": (lambda: tm.NeuralMetric(torch.nn.Linear(2, 2)), "norm: expected a Norm or a Distance"),
    "no norms": (lambda: tm.CombinedNorm([]), "norms: expected at least one Norm"),
    "norms of two sizes": (lambda: tm.CombinedNorm([tm.Euclidean(2), deep]), "norms: expected one dim for all"),
    "a norm for norms": (lambda: tm.CombinedNorm(deep), "norms: expected a sequence of Norm, got DeepNorm"),
    "no distances": (lambda: tm.WideMetric([]), "distances: expected at least one"),
    "a distance for distances": (lambda: tm.WideMetric(d), "distances: expected a sequence"),
    "distances of two sizes": (lambda: tm.WideMetric([d, tm.Euclidean(2)]), "distances: expected one dim for all"),
    "not monotone": (lambda: tm.Asymmetrized(deep), "norm: expected one that promises to be monotone"),
    "odd for asymmetrized": (lambda: tm.Asymmetrized(tm.Euclidean(3)), "norm: expected an even dim"),
    "gamma": (lambda: tm.Discounted(d, gamma=1.0), "gamma: expected a finite number above 0 and below 1, got 1.0"),
    "nan weight": (lambda: tm.PositiveDefinite(deep, weight=float("nan")), "weight: expected a finite number above"),
    "hull without origin": (
        lambda: tm.PolyhedralNorm.from_points([[1, 1], [2, 1], [1, 2]]),
        "points: expected a convex hull that contains the origin inside",
    ),
    "flat hull": (lambda: tm.PolyhedralNorm.from_points([[1, 1], [-1, -1], [2, 2]]), "points: expected a full-dim"),
    "nan hull": (lambda: tm.PolyhedralNorm.from_points([[1, float("nan")]] * 3), "points: expected finite values"),
    "negative offset": (lambda: tm.PolyhedralNorm([[1, 0]], [-1]), "offsets: expected positive values"),
    "offsets of wrong length": (lambda: tm.PolyhedralNorm([[1, 0]], [1, 2]), "offsets: expected shape (1,)"),
    "unknown shape": (lambda: tm.PoissonQuasimetric(4, shape="disc"), "shape: expected one of 'half-line', 'gaussian'"),
    "empty groups": (lambda: tm.IntervalQuasimetric(5, components=4), "components: expected groups of 2 that all hold"),
    "odd landmarks": (lambda: tm.LandmarkBound(5), "dim: expected an even number, of distances to and from landmarks"),
    "tolls of a module": (lambda: tm.TollMetric(torch.nn.Linear(2, 2)), "distance: expected a Norm or a Distance"),
    "unknown tolls": (lambda: tm.TollMetric(d, per="pair"), "per: expected one of 'head', 'component', got 'pair'"),
    "toll map": (lambda: tm.TollMetric(d, map="exp"), "map: expected one of 'softplus', 'abs', got 'exp'"),
    "unknown symmetry": (lambda: tm.SymmetrizedMetric(d, how="mean"), "how: expected one of 'sum', 'max', got 'mean'"),
    "negative drift rank": (lambda: tm.RandersMetric(4, rank=0), "rank: expected a positive integer, got 0"),
    "no room for tolls": (
        lambda: tm.recommended(2, symmetric=False, tolls=True),
        "dim: expected more than the 2 that the tolls",
    ),
    "encoder": (lambda: tm.Siamese(abs, d), "encoder: expected a torch.nn.Module"),
    "distance": (lambda: tm.Siamese(torch.nn.Identity(), abs), "distance: expected a Norm or a Distance"),
    "all_pairs of a vector": (lambda: tm.all_pairs(d, torch.randn(4)), "x: expected a matrix (points, dim)"),
    "all_pairs of integers": (lambda: tm.all_pairs(d, torch.ones(3, 4, dtype=torch.int)), "x: expected a floating"),
    "all_pairs dtypes": (
        lambda: tm.all_pairs(tm.Euclidean(4), x, x.double()),
        "y: expected the last axis, dtype and device of x",
    ),
    "memory": (lambda: tm.all_pairs(d, x, max_memory="lots"), "max_memory: expected bytes as a positive integer"),
    "no memory": (lambda: tm.all_pairs(d, x, max_memory=0), "max_memory: expected bytes as a positive integer"),
    "audit of NaN": (lambda: tm.audit(d, nan), "points: expected finite values, got 12 NaN or infinite of 12"),
    "audit of nothing": (lambda: tm.audit(d, torch.empty(0, 4)), "points: expected at least one row"),
    "audit of a function": (lambda: tm.audit(3, x), "distance: expected a Norm, Distance, Siamese or function"),
}


@pytest.mark.parametrize("case", CASES)
def test_message(case: str) -> None:
    call, expected = CASES[case]
    assert expected in refusal(call)


@pytest.mark.parametrize(("text", "count"), [("256MiB", 2**28), ("1.5 GB", 1_500_000_000), (77, 77), ("12", 12)])
def test_byte_counts(text: str | int, count: int) -> None:
    from trimetric._support.checks import byte_count

    assert byte_count("max_memory", text) == count


def test_a_nan_is_never_turned_into_a_number() -> None:
    assert d(nan, x).isnan().all()
    assert deep(nan).isnan().all()
