"""The fast paths against the slow definition."""

from __future__ import annotations

import pytest
import torch
import zoo
from torch import Tensor, nn

import trimetric as tm
from benchmarks.memory import peak_bytes
from trimetric.distances import fusing
from trimetric.kernels import projections

DIM = zoo.DIM
every_object = pytest.mark.parametrize("name", zoo.OBJECTS)


def definition(distance: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return distance(x.unsqueeze(1), y.unsqueeze(0))


def some_points(kind: str) -> tuple[Tensor, Tensor]:
    x, y = torch.randn(23, DIM), torch.randn(17, DIM)
    if kind == "shifted":
        x, y = x + 1000, y + 1000
    if kind == "two far clusters":
        x[::2] += 1000
        y[::3] += 1000
    if kind == "close pairs":
        y[4:9] = x[4:9] + 1e-3 * torch.randn(5, DIM)
    y[:4] = x[5:9]
    return x, y


@every_object
@pytest.mark.parametrize("kind", ["plain", "shifted", "two far clusters", "close pairs"])
@pytest.mark.parametrize("max_memory", ["256MiB", 4000])
def test_equals_the_definition(name: str, kind: str, max_memory: int | str) -> None:
    distance = zoo.OBJECTS[name](DIM)
    x, y = some_points(kind)
    with torch.no_grad():
        slow = definition(distance, x, y)
        fast = tm.all_pairs(distance, x, y, max_memory=max_memory)
    assert fast.shape == slow.shape
    # An unconstrained value and the rounding of an encoder may be near 0 without being small in their terms.
    atol = 1e-5 if name == "Siamese" or not distance.axioms.triangle else 1e-30
    assert torch.allclose(fast, slow, rtol=1e-5, atol=atol)
    if distance.axioms.reflexive and name != "Siamese":
        assert (fast[torch.arange(5, 9), torch.arange(4)] == 0).all()
    if distance.axioms.reflexive:
        assert (tm.all_pairs(distance, x).diagonal() == 0).all()


@every_object
@pytest.mark.parametrize("max_memory", ["256MiB", 4000])
def test_gradients_equal_those_of_the_definition(name: str, max_memory: int | str) -> None:
    distance = zoo.OBJECTS[name](DIM).double()
    x, y = (points.double().requires_grad_() for points in some_points("close pairs"))
    inputs = [x, y, *distance.parameters()]
    weight = torch.randn(len(x), len(y), dtype=torch.float64)
    # Two norms tied in a maximum: any mixture of their gradients is right, so leave the ties out.
    weight[5:9, :4] = 0
    slow = torch.autograd.grad((weight * definition(distance, x, y)).sum(), inputs, allow_unused=True)
    fast = torch.autograd.grad(
        (weight * tm.all_pairs(distance, x, y, max_memory=max_memory)).sum(), inputs, allow_unused=True
    )
    for ours, expected in zip(fast, slow, strict=True):
        assert (ours is None) == (expected is None)
        if expected is not None and expected.numel():
            assert torch.allclose(ours, expected, rtol=1e-7, atol=1e-12 + 1e-9 * expected.abs().max().item())


@every_object
def test_gradients_are_finite_with_equal_rows(name: str) -> None:
    distance = zoo.OBJECTS[name](DIM)
    x = torch.randn(9, DIM)
    x[3] = x[4]
    x.requires_grad_()
    tm.all_pairs(distance, x).sum().backward()
    assert torch.isfinite(x.grad).all()  # type: ignore[arg-type]


@every_object
def test_under_no_grad_and_with_frozen_parameters(name: str) -> None:
    distance = zoo.OBJECTS[name](DIM)
    x = torch.randn(40, DIM)
    with torch.no_grad():
        expected = tm.all_pairs(distance, x, max_memory=20_000)
    frozen = tm.all_pairs(distance.requires_grad_(False), x, max_memory=20_000)
    assert torch.equal(frozen, expected)
    assert not frozen.requires_grad


@every_object
def test_empty_sides(name: str) -> None:
    distance = zoo.OBJECTS[name](DIM)
    some, none = torch.randn(3, DIM), torch.empty(0, DIM)
    assert tm.all_pairs(distance, some, none).shape == (3, 0)
    assert tm.all_pairs(distance, none, some).shape == (0, 3)
    assert tm.all_pairs(distance, none).shape == (0, 0)


@pytest.mark.parametrize("name", [n for n in zoo.OBJECTS if n not in ("MLPDistance-concatenation",)])
def test_bfloat16_agrees_to_its_rounding(name: str) -> None:
    distance = zoo.OBJECTS[name](DIM).bfloat16()
    x = torch.randn(12, DIM).bfloat16()
    with torch.no_grad():
        slow, fast = definition(distance, x, x), tm.all_pairs(distance, x)
    assert fast.dtype == torch.bfloat16
    assert torch.allclose(fast.float(), slow.float(), rtol=0.05, atol=0.05 * slow.float().abs().max().item())


@every_object
def test_a_nan_stays_in_its_row_and_column(name: str) -> None:
    distance = zoo.OBJECTS[name](DIM)
    x = torch.randn(5, DIM)
    y = x.clone()
    y[2, 1] = torch.nan
    out = tm.all_pairs(distance, y)
    assert out[2].isnan().all()
    assert out[:, 2].isnan().all()
    others = [0, 1, 3, 4]
    assert torch.allclose(out[others][:, others], definition(distance, x[others], x[others]), rtol=1e-5, atol=1e-6)


def test_any_function_of_two_tensors() -> None:
    x, y = torch.randn(30, 4), torch.randn(20, 4)
    manhattan = lambda a, b: (a - b).abs().sum(-1)  # noqa: E731
    assert torch.allclose(tm.all_pairs(manhattan, x, y, max_memory=5000), torch.cdist(x, y, p=1), atol=1e-5)


def test_a_siamese_encodes_each_object_once() -> None:
    seen = []

    class Counting(nn.Linear):
        def forward(self, input: Tensor) -> Tensor:
            seen.append(len(input))
            return super().forward(input)

    model = tm.Siamese(Counting(3, DIM), tm.WideNorm(DIM))
    tm.all_pairs(model, torch.randn(50, 3), max_memory=100_000)
    assert seen == [50]


@pytest.mark.parametrize(
    "norm",
    [
        pytest.param(tm.DeepNorm(64, widths=(128, 128)), id="DeepNorm"),
        pytest.param(tm.WideNorm(64), id="WideNorm", marks=pytest.mark.slow),
        pytest.param(tm.WideNorm(64, width=8, form="paper"), id="WideNorm-paper", marks=pytest.mark.slow),
    ],
)
def test_backward_memory_is_bounded(norm: tm.Norm) -> None:
    x = torch.randn(400, 64, requires_grad=True)
    tm.all_pairs(norm, x[:2]).sum().backward()  # the first call imports numba
    bounded = peak_bytes(lambda: tm.all_pairs(norm, x, max_memory="16MiB").sum().backward())
    by_definition = peak_bytes(lambda: norm(x.unsqueeze(0) - x.unsqueeze(1)).sum().backward())
    assert bounded < 4 * 16 * 2**20
    assert bounded * 3 < by_definition


@pytest.mark.parametrize("machine_code", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [1, 4, 6])
def test_rectified_loops_equal_the_definition(
    monkeypatch: pytest.MonkeyPatch, machine_code: bool, threads: int, width: int
) -> None:
    monkeypatch.setattr(fusing, "can_fuse", lambda *_: False)  # tests/kernels/test_fused.py tests the fused ones
    if machine_code:
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(projections, "_rectified_loops", lambda: None)
    norm = tm.WideNorm(DIM, components=3, width=width).double()
    x, y = (torch.randn(n, DIM, dtype=torch.float64, requires_grad=True) for n in (9, 70))
    torch.set_num_threads(threads)
    try:
        fast = tm.all_pairs(norm, x, y)
        gradients = torch.autograd.grad(fast.square().sum(), (x, y, norm.weight))
    finally:
        torch.set_num_threads(1)
    slow = definition(tm.NormInduced(norm), x, y)
    torch.testing.assert_close(fast, slow, rtol=1e-10, atol=0)
    torch.testing.assert_close(gradients, torch.autograd.grad(slow.square().sum(), (x, y, norm.weight)))
    with torch.no_grad():
        x[2, 0] = torch.nan
        assert (tm.all_pairs(norm, x, y).isnan() == definition(tm.NormInduced(norm), x, y).isnan()).all()


@pytest.mark.parametrize("name", ["NeuralMetric", "NormInduced(WideNorm)", "Siamese"])
def test_under_autocast_distances_keep_the_precision_of_the_head(name: str) -> None:
    distance = zoo.OBJECTS[name](DIM)
    x, y = torch.randn(9, DIM), torch.randn(7, DIM)
    expected = tm.all_pairs(distance, x, y)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = tm.all_pairs(distance, x, y)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, expected, rtol=0.05 if name == "Siamese" else 1e-6, atol=0.05)
