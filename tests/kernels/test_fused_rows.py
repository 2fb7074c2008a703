"""The fused passes of a training step have the values and gradients of their definitions in plain torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from trimetric.distances.batching import distinct_rows
from trimetric.kernels.rows import (
    concave,
    deep,
    differences,
    errors,
    fused,
    group_norms,
    intervals,
    layers,
    orthants,
    pooling,
    residual,
    tolls,
)
from trimetric.kernels.rows.distinct import RowNumbers
from trimetric.training.pairs import PairData

Make = Callable[[int, torch.dtype], tuple[Any, ...]]


def normal(*shape: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(*shape, dtype=dtype).requires_grad_()


def indices(rows: int, pairs: int) -> tuple[Tensor, Tensor]:
    start, end = torch.randint(rows, (2, pairs)) if rows else torch.zeros(2, 0, dtype=torch.long)
    return start, end


# Each pass: the function of autograd, its definition, and arguments for n rows.
PASSES: dict[str, tuple[Callable[..., Tensor], Callable[..., Tensor], Make]] = {
    "differences": (
        differences._RowDifferences.apply,
        lambda table, start, end: table[end] - table[start],
        lambda n, dtype: (normal(n, 5, dtype=dtype), *indices(n, 3 * n)),
    ),
    "group norms": (
        group_norms._GroupNorms.apply,
        group_norms._definition,
        lambda n, dtype: (normal(n, 21, dtype=dtype), 3, False),
    ),
    "rectified group norms": (
        group_norms._GroupNorms.apply,
        group_norms._definition,
        lambda n, dtype: (normal(n, 21, dtype=dtype), 7, True),
    ),
    "projected norms": (
        group_norms._ProjectedNorms.apply,
        group_norms._projected,
        lambda n, dtype: (normal(n, 5, dtype=dtype), normal(3, 4, 5, dtype=dtype), True, False),
    ),
    "projected norms, weights >= 0": (
        group_norms._ProjectedNorms.apply,
        group_norms._projected,
        lambda n, dtype: (normal(n, 5, dtype=dtype), normal(3, 4, 5, dtype=dtype), False, True),
    ),
    "projected norms, filled rows": (
        group_norms._ProjectedNorms.apply,
        group_norms._projected,
        lambda n, dtype: (normal(n, 14, dtype=dtype), normal(3, 4, 14, dtype=dtype), True, False),
    ),
    "both signs": (
        orthants._BothSigns.apply,
        lambda x: torch.cat([x, -x], dim=-1).relu(),
        lambda n, dtype: (normal(n, 5, dtype=dtype),),
    ),
    "maxmean": (
        pooling._MaxMean.apply,
        pooling._definition,
        lambda n, dtype: (normal(n, 7, dtype=dtype), torch.tensor(-0.7, dtype=dtype, requires_grad=True)),
    ),
    "concave": (
        concave._LowestLines.apply,
        concave._definition,
        lambda n, dtype: (normal(n, 7, dtype=dtype), normal(7, 4, dtype=dtype), normal(7, 3, dtype=dtype)),
    ),
    "residual": (
        residual._Residual.apply,
        residual._definition,
        lambda n, dtype: (normal(n, 15, dtype=dtype), 3, 3, 3),
    ),
    "residual, shared": (
        residual._Residual.apply,
        residual._definition,
        lambda n, dtype: (normal(n, 15, dtype=dtype), 3, 5, 0),
    ),
    "residual, groups of one": (
        residual._Residual.apply,
        residual._definition,
        lambda n, dtype: (normal(n, 3, dtype=dtype), 3, 1, 1),
    ),
    "intervals": (
        intervals._RowIntervals.apply,
        intervals._definition,
        lambda n, dtype: (normal(n, 21, dtype=dtype), *indices(n, 3 * n), 3),
    ),
    "deep": (
        deep._DeepUnits.apply,
        deep._definition,
        lambda n, dtype: (
            normal(n, 5, dtype=dtype),
            normal(18, 5, dtype=dtype),
            (8, 6, 4),
            None,
            normal(6, 8, dtype=dtype),
            normal(4, 6, dtype=dtype),
            normal(2, 4, dtype=dtype),
            normal(2, 3, dtype=dtype),
        ),
    ),
    "deep, leaky": (
        deep._DeepUnits.apply,
        deep._definition,
        lambda n, dtype: (normal(n, 12, dtype=dtype), None, (7, 5), 0.1, normal(5, 7, dtype=dtype)),
    ),
    "deep, relu": (
        deep._DeepUnits.apply,
        deep._definition,
        lambda n, dtype: (normal(n, 12, dtype=dtype), None, (7, 5), 0.0, normal(5, 7, dtype=dtype)),
    ),
    "deep, one layer": (
        deep._DeepUnits.apply,
        deep._definition,
        lambda n, dtype: (normal(n, 6, dtype=dtype), None, (6,), None),
    ),
    "tolls": (
        lambda *given: torch.cat(tolls._DifferencesAndTolls.apply(*given), dim=-1),
        tolls._side_by_side,
        lambda n, dtype: (normal(n, 7, dtype=dtype), *indices(n, 3 * n), 3, False, True),
    ),
    "shared tolls, sizes": (
        lambda *given: torch.cat(tolls._DifferencesAndTolls.apply(*given), dim=-1),
        tolls._side_by_side,
        lambda n, dtype: (normal(n, 5, dtype=dtype), *indices(n, 3 * n), 3, True, False),
    ),
    "layers": (
        layers._Layers.apply,
        layers._definition,
        lambda n, dtype: (
            normal(n, 3, dtype=dtype),
            *(normal(7, 3, dtype=dtype), normal(7, dtype=dtype), normal(2, 7, dtype=dtype), normal(2, dtype=dtype)),
        ),
    ),
    "squares": (
        errors._SumOfSquares.apply,
        lambda p, t, factor: factor * (p - t).square().sum().reshape(1),
        lambda n, dtype: (normal(n, dtype=dtype), torch.randn(n, dtype=dtype), 0.25),
    ),
}


def trained(arguments: tuple[Any, ...]) -> list[Tensor]:
    return [a for a in arguments if isinstance(a, Tensor) and a.requires_grad]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rows", [0, 1, 2, 67])
@pytest.mark.parametrize("name", PASSES)
def test_values_and_gradients_are_those_of_the_definition(name: str, rows: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    ours, definition, make = PASSES[name]
    arguments = make(rows, dtype)
    found, expected = ours(*arguments), definition(*arguments)
    torch.testing.assert_close(found, expected)
    pull = torch.randn_like(expected)
    gradients = torch.autograd.grad(found, trained(arguments), pull)
    for one, other in zip(gradients, torch.autograd.grad(expected, trained(arguments), pull), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", PASSES)
def test_second_derivatives(name: str) -> None:
    torch.manual_seed(0)
    ours, _, make = PASSES[name]
    arguments = make(4, torch.float64)
    assert torch.autograd.gradcheck(ours, arguments)
    assert torch.autograd.gradgradcheck(ours, arguments)
    pulls = torch.randn(3, *ours(*arguments).shape, dtype=torch.float64)
    batched = torch.autograd.grad(ours(*arguments), trained(arguments), pulls, is_grads_batched=True)
    for i, pull in enumerate(pulls):
        for one, other in zip(batched, torch.autograd.grad(ours(*arguments), trained(arguments), pull), strict=True):
            torch.testing.assert_close(one[i], other)


@pytest.mark.parametrize("name", [name for name in PASSES if name not in ("deep, one layer",)])
def test_numbers_that_are_not_contiguous(name: str) -> None:
    torch.manual_seed(0)
    ours, definition, make = PASSES[name]
    first, *rest = make(9, torch.float64)
    strided = torch.stack([first.detach()] * 2, dim=-1)[..., 0].requires_grad_()
    found, expected = ours(strided, *rest), definition(first, *rest)
    torch.testing.assert_close(found, expected)
    pull = torch.stack([torch.randn_like(expected)] * 2, dim=-1)[..., 0]
    (one,), (other,) = torch.autograd.grad(found, [strided], pull), torch.autograd.grad(expected, [first], pull)
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", PASSES)
def test_values_that_are_not_finite(name: str, value: float) -> None:
    torch.manual_seed(0)
    ours, definition, make = PASSES[name]
    first, *rest = make(6, torch.float64)
    with torch.no_grad():
        first.view(len(first), -1)[2, 0] = value
    torch.testing.assert_close(ours(first, *rest), definition(first, *rest), equal_nan=True)


def test_a_nan_reaches_the_weights_through_intervals() -> None:
    points, (start, end) = torch.randn(4, 6, requires_grad=True), indices(4, 5)
    lengths = intervals._RowIntervals.apply(points, start, end, 2)
    lengths.backward(torch.full_like(lengths, float("nan")))
    assert points.grad is not None
    assert points.grad[end].isnan().all()


@pytest.mark.parametrize("name", ["group norms", "rectified group norms", "maxmean", "residual", "intervals", "deep"])
def test_ties(name: str) -> None:
    torch.manual_seed(0)
    ours, definition, make = PASSES[name]
    first, *rest = make(40, torch.float64)
    with torch.no_grad():
        first.copy_(first.round())  # many are equal, and some are 0
    torch.testing.assert_close(ours(first, *rest), definition(first, *rest))
    found = ours(first, *rest).sum()
    (gradient,) = torch.autograd.grad(found, [first])
    assert gradient.isfinite().all()
    if name == "maxmean":  # the gradient of equal maxima is shared, as torch does
        (expected,) = torch.autograd.grad(definition(first, *rest).sum(), [first])
        torch.testing.assert_close(gradient, expected)


def test_the_gradient_of_a_tiny_length_is_finite() -> None:
    u = torch.full((1, 4), 1e-30, requires_grad=True)
    with torch.no_grad():
        u[0, 1] = 0
    found = group_norms._GroupNorms.apply(u, 1, True)
    (gradient,) = torch.autograd.grad(found, [u], torch.full((1, 1), 1e30))
    assert not gradient.isnan().any()


def test_distinct_rows_are_numbered_in_order_of_appearance() -> None:
    pairs = torch.randint(50, (300, 2))
    numbers = RowNumbers(pairs)
    for batch in (torch.arange(0), torch.tensor([3]), torch.randperm(300)[:80], torch.arange(300)):
        rows, start, end = numbers.of_batch(batch)
        assert torch.equal(rows[start], pairs[batch, 0])
        assert torch.equal(rows[end], pairs[batch, 1])
        assert torch.equal(rows.sort().values, distinct_rows(None, *pairs[batch].unbind(1))[0])


HEADS: dict[str, Callable[[], tm.Norm | tm.Distance]] = {
    "intervals": lambda: tm.IntervalQuasimetric(10, components=3),
    "deep": lambda: tm.NeuralMetric(tm.DeepNorm(10, widths=(8, 6))),
    "wide": lambda: tm.WideNorm(10, components=4, width=3),
    "paper": lambda: tm.WideNorm(10, components=4, width=3, form="paper"),
    "symmetric": lambda: tm.NeuralMetric(tm.WideNorm(10, components=4, width=3, symmetric=True)),
    "residual": lambda: tm.ResidualMetric(10, components=3),
    "recommended": lambda: tm.recommended(10, symmetric=False, tolls=True),
    "tolls": lambda: tm.TollMetric(tm.WideNorm(8, components=4, width=3), per="head"),
}


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("head", HEADS)
def test_training_without_fused_passes_is_the_same(head: str, dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few objects in many pairs, or many in few: the projections are computed per point, or per pair."""
    objects = torch.rand(12 if dense else 400, 3, dtype=torch.float64)
    pairs = torch.randint(len(objects), (120, 2), generator=torch.Generator().manual_seed(0))
    targets = torch.rand(120, dtype=torch.float64)
    losses = []
    for on in (True, False):
        torch.manual_seed(0)
        model = tm.Siamese(tm.MLP(3, 10, widths=(16, 16)), HEADS[head]()).double()
        if not on:
            monkeypatch.setattr(fused, "_has_numba", lambda: False)
        config = tm.TrainingConfig(epochs=3, batch_size=50, learning_rate=1e-2, weight_decay=1e-3, average=0.9)
        history = tm.fit(model, pairs, targets, objects=objects, config=config, progress="silent")
        losses.append(torch.tensor([epoch.loss for epoch in history.epochs]))
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-7, atol=0)


