"""Products by oneDNN have the values and gradients of plain torch, whatever library this processor prefers."""

from __future__ import annotations

import pytest
import torch
from test_fused_rows import PASSES, trained
from torch import Tensor
from torch.nn import functional as F

from trimetric.kernels import products
from trimetric.kernels.rows import group_norms
from trimetric.kernels.rows.linear import linear
from trimetric.norms import DeepNorm, Mahalanobis, Symmetrized, WideNorm

CLOSE = {"rtol": 1e-4, "atol": 1e-5}
SIZES = [(1, 8, 8), (63, 8, 17), (64, 128, 9), (65, 33, 40), (200, 130, 64)]


@pytest.fixture(autouse=True)
def _always_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    if not products.has_onednn():
        pytest.skip("this torch comes without oneDNN")
    monkeypatch.setattr(products, "WORTH_PREPARING", 1)
    monkeypatch.setattr(products, "prefers_onednn", lambda: True)
    torch.manual_seed(0)


def ways_to_lie(matrix: Tensor) -> list[Tensor]:
    """The same numbers: contiguous, transposed in memory, and every other column of a wider matrix."""
    return [matrix, matrix.mT.contiguous().mT, torch.stack([matrix, -matrix], dim=-1).flatten(1)[:, ::2]]


@pytest.mark.parametrize(("n", "k", "m"), SIZES)
def test_products_of_matrices_however_they_lie(n: int, k: int, m: int) -> None:
    x, weight, bias = torch.randn(n, k), torch.randn(m, k), torch.randn(m)
    assert products.uses_onednn(x, weight)
    for a in ways_to_lie(x):
        for b in ways_to_lie(weight):
            torch.testing.assert_close(products.times_transposed(a, b), x @ weight.mT, **CLOSE)
            torch.testing.assert_close(products.times(a, b.mT), x @ weight.mT, **CLOSE)
            with_bias = products.times_transposed(a, b, bias, relu=True)
            torch.testing.assert_close(with_bias, F.linear(x, weight, bias).relu(), **CLOSE)
        for other in ways_to_lie(torch.randn(n, m)):
            torch.testing.assert_close(products.transposed_times(a, other), x.mT @ other, **CLOSE)


@pytest.mark.parametrize(("n", "k", "m"), SIZES)
def test_linear_maps(n: int, k: int, m: int) -> None:
    x, weight = torch.randn(n, k, requires_grad=True), torch.randn(m, k, requires_grad=True)
    found, expected, pull = linear(x, weight), F.linear(x, weight), torch.randn(n, m)
    torch.testing.assert_close(found, expected, **CLOSE)
    assert "_Linear" in type(found.grad_fn).__name__
    for one, other in zip(*(torch.autograd.grad(y, [x, weight], pull) for y in (found, expected)), strict=True):
        torch.testing.assert_close(one, other, **CLOSE)
    with torch.no_grad():
        torch.testing.assert_close(linear(x, weight), expected, **CLOSE)
        torch.testing.assert_close(linear(x[None, :, None], weight)[0, :, 0], expected, **CLOSE)


def test_second_derivatives_of_linear_maps() -> None:
    x, weight = torch.randn(9, 8, requires_grad=True), torch.randn(8, 8, requires_grad=True)
    (slope,) = torch.autograd.grad(linear(x, weight).square().sum(), x, create_graph=True)
    (found,) = torch.autograd.grad(slope.sum(), weight)
    (slope,) = torch.autograd.grad(F.linear(x, weight).square().sum(), x, create_graph=True)
    torch.testing.assert_close(found, torch.autograd.grad(slope.sum(), weight)[0], **CLOSE)


@pytest.mark.parametrize("name", PASSES)
def test_fused_passes(name: str) -> None:
    ours, definition, make = PASSES[name]
    arguments = make(67, torch.float32)
    found, expected = ours(*arguments), definition(*arguments)
    torch.testing.assert_close(found, expected, **CLOSE)
    pull = torch.randn_like(expected)
    gradients = torch.autograd.grad(found, trained(arguments), pull)
    for one, other in zip(gradients, torch.autograd.grad(expected, trained(arguments), pull), strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


@pytest.mark.parametrize("rows", [1, group_norms.BLOCK, 2 * group_norms.BLOCK + 5])
@pytest.mark.parametrize(
    "norm",
    [
        WideNorm(9, components=3, width=8),
        WideNorm(9, components=3, width=8, form="paper"),
        WideNorm(9, components=3, width=8, symmetric=True, monotone=True),
        DeepNorm(9, widths=(16, 8)),
        Symmetrized(DeepNorm(9, widths=(16, 8))),
        Mahalanobis(9),
    ],
    ids=["rectified", "paper", "monotone", "deep", "symmetrized", "mahalanobis"],
)
def test_norms_without_gradients(norm: torch.nn.Module, rows: int) -> None:
    x = torch.randn(rows, 9)
    with torch.no_grad():
        found = norm(x)
    expected = norm.double()(x.double()).float()
    norm.float()
    torch.testing.assert_close(found, expected, **CLOSE)
