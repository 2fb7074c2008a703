"""Fused kernels against the definition, and against the kernels that they replace."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import trimetric as tm
from trimetric.distances import fusing
from trimetric.kernels.fused import FusedPairs, Pooling, fused_distances
from trimetric.norms.activations import PoolName

pytest.importorskip("numba")

DIM = 6
POOLS: tuple[PoolName, ...] = ("mean", "max", "maxmean")


def _polyhedral(pool: PoolName) -> tm.Norm:
    return tm.PolyhedralNorm([[1.0] * DIM, *(2 * torch.eye(DIM)).tolist()], [1.0] * (DIM + 1), pool=pool)


def _saturating(pool: PoolName) -> tm.Distance:
    distance = tm.NeuralMetric(tm.WideNorm(DIM, components=3, width=5, pool=pool), concave_units=7)
    torch.nn.init.normal_(distance.concave.raw_slope)
    return distance


HEADS: dict[str, Callable[[PoolName], tm.Norm | tm.Distance]] = {
    "intervals": lambda pool: tm.IntervalQuasimetric(DIM, components=2, pool=pool),
    "intervals, one group": lambda pool: tm.IntervalQuasimetric(DIM, pool=pool),
    "intervals, uneven": lambda pool: (
        tm.IntervalQuasimetric(DIM, components=4, pool=pool)
        if DIM % 4 == 0
        else (tm.IntervalQuasimetric(DIM, components=3, pool=pool))
    ),
    "wide": lambda pool: tm.WideNorm(DIM, components=5, width=3, pool=pool),
    "wide, one component": lambda pool: tm.WideNorm(DIM, components=1, width=9, pool=pool),
    "wide, width 1": lambda pool: tm.WideNorm(DIM, components=7, width=1, pool=pool),
    "faces": _polyhedral,
    "landmarks": lambda pool: tm.LandmarkBound(DIM, pool=pool),
    "landmarks, undirected": lambda pool: tm.LandmarkBound(DIM, components=3, directed=False, pool=pool),
    "concave units": lambda pool: tm.NeuralMetric(tm.WideNorm(DIM, components=4, width=4, pool=pool)),
    "concave units, two": lambda pool: tm.NeuralMetric(
        tm.IntervalQuasimetric(DIM, components=2, pool=pool), concave_units=2
    ),
    "concave units, seven": _saturating,
    "concave units twice, scaled": lambda pool: tm.Calibrated(
        tm.NeuralMetric(tm.NeuralMetric(tm.WideNorm(DIM, components=2, width=2, pool=pool)), concave_units=3)
    ),
}
every_head = pytest.mark.parametrize("name", HEADS)
every_pool = pytest.mark.parametrize("pool", POOLS)


def make(name: str, pool: PoolName, dtype: torch.dtype = torch.float64) -> tm.Distance:
    head = HEADS[name](pool)
    distance = tm.NormInduced(head) if isinstance(head, tm.Norm) else head
    if isinstance(distance, tm.Calibrated):
        distance.raw_scale.fill_(3.0)
    return distance.to(dtype)


def definition(distance: tm.Distance, x: Tensor, y: Tensor) -> Tensor:
    return distance(x.unsqueeze(1), y.unsqueeze(0))


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many matrices the fused kernels have computed: a test of a kernel that is not used tests nothing."""
    calls: list[int] = []

    def counted(*arguments: object) -> Tensor:
        calls.append(1)
        return fused_distances(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(fusing, "fused_distances", counted)
    return calls


@every_head
@every_pool
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 7), (17, 1), (1, 513), (7, 300), (261, 17)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_distances_of_any_number_of_points(
    count: list[int], name: str, pool: PoolName, n: int, m: int, dtype: torch.dtype
) -> None:
    distance = make(name, pool, dtype)
    x, y = torch.randn(n, DIM, dtype=dtype), torch.randn(m, DIM, dtype=dtype)
    y[: min(n, m) // 2] = x[: min(n, m) // 2]  # equal rows
    with torch.no_grad():
        fast, slow = tm.all_pairs(distance, x, y), definition(distance, x, y)
    assert count
    single = dtype == torch.float32
    # A small rectified length may come of large projections.
    scale = slow.max().item()
    torch.testing.assert_close(fast, slow, rtol=1e-5 if single else 1e-12, atol=scale * (1e-6 if single else 1e-14))
    assert (fast[slow == 0] == 0).all()


@every_head
@every_pool
@pytest.mark.parametrize("threads", [1, 2])
def test_gradients(count: list[int], name: str, pool: PoolName, threads: int) -> None:
    distance = make(name, pool)
    x, y = (torch.randn(n, DIM, dtype=torch.float64, requires_grad=True) for n in (37, 270))
    inputs = [x, y, *distance.parameters()]
    weight = torch.randn(37, 270, dtype=torch.float64)
    torch.set_num_threads(threads)
    try:
        fast = torch.autograd.grad((weight * tm.all_pairs(distance, x, y)).sum(), inputs)
    finally:
        torch.set_num_threads(1)
    assert count
    slow = torch.autograd.grad((weight * definition(distance, x, y)).sum(), inputs)
    for ours, expected in zip(fast, slow, strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-9 * (1 + expected.abs().max().item()))


@every_head
def test_gradients_in_single_precision(name: str) -> None:
    distance = make(name, "maxmean", torch.float32)
    x = torch.randn(300, DIM, requires_grad=True)
    fast = torch.autograd.grad(tm.all_pairs(distance, x).square().sum(), [x, *distance.parameters()])
    double = make(name, "maxmean")
    double.load_state_dict(distance.state_dict())
    wide = x.detach().double().requires_grad_()
    slow = torch.autograd.grad(definition(double, wide, wide).square().sum(), [wide, *double.parameters()])
    for ours, expected in zip(fast, slow, strict=True):
        torch.testing.assert_close(ours.double(), expected, rtol=1e-4, atol=1e-4 * expected.abs().max().item())


@every_head
@every_pool
def test_views_of_any_stride(count: list[int], name: str, pool: PoolName) -> None:
    distance = make(name, pool)
    x, y = torch.randn(DIM, 40, dtype=torch.float64).mT, torch.randn(90, 3 * DIM, dtype=torch.float64)[::3, ::3]
    pull = torch.randn(1, 30, dtype=torch.float64).expand(40, 30)  # as the gradient of a sum is
    with torch.no_grad():
        torch.testing.assert_close(tm.all_pairs(distance, x, y), definition(distance, x, y), rtol=1e-12, atol=1e-14)
    assert count
    leaf, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    tm.all_pairs(distance, leaf, y).backward(pull)
    definition(distance, other, y).backward(pull)
    torch.testing.assert_close(leaf.grad, other.grad)


@every_head
@every_pool
@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("side", ["row", "column"])
def test_values_that_are_not_finite(
    monkeypatch: pytest.MonkeyPatch, count: list[int], name: str, pool: PoolName, value: float, side: str
) -> None:
    distance = make(name, pool)
    x, y = torch.randn(19, DIM, dtype=torch.float64), torch.randn(33, DIM, dtype=torch.float64)
    (x if side == "row" else y)[5, 1] = value
    with torch.no_grad():
        fast = tm.all_pairs(distance, x, y)
        assert bool(count) == (value != value)
        monkeypatch.setattr(fusing, "can_fuse", lambda *_: False)
        torch.testing.assert_close(fast, tm.all_pairs(distance, x, y), rtol=1e-12, atol=1e-14, equal_nan=True)
    if value != value:
        assert fast[5].isnan().all() if side == "row" else fast[:, 5].isnan().all()


def test_components_that_are_largest_together_share_the_gradient() -> None:
    x, y = torch.zeros(1, 3, requires_grad=True), torch.tensor([[2.0, 2.0, 1.0]], requires_grad=True)
    fused = FusedPairs(lambda points: points, "relu", 3)
    fused_distances(fused, x, y, Pooling("max")).backward()
    assert torch.equal(y.grad, torch.tensor([[0.5, 0.5, 0.0]]))  # type: ignore[arg-type]
    assert torch.equal(x.grad, torch.tensor([[-0.5, -0.5, 0.0]]))  # type: ignore[arg-type]


@pytest.mark.parametrize("shift", [0.0, 10.0, 1000.0])
@pytest.mark.parametrize("name", ["wide", "concave units", "faces", "wide, width 1"])
def test_close_pairs_keep_their_digits(count: list[int], name: str, shift: float) -> None:
    distance = make(name, "maxmean", torch.float32)
    x = torch.randn(70, DIM) + shift
    y = torch.cat([x + 1e-3 * torch.randn(70, DIM), x])
    with torch.no_grad():
        fast, slow = tm.all_pairs(distance, x, y), definition(distance, x, y)
    assert count
    torch.testing.assert_close(fast, slow, rtol=1e-5, atol=1e-30)
    assert (fast[:, 70:].diagonal() == 0).all()


def test_more_close_pairs_than_memory_goes_block_by_block(count: list[int]) -> None:
    distance = make("wide", "mean", torch.float32)
    x = torch.randn(1, DIM) + 1e-4 * torch.randn(600, DIM)
    x[0] += 100  # so that the others are close to each other and not to their mean
    with torch.no_grad():
        fast, slow = tm.all_pairs(distance, x, max_memory="8MiB"), definition(distance, x, x)
    assert not count
    torch.testing.assert_close(fast, slow, rtol=1e-5, atol=1e-30)


def test_a_transform_that_is_not_fused_is_not_lost(count: list[int]) -> None:
    class Doubled(tm.NeuralMetric):
        def transform(self, components: Tensor) -> Tensor:
            return 2 * super().transform(components)

    distance, x = Doubled(tm.IntervalQuasimetric(DIM)), torch.randn(30, DIM)
    with torch.no_grad():
        torch.testing.assert_close(tm.all_pairs(distance, x), definition(distance, x, x))
    assert not count


def test_a_flat_line_is_left_to_torch(count: list[int]) -> None:
    """0 times infinity is not a number, which the comparisons of the fused kernel would lose."""
    distance = make("concave units", "mean")
    x = torch.randn(20, DIM, dtype=torch.float64)
    with torch.no_grad():
        distance.concave.raw_slope[1, 2] = 0  # type: ignore[union-attr]
        torch.testing.assert_close(tm.all_pairs(distance, x), definition(distance, x, x))
    assert not count


@every_head
@every_pool
def test_overflow_is_that_of_torch(monkeypatch: pytest.MonkeyPatch, name: str, pool: PoolName) -> None:
    distance = make(name, pool, torch.float32)
    x = torch.randn(20, DIM)
    x[3] = 3e38 * torch.sign(x[3])
    with torch.no_grad():
        fast = tm.all_pairs(distance, x)
        monkeypatch.setattr(fusing, "can_fuse", lambda *_: False)
        torch.testing.assert_close(fast, tm.all_pairs(distance, x), rtol=1e-5, atol=1e-5, equal_nan=True)
