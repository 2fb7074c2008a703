"""The fused passes of a training step have the values and gradients of their definitions in plain torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from trimetric.kernels.rows import (
    concave,
    deep,
    differences,
    errors,
    group_norms,
    intervals,
    layers,
    orthants,
    pooling,
    residual,
    tolls,
)

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
    "projected norms, rows of a page": (
        group_norms._ProjectedNorms.apply,
        group_norms._projected,
        lambda n, dtype: (normal(n, 3, dtype=dtype), normal(32, 32, 3, dtype=dtype), True, False),
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
    "components and tolls": (
        tolls._AddTolls.apply,
        tolls._sums,
        lambda n, dtype: (normal(n, 5, dtype=dtype), normal(n, 1, dtype=dtype), torch.arange(n) % 3 > 0),
    ),
    "components and their own tolls": (
        tolls._AddTolls.apply,
        tolls._sums,
        lambda n, dtype: (normal(n, 5, dtype=dtype), normal(n, 5, dtype=dtype), torch.arange(n) % 3 > 0),
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
def test_a_second_pass_over_the_same_graph(name: str) -> None:
    """What a backward pass overwrites must not reach the next one."""
    torch.manual_seed(0)
    ours, definition, make = PASSES[name]
    arguments = make(9, torch.float64)
    found, expected = ours(*arguments), definition(*arguments)
    for _ in range(3):
        pull = torch.randn_like(expected)
        gradients = torch.autograd.grad(found, trained(arguments), pull, retain_graph=True)
        again = torch.autograd.grad(expected, trained(arguments), pull, retain_graph=True)
        for one, other in zip(gradients, again, strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", [name for name in PASSES if name != "projected norms, rows of a page"])  # too large
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