def test_hooks_are_called() -> None:
    encoder, seen = tm.MLP(3, 4, widths=(5,)), []
    encoder.layers[1].register_forward_hook(lambda *given: seen.append(given[2].shape))
    tm.Siamese(encoder, tm.WideNorm(4)).between_rows(torch.randn(6, 3), torch.arange(2), torch.arange(2, 4))
    assert seen == [(4, 5)]
    norm = tm.DeepNorm(4, widths=(6, 6))
    norm.activations[0].register_forward_hook(lambda *given: seen.append(given[2].shape))
    norm(torch.randn(7, 4))
    assert seen == [(4, 5), (7, 6)]


def test_layers_that_share_modules() -> None:
    shared, relu = nn.Linear(4, 4), nn.ReLU()
    network, x = nn.Sequential(shared, relu, shared, relu, nn.Linear(4, 3)), torch.randn(6, 4)
    found = layers.run_layers(network, x)
    assert "Layers" in type(found.grad_fn).__name__
    torch.testing.assert_close(found, network(x))
    ours = torch.autograd.grad(found.square().sum(), list(network.parameters()))
    expected = torch.autograd.grad(network(x).square().sum(), list(network.parameters()))
    for one, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_rows_of_another_width_are_refused_as_before() -> None:
    model = tm.Siamese(nn.Sequential(nn.Linear(3, 4)), tm.WideNorm(4))
    with pytest.raises(ValueError, match=r"objects: expected"):
        model.embed(torch.randn(2, 5))


def test_predictions_without_gradients_need_no_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(intervals, "_write_lengths", unexpected)
    data = PairData(torch.tensor([[0, 1], [1, 2]]), torch.rand(2), torch.rand(3, 4))
    with torch.no_grad():
        data.predict(tm.IntervalQuasimetric(4), torch.arange(2))
    with pytest.raises(AssertionError):
        data.predict(tm.IntervalQuasimetric(4), torch.arange(2))
