"""The audit sees what is there."""

from __future__ import annotations

import json
from itertools import product

import pytest
import torch
from torch import Tensor

import trimetric as tm
from trimetric._audit import measure
from trimetric.norms.activations import MaxReLU


def squared(x: Tensor, y: Tensor) -> Tensor:
    return (y - x).square().sum(-1)


def brute_force(matrix: Tensor) -> tuple[float, float]:
    n = len(matrix)
    excess = [
        (float(matrix[i, k] - matrix[i, j] - matrix[j, k]), float(matrix[i, k]))
        for i, j, k in product(range(n), repeat=3)
    ]
    return max(e for e, _ in excess), max(e / d for e, d in excess if d > 0)


def test_finds_the_largest_defect_and_where_it_is() -> None:
    points = torch.randn(15, 3, dtype=torch.float64)
    report = tm.audit(squared, points)
    worst, relative = brute_force(squared(points[:, None], points[None]))
    assert report.triangle_defect == pytest.approx(worst)
    assert report.relative_triangle_defect == pytest.approx(relative)
    x, y, z = (points[i] for i in report.worst_triple)  # type: ignore[union-attr]
    assert float(squared(x, z) - squared(x, y) - squared(y, z)) == pytest.approx(worst)
    assert report.exhaustive
    assert report.triples == 15**3


def test_random_triples_find_it_too() -> None:
    points = torch.randn(300, 3)
    report = tm.audit(squared, points, max_points=100, random_triples=100_000)
    assert not report.exhaustive
    assert report.triples == 100_000
    assert report.triangle_defect > 1
    held = tm.audit(tm.NeuralMetric(tm.DeepNorm(3)), points, max_points=100, random_triples=100_000)
    assert held.holds
    assert held.triangle_defect == 0


class Lying(tm.Distance):
    """Promises everything and keeps what `formula` keeps."""

    axioms = tm.Axioms(definite=True, symmetric=True)

    def __init__(self, formula: str) -> None:
        super().__init__(2, num_components=1, pool="mean")
        self.formula = formula

    def components(self, x: Tensor, y: Tensor) -> Tensor:
        d = y - x
        length = torch.linalg.vector_norm(d, dim=-1)
        return {
            "triangle": length.square(),
            "nonnegative": length - 10,
            "reflexive": length + 1,
            "symmetric": length + d[..., 0].relu(),
            "definite": d[..., 0].abs(),
            "homogeneous": length.sqrt(),
            "nan": length * torch.nan,
        }[self.formula].unsqueeze(-1)


@pytest.mark.parametrize("axiom", ["triangle", "nonnegative", "reflexive", "symmetric", "definite", "homogeneous"])
@pytest.mark.parametrize("max_points", [100, 10])
def test_every_broken_promise_is_named(axiom: str, max_points: int) -> None:
    points = torch.tensor([[i % 5, i // 5] for i in range(20)], dtype=torch.float64)
    report = tm.audit(Lying(axiom), points, max_points=max_points, random_triples=20_000)
    assert axiom in report.broken
    assert not report.holds
    assert "BROKEN" in str(report)
    assert json.loads(json.dumps(report.to_dict()))["holds"] is False


def test_a_nan_is_no_distance() -> None:
    assert not tm.audit(Lying("nan"), torch.randn(5, 2)).holds


def test_duplicate_points_are_not_indistinct() -> None:
    points = torch.randn(5, 2)[[0, 1, 1, 2, 2]]
    assert tm.audit(tm.Euclidean(2), points).holds
    assert tm.audit(lambda x, y: (y - x)[..., 0].abs(), points).indistinct == 0


def test_unconstrained_networks_are_seen_to_break_the_triangle_inequality() -> None:
    points = torch.randn(50, 4)
    assert tm.audit(tm.MLPDistance(4), points).triangle_defect > 0


def test_a_final_max_relu_breaks_it_as_the_paper_has_it() -> None:
    """Erratum E1: the maximum of two negative numbers is negative; our last activation is relu."""
    norm = tm.DeepNorm(4, widths=(4, 2))
    paper = MaxReLU(2)
    paper.raw_mix.data.zero_()

    def published(x: Tensor, y: Tensor) -> Tensor:
        first, second = torch.nn.functional.linear(y - x, norm.skip).split(norm.widths, dim=-1)
        unit = norm.hidden[0](norm.activations[0](first)) + second
        return paper(unit).mean(-1)

    points = torch.randn(40, 4)
    assert tm.audit(published, points).negativity > 0
    assert tm.audit(norm, points).negativity == 0


def sums_of_detours(matrix: Tensor) -> Tensor:
    return matrix[:, :, None] + matrix[None]


@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "torch"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [1, 37, 66])
def test_min_plus_square(n: int, dtype: torch.dtype, kernel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "KERNEL_POINTS", 0 if kernel else n + 1)
    matrix = torch.rand(2 * n, n, dtype=dtype)[::2]
    assert torch.equal(measure.min_plus_square(matrix), sums_of_detours(matrix).amin(1))
    assert torch.equal(measure.min_plus_square(matrix.T), sums_of_detours(matrix.T).amin(1))


@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "torch"])
@pytest.mark.parametrize("entry", [torch.nan, torch.inf, -torch.inf])
def test_min_plus_square_of_entries_that_are_not_finite(
    entry: float, kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "KERNEL_POINTS", 0 if kernel else 100)
    matrix = torch.rand(41, 41)
    matrix[3, 7] = matrix[7, 20] = entry
    matrix[5] = torch.inf
    expected = sums_of_detours(matrix).amin(1)
    assert torch.equal(measure.min_plus_square(matrix).isnan(), expected.isnan())
    assert torch.equal(measure.min_plus_square(matrix).nan_to_num(7), expected.nan_to_num(7))


@pytest.mark.parametrize("value", [None, torch.nan, torch.inf])
def test_the_kernel_changes_nothing_in_a_report(value: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def strange(x: Tensor, y: Tensor) -> Tensor:
        d = squared(x, y)
        return d if value is None else torch.where(d > 20, value, d)

    points = torch.randn(90, 3)
    slow = tm.audit(strange, points)
    monkeypatch.setattr(measure, "KERNEL_POINTS", 0)
    assert repr(tm.audit(strange, points)) == repr(slow)
    assert slow.worst_triple is not None


def test_a_distance_that_is_small_by_cancellation_is_still_homogeneous() -> None:
    """Terms of 5,000 leave distances of 346, as hypothesis once found: rounding is that of the terms."""
    norm = tm.WideNorm(4, components=4, width=3, symmetric=True)
    with torch.no_grad():
        for parameter in norm.parameters():
            parameter.fill_(100.0)
    points = torch.tensor([[0.0, 39, -42, -53], [0, 0, -54, 0], [0, -55, 0, 0]], dtype=torch.float64)
    assert tm.audit(norm.double(), points).homogeneity_defect == 0
