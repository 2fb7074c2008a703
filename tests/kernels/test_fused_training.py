"""Training with fused passes is training without them, and what fused passes must leave alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from trimetric.distances.batching import distinct_rows
from trimetric.kernels.rows import fused, intervals, layers
from trimetric.kernels.rows.distinct import RowNumbers
from trimetric.kernels.rows.errors import _write_errors
from trimetric.training.pairs import PairData


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


class Doubled(tm.NormInduced):
    def components(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * super().components(x, y)


def test_a_subclass_that_changes_the_components_is_asked() -> None:
    torch.manual_seed(0)
    norm, x = tm.WideNorm(4, components=3, width=2), torch.randn(6, 4)
    start, end = torch.arange(2), torch.arange(2, 4)
    once = tm.NormInduced(norm).between_rows(x, start, end)
    torch.testing.assert_close(Doubled(norm).between_rows(x, start, end), 2 * once)
    torch.testing.assert_close(Doubled(norm).between_rows(x[:4], start.repeat(4), end.repeat(4)), 2 * once.repeat(4))
    encoder, objects = tm.MLP(3, 4, widths=(5,)), torch.randn(6, 3)
    once = tm.Siamese(encoder, norm).between_rows(objects, start, end)
    torch.testing.assert_close(tm.Siamese(encoder, Doubled(norm)).between_rows(objects, start, end), 2 * once)


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


def test_the_sum_of_squares_does_not_depend_on_where_its_arrays_lie() -> None:
    """A run that is resumed must add up as one that was not, in whatever memory."""
    pytest.importorskip("numba")
    predictions, targets, table = torch.randn(26), torch.randn(26), torch.empty(1000)
    sums = set()
    for place in range(26, 200):
        table[:26], total = predictions, torch.empty(1)
        _write_errors(table[:26], targets, 0.1, table[place : place + 26], total)
        sums.add(total.item())
    assert len(sums) == 1
