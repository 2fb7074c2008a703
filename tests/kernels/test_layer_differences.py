"""The last linear layer of an encoder on differences of pairs, where the head reads nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from unittest.mock import patch

import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from trimetric.kernels.rows import fused, layers

SIZES = {"one layer": (3, 5), "two layers": (3, 7, 5), "three layers": (3, 7, 6, 5)}


def network(sizes: tuple[int, ...], dtype: torch.dtype) -> nn.Sequential:
    modules: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        modules += [nn.Linear(before, after, dtype=dtype), nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def gradients(value: Tensor, *of: Tensor) -> tuple[Tensor, ...]:
    weights = torch.linspace(0.5, 2, value.numel(), dtype=value.dtype).view_as(value)
    return torch.autograd.grad((value * weights).sum(), of)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("rows", "pairs"), [(1, 0), (1, 1), (67, 31), (8, 8)])
@pytest.mark.parametrize("kind", SIZES)
def test_values_and_gradients_are_those_of_the_points(kind: str, rows: int, pairs: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    net, x = network(SIZES[kind], dtype), torch.randn(rows, 3, dtype=dtype).requires_grad_()
    start, end = torch.randint(rows, (2, pairs))
    found = layers.layer_differences(net, x, start, end)
    assert found is not None
    expected = net(x)[end] - net(x)[start]
    torch.testing.assert_close(found, expected)
    parameters = [x, *net.parameters()]
    for one, other in zip(gradients(found, *parameters), gradients(expected, *parameters), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("frozen", [(0,), (1,), (2, 3), (0, 1, 2, 3)])
def test_parameters_without_a_gradient(frozen: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    net, x = network(SIZES["two layers"], torch.float64), torch.randn(9, 3, dtype=torch.float64).requires_grad_()
    for i in frozen:
        list(net.parameters())[i].requires_grad_(False)
    start, end = torch.randint(9, (2, 6))
    of = [x, *(own for own in net.parameters() if own.requires_grad)]
    found, expected = layers.layer_differences(net, x, start, end), net(x)[end] - net(x)[start]
    assert found is not None
    for one, other in zip(gradients(found, *of), gradients(expected, *of), strict=True):
        torch.testing.assert_close(one, other)
    x = x.detach()
    found, expected = layers.layer_differences(net, x, start, end), net(x)[end] - net(x)[start]
    assert found is not None
    if len(of) > 1:
        for one, other in zip(gradients(found, *of[1:]), gradients(expected, *of[1:]), strict=True):
            torch.testing.assert_close(one, other)


def test_second_derivatives_and_strided_rows() -> None:
    torch.manual_seed(0)
    net = network(SIZES["two layers"], torch.float64)
    x = torch.randn(3, 6, dtype=torch.float64).mT.requires_grad_()
    start, end = torch.randint(6, (2, 10))[:, ::2]
    weights = list(net.parameters())

    def ours(x: Tensor, *_: Tensor) -> Tensor:
        found = layers.layer_differences(net, x, start, end)
        assert found is not None
        return found

    assert torch.autograd.gradcheck(ours, (x, *weights))
    assert torch.autograd.gradgradcheck(ours, (x, *weights))


HEADS: dict[str, Callable[[], tm.Norm | tm.Distance]] = {
    "wide": lambda: tm.WideNorm(8),
    "residual": lambda: tm.ResidualMetric(8, components=2),
    "concave": lambda: tm.Calibrated(tm.NeuralMetric(tm.WideNorm(8, symmetric=True))),
    "tolls": lambda: tm.TollMetric(tm.WideNorm(6)),
    "intervals": lambda: tm.IntervalQuasimetric(8, components=2),
}


@pytest.mark.parametrize("encoder", ["MLP", "waves", "sequence"])
@pytest.mark.parametrize("head", HEADS)
def test_a_model_of_differences_is_the_same_as_in_plain_torch(head: str, encoder: str) -> None:
    torch.manual_seed(0)
    made = {
        "MLP": lambda: tm.MLP(3, 8, widths=(7,)),
        "waves": lambda: tm.MLP(3, 8, widths=(7,), waves=2),
        "sequence": lambda: network((3, 7, 8), torch.float32),
    }
    model = tm.Siamese(made[encoder](), HEADS[head]()).double()
    objects = torch.randn(12, 3, dtype=torch.float64)
    start, end = torch.randint(12, (2, 9))
    end[0] = start[0]
    with patch.object(layers._LayerDifferences, "apply", side_effect=layers._LayerDifferences.apply) as used:
        found = model.between_rows(objects, start, end)
    assert used.called == (head not in ("tolls", "intervals"))
    with patch.object(fused, "_has_numba", return_value=False):
        expected = model.between_rows(objects, start, end)
    torch.testing.assert_close(found, expected)
    assert found[0] == 0
    of = list(model.parameters())
    ours = torch.autograd.grad(found.square().sum(), of, allow_unused=True)
    theirs = torch.autograd.grad(expected.square().sum(), of, allow_unused=True)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_who_watches_or_replaces_the_encoder_gets_its_points() -> None:
    class Doubled(tm.MLP):
        def forward(self, x: Tensor) -> Tensor:
            return 2 * super().forward(x)

    torch.manual_seed(0)
    objects, start, end = torch.randn(5, 3), torch.tensor([0, 1]), torch.tensor([2, 3])
    model = tm.Siamese(Doubled(3, 4), tm.Euclidean(4))
    torch.testing.assert_close(model.between_rows(objects, start, end), model(objects[start], objects[end]))
    watched, seen = tm.MLP(3, 4), []
    watched.register_forward_hook(lambda *given: seen.append(given[2].shape))
    tm.Siamese(watched, tm.Euclidean(4)).between_rows(objects[:4], start, end)
    assert seen == [(4, 4)]


def test_without_machine_code_plain_torch_computes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its loop would run in Python, a thousand times as slow."""
    monkeypatch.setattr("trimetric.kernels.rows.fused._has_numba", lambda: False)
    network = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    rows = torch.arange(4)
    assert layers.layer_differences(network, torch.randn(9, 3), rows, rows + 1) is None
