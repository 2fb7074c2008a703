"""The successors of the paper's heads, each against an independent slow definition, and combinations of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
import zoo
from scipy import stats
from torch import Tensor, nn

import trimetric as tm
from benchmarks.memory import peak_bytes
from trimetric.kernels.poisson import log_probability_not_larger

DIM = 7


def numpy(tensor: Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


def some_pairs(dim: int = DIM, n: int = 12) -> tuple[Tensor, Tensor]:
    x, y = torch.randn(2, n, dim, dtype=torch.float64)
    y[0] = x[0]
    x[1] = 0
    return x, y


def randomised(module: nn.Module) -> nn.Module:
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module.double()


def pooled(components: list[float], alpha: float) -> float:
    return alpha * max(components) + (1 - alpha) * float(np.mean(components))


def union_length(x: np.ndarray, y: np.ndarray) -> float:
    """By merging the intervals one after another."""
    merged: list[list[float]] = []
    for start, end in sorted((a, max(a, b)) for a, b in zip(x, y, strict=True)):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return sum(end - start for start, end in merged)


@pytest.mark.parametrize("pool", ["mean", "max", "maxmean"])
def test_intervals_by_merging(pool: str) -> None:
    distance = tm.IntervalQuasimetric(DIM, components=2, pool=pool).double()  # groups of 4, one filled up
    alpha = {"mean": 0.0, "max": 1.0, "maxmean": 0.5}[pool]
    x, y = some_pairs()
    x[2] = torch.tensor([0, 1, 2, 0.5, 3, 3, 3])  # ties, and intervals that touch
    y[2] = torch.tensor([1, 2, 1, 0.7, 4, 3, 5])
    expected = [
        pooled([union_length(a[:4], b[:4]), union_length(a[4:], b[4:])], alpha)
        for a, b in zip(numpy(x), numpy(y), strict=True)
    ]
    assert numpy(distance(x, y)) == pytest.approx(np.array(expected), rel=1e-12)
    assert numpy(tm.all_pairs(distance, x, y).diagonal()) == pytest.approx(np.array(expected), rel=1e-12)


def test_intervals_of_width_one_are_rectified_differences() -> None:
    x, y = some_pairs()
    distance = tm.IntervalQuasimetric(DIM, components=DIM, pool="mean")
    assert torch.allclose(distance(x, y), (y - x).relu().mean(-1))
    assert distance.axioms.translation_invariant


def test_default_groups_and_none_empty() -> None:
    assert tm.IntervalQuasimetric(512).num_components == 32
    assert tm.IntervalQuasimetric(62).num_components == 4
    assert tm.PoissonQuasimetric(5).num_components == 2
    with pytest.raises(ValueError, match="components: expected groups of 2 that all hold some of the 5 coordinates"):
        tm.IntervalQuasimetric(5, components=4)


def test_interval_gradients_go_to_the_ends_of_the_union() -> None:
    x = torch.tensor([[0.0, 1.0, 5.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[2.0, 3.0, 6.0]], dtype=torch.float64, requires_grad=True)
    for length in (tm.IntervalQuasimetric(3)(x, y).sum(), tm.all_pairs(tm.IntervalQuasimetric(3), x, y).sum()):
        from_x, to_y = torch.autograd.grad(length, (x, y))  # [0, 3] and [5, 6]
        assert from_x.tolist() == [[-1, 0, -1]]
        assert to_y.tolist() == [[0, 1, 1]]


def test_interval_memory_does_not_hold_pairs_times_coordinates() -> None:
    distance, x = tm.IntervalQuasimetric(128), torch.randn(200, 128, requires_grad=True)
    tm.all_pairs(
        distance, x[:2]
    ).sum().backward()  # the first call imports numba, which is larger than what is measured
    fast = peak_bytes(lambda: tm.all_pairs(distance, x, max_memory="16MiB").sum().backward())
    definition = peak_bytes(lambda: distance(x.unsqueeze(1), x.unsqueeze(0)).sum().backward())
    assert fast < 3 * 16 * 2**20
    assert 4 * fast < definition


def poisson_not_larger(a: float, b: float) -> float:
    n = np.arange(0, 400)
    return float((stats.poisson.cdf(n, a) * stats.poisson.pmf(n, b)).sum())


def test_poisson_half_lines() -> None:
    distance = randomised(tm.PoissonQuasimetric(DIM, components=2))
    x, y = some_pairs()
    excess = np.maximum(numpy(x - y), 0)
    groups = np.stack([1 - np.exp(-excess[:, :4].sum(1)), 1 - np.exp(-excess[:, 4:].sum(1))], axis=1)
    expected = (np.abs(numpy(distance.raw_weight)) * groups).mean(1)
    assert numpy(distance(x, y)) == pytest.approx(expected, rel=1e-9)


def test_poisson_gaussian_by_sums_over_the_counts() -> None:
    distance = randomised(tm.PoissonQuasimetric(4, components=2, shape="gaussian"))
    half_line, gaussian = np.abs(numpy(distance.raw_rates)).reshape(2, 4)
    weight = np.abs(numpy(distance.raw_weight))
    x, y = some_pairs(4)
    expected = []
    for a, b in zip(numpy(x), numpy(y), strict=True):
        ordered = []
        for j in range(4):
            # The region below one Gaussian density and above the other, by numerical integration.
            t = np.linspace(-15, 15, 20_001)
            region = np.maximum(stats.norm.pdf(t, a[j]) - stats.norm.pdf(t, b[j]), 0).sum() * (t[1] - t[0])
            out = half_line[j] * max(a[j] - b[j], 0) + gaussian[j] * region
            back = half_line[j] * max(b[j] - a[j], 0) + gaussian[j] * region
            ordered.append(poisson_not_larger(out, back))
        expected.append((weight[0] * (1 - ordered[0] * ordered[1]) + weight[1] * (1 - ordered[2] * ordered[3])) / 2)
    assert numpy(distance(x, y)) == pytest.approx(np.array(expected), rel=1e-6, abs=1e-9)


RATES = [0.0, 1e-9, 0.01, 0.7, 1.0, 3.0, 20.0, 90.0]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_poisson_comparison(dtype: torch.dtype) -> None:
    a, b = torch.tensor(list(itertools.product(RATES, RATES)), dtype=dtype).unbind(1)
    expected = [poisson_not_larger(float(p), float(q)) for p, q in zip(a, b, strict=True)]
    found = numpy(log_probability_not_larger(a, b).exp())
    assert found == pytest.approx(np.array(expected), rel=1e-11 if dtype == torch.float64 else 2e-5)
    # Near 1 the complement has the digits: 1 - exp(-a) at b = 0.
    tiny = torch.tensor([1e-12, 1e-8, 0.3], dtype=dtype)
    larger = -torch.expm1(log_probability_not_larger(tiny, torch.zeros(3, dtype=dtype)))
    assert torch.allclose(larger, -torch.expm1(-tiny), rtol=1e-14 if dtype == torch.float64 else 1e-6, atol=0)


def test_poisson_comparison_of_large_rates() -> None:
    """Skellam tends to a normal; and a tail far below the smallest number has a finite logarithm and gradient."""
    a = torch.tensor([1e6, 1e8, 1e10], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([1e6 + 3e3, 1e8 - 2e4, 3.0], dtype=torch.float64, requires_grad=True)
    log = log_probability_not_larger(a, b)
    normal = stats.norm.logcdf((numpy(b - a) + 0.5) / np.sqrt(numpy(a + b)))
    assert numpy(log)[:2] == pytest.approx(normal[:2], rel=1e-4)
    assert log[2].item() == pytest.approx(-1e10, rel=1e-4)
    log.sum().backward()
    assert torch.isfinite(a.grad).all()  # type: ignore[arg-type]
    assert torch.isfinite(b.grad).all()  # type: ignore[arg-type]
    assert (a.grad < 0).all()  # type: ignore[operator]


def test_poisson_comparison_gradcheck() -> None:
    a = torch.tensor([0.3, 2.0, 50.0, 1e-2, 9.0, 0.5], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([0.5, 0.1, 40.0, 3.0, 0.1, 60.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(log_probability_not_larger, (a, b))


@pytest.mark.parametrize("components", [1, 2])
def test_residual_metric(components: int) -> None:
    x, y = some_pairs(8)
    expected = [
        np.mean(
            [
                np.linalg.norm(piece[: len(piece) // 2]) + max(0, piece[len(piece) // 2 :].max())
                for piece in np.split(row, components)
            ]
        )
        for row in numpy(y - x)
    ]
    assert numpy(tm.ResidualMetric(8, components=components)(x, y)) == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize("components", [1, 2])
def test_residual_metric_with_shared_coordinates(components: int) -> None:
    x, y = some_pairs(8)
    expected = [
        np.mean([np.linalg.norm(piece) + max(0, piece.max()) for piece in np.split(row, components)])
        for row in numpy(y - x)
    ]
    found = tm.ResidualMetric(8, components=components, shared=True)(x, y)
    assert numpy(found) == pytest.approx(np.array(expected), rel=1e-12)


def test_the_residual_metric_as_published_breaks_the_triangle_inequality() -> None:
    """Mean square without a root.  The audit that our form passes must see it."""

    def published(x: Tensor, y: Tensor) -> Tensor:
        symmetric, asymmetric = (y - x).chunk(2, dim=-1)
        return symmetric.square().mean(-1) + asymmetric.relu().amax(-1)

    points = zoo.awkward_points(30, 8)
    broken = tm.audit(published, points)
    assert broken.triangle_defect > 0.01 * broken.scale
    ours = tm.audit(tm.ResidualMetric(8), points)
    assert ours.holds
    assert ours.triangle_defect == 0


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e4, 1e30])
def test_randers_metric_and_its_drift(scale: float) -> None:
    distance = tm.RandersMetric(5, components=3, rank=4, pool="mean").double()
    with torch.no_grad():
        distance.raw_drift.normal_().mul_(scale)
    assert (distance.drift.norm(dim=-1) <= 1 + 1e-15).all()
    x, y = some_pairs(5)
    weight, free = numpy(distance.weight), numpy(distance.raw_drift)
    expected = []
    for row in numpy(y - x):
        parts = []
        for i in range(3):
            drift = weight[i].T @ (free[i] / math.sqrt(1 + free[i] @ free[i]))
            parts.append(np.linalg.norm(weight[i] @ row) + drift @ row)
        expected.append(np.mean(parts))
    assert numpy(distance(x, y)) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-12)


def landmark_features(directed: bool) -> tuple[np.ndarray, Tensor]:
    """Shortest paths in a random graph, and the distances to and from four of its nodes."""
    generator = np.random.default_rng(0)
    exact = generator.uniform(1, 10, size=(25, 25))
    exact = exact if directed else np.minimum(exact, exact.T)
    np.fill_diagonal(exact, 0)
    for k in range(25):
        exact = np.minimum(exact, exact[:, k : k + 1] + exact[k : k + 1])
    features = np.concatenate([exact[:, :4], exact[:4].T], axis=1) if directed else exact[:, :4]
    return exact, torch.tensor(features)


@pytest.mark.parametrize("directed", [True, False])
def test_landmark_bound(directed: bool) -> None:
    exact, features = landmark_features(directed)
    distance = tm.LandmarkBound(features.shape[1], directed=directed)
    found = numpy(tm.all_pairs(distance, features))
    for x, y in itertools.product(range(25), repeat=2):
        bounds = [exact[x, node] - exact[y, node] for node in range(4)]
        bounds += [exact[node, y] - exact[node, x] for node in range(4)]
        assert found[x, y] == pytest.approx(max(0, *bounds), abs=1e-12)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("how", zoo.WEIGHTS)
@pytest.mark.parametrize("pool", ["max", "mean"])
def test_a_mixture_of_landmark_bounds_is_a_lower_bound_for_any_weights(directed: bool, how: str, pool: str) -> None:
    exact, features = landmark_features(directed)
    distance = tm.LandmarkBound(features.shape[1], components=5, directed=directed, pool=pool)  # type: ignore[arg-type]
    zoo.reweight(distance, how).double()
    assert (distance.weight.abs().sum(-1) <= 1 + 1e-12).all()
    found = numpy(tm.all_pairs(distance, features))
    assert (found <= exact + 1e-12).all()
    assert how == "zero" or found.max() > 0


def test_symmetrized_metric() -> None:
    x, y = some_pairs()
    there = tm.IntervalQuasimetric(DIM, components=2, pool="mean")
    assert torch.allclose(tm.SymmetrizedMetric(there)(x, y), there(x, y) + there(y, x))
    there = tm.IntervalQuasimetric(DIM, components=2, pool="max")
    assert torch.allclose(tm.SymmetrizedMetric(there, how="max")(x, y), torch.maximum(there(x, y), there(y, x)))
