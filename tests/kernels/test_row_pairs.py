"""Pairs of a few points: what needs one point only is computed once a point, with the distances of the definition."""

from __future__ import annotations

import pytest
import torch
import zoo
from torch import nn
from torch.func import functional_call, stack_module_state

import trimetric as tm
from trimetric.norms.activations import MaxReLU, odd_part
from trimetric.training.pairs import PairData

PAIRS = torch.tensor([(i, j) for i in range(7) for j in range(7)])  # some of them of one point


def gradients(module: nn.Module, points: torch.Tensor, distances: torch.Tensor) -> list[torch.Tensor]:
    wanted = [points, *(p for p in module.parameters() if p.requires_grad)]
    found = torch.autograd.grad((distances - 1).square().sum(), wanted, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(wanted, found, strict=True)]


@pytest.mark.parametrize("name", zoo.DISTANCES)
def test_rows_have_the_distances_and_gradients_of_the_definition(name: str) -> None:
    torch.manual_seed(0)
    distance = zoo.DISTANCES[name](zoo.DIM).double()
    points = (100 + torch.randn(7, zoo.DIM, dtype=torch.float64)).requires_grad_()
    start, end = PAIRS[PAIRS[:, 0] != PAIRS[:, 1]].unbind(1)  # at x = y there is no gradient to agree on
    ours, expected = distance.between_rows(points, start, end), distance(points[start], points[end])
    torch.testing.assert_close(ours, expected, rtol=1e-10, atol=1e-10)
    for one, other in zip(gradients(distance, points, ours), gradients(distance, points, expected), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(
        distance.between_rows(points, *PAIRS.unbind(1)), distance(points[PAIRS[:, 0]], points[PAIRS[:, 1]])
    )


@pytest.mark.parametrize("widths", [(6,), (8, 6), (8, 6, 4)])
@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "maxrelu"])
def test_both_directions_of_a_deep_norm_share_a_product(activation: str, widths: tuple[int, ...]) -> None:
    norm = tm.DeepNorm(5, widths=widths, activation=activation).double()  # type: ignore[arg-type]
    x = torch.randn(9, 5, dtype=torch.float64)
    split = norm.split_both_ways()
    both = split.components(split.linear(x))
    torch.testing.assert_close(both, norm.components(x) + norm.components(-x), rtol=1e-12, atol=1e-12)


def test_odd_parts_are_linear() -> None:
    x = torch.randn(4, 6)
    for activation in (nn.ReLU(), nn.LeakyReLU(0.1), MaxReLU(6)):
        torch.testing.assert_close(odd_part(activation, x), activation(x) - activation(-x))
    with pytest.raises(TypeError, match="activation: expected relu, leaky relu or MaxReLU, got Tanh"):
        odd_part(nn.Tanh(), x)


def test_training_takes_the_short_way_where_there_are_fewer_objects_than_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tm.Siamese(nn.Embedding(7, 4), tm.NeuralMetric(tm.DeepNorm(4, widths=(6, 4))))
    calls = []
    original = tm.DeepNorm.linear_split
    monkeypatch.setattr(tm.DeepNorm, "linear_split", lambda norm: (calls.append("once per point"), original(norm))[1])
    data = PairData(PAIRS, torch.rand(len(PAIRS)), None)
    many = data.predict(model, torch.arange(len(PAIRS)))
    assert calls == ["once per point"]
    few = data.predict(model, torch.tensor([1, 30]))
    assert calls == ["once per point"]
    torch.testing.assert_close(few, many[[1, 30]])


def test_vmap_takes_rows() -> None:
    heads = [tm.NeuralMetric(tm.Symmetrized(tm.DeepNorm(4, widths=(6, 4)))) for _ in range(3)]
    parameters, _ = stack_module_state(heads)  # type: ignore[arg-type]
    points = torch.randn(7, 4)
    start, end = PAIRS.unbind(1)

    class Rows(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = heads[0]

        def forward(self) -> torch.Tensor:
            return self.head.between_rows(points, start, end)

    rows = Rows()
    found = torch.func.vmap(lambda p: functional_call(rows, {f"head.{k}": v for k, v in p.items()}, ()))(parameters)
    torch.testing.assert_close(found, torch.stack([head(points[start], points[end]) for head in heads]))


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # torch hides it, but not from a filter that raises
@pytest.mark.parametrize("rows", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_compiled_maximum_keeps_its_gradient(rows: bool) -> None:
    torch.compiler.reset()
    torch.manual_seed(0)
    distance = tm.NeuralMetric(tm.WideNorm(16, components=16, width=6)).double()
    points = torch.randn(40, 16, dtype=torch.float64, requires_grad=True)
    start, end = torch.randint(40, (2, 300))
    start, end = start[start != end], end[start != end]
    measured = distance.between_rows if rows else lambda points, start, end: distance(points[start], points[end])
    expected = gradients(distance, points, measured(points, start, end))
    ours = gradients(distance, points, torch.compile(measured)(points, start, end))
    for one, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8)
