"""A `Siamese` and a `Distance` answer the same calls by the same names."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from trimetric.distances import ObjectDistance
from trimetric.distances.encoder_inputs import FeatureVectors, ObjectNumbers, inputs_of

NETWORKS = {
    "a distance": lambda: tm.NeuralMetric(tm.WideNorm(4, components=3, width=2)),
    "an encoder of features": lambda: tm.Siamese(tm.MLP(4, 5, widths=(8,), waves=1), tm.TollMetric(tm.WideNorm(3))),
    "a table of points": lambda: tm.Siamese(nn.Embedding(9, 3), tm.DeepNorm(3, widths=(6,))),
}
START, END = torch.tensor([0, 1, 2, 2, 8, 8, 5, 3, 3, 0, 1]), torch.tensor([1, 0, 2, 7, 8, 1, 4, 3, 5, 6, 7])


def objects_of(network: ObjectDistance) -> Tensor:
    return torch.arange(9) if isinstance(inputs_of(network.reader), ObjectNumbers) else torch.randn(9, 4)


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("pairs", [11, 3])
@pytest.mark.parametrize("name", NETWORKS)
def test_every_way_to_ask_gives_the_same(
    name: str, pairs: int, gradients: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    network: ObjectDistance = NETWORKS[name]()
    objects, start, end = objects_of(network), START[:pairs], END[:pairs]
    expected = network(objects[start], objects[end])
    monkeypatch.setattr("trimetric.distances.base.PAIRS_AT_ONCE", 2)
    monkeypatch.setattr("trimetric.distances.siamese.OBJECTS_AT_ONCE", 2)
    with torch.set_grad_enabled(gradients):
        points = network.embed(objects)
        torch.testing.assert_close(network.head(points[start], points[end]), expected)
        torch.testing.assert_close(network.between_rows(objects, start, end), expected)
        torch.testing.assert_close(tm.all_pairs(network, objects)[start, end], expected)


def test_chunks_bound_what_is_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    encoder = nn.Linear(4, 3)
    encoder.register_forward_hook(lambda _, given, __: sizes.append(len(given[0])))
    network = tm.Siamese(encoder, tm.Euclidean(3))
    monkeypatch.setattr("trimetric.distances.siamese.OBJECTS_AT_ONCE", 4)
    with torch.no_grad():
        network.between_rows(torch.randn(9, 4), START, END)
    assert sizes == [4, 4, 1]
    sizes.clear()
    network.between_rows(torch.randn(9, 4), START, END)
    network.between_rows(torch.randn(500, 4), START, END)
    assert sizes == [9, 9]  # those in use, each once


class Doubled(tm.Siamese):
    """Twice the distance, as `forward` alone says."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * super().forward(x, y)


class Tripled(tm.NormInduced):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return 3 * super().forward(x, y)


@pytest.mark.parametrize("network", [Doubled(nn.Linear(4, 3), tm.WideNorm(3)), Tripled(tm.WideNorm(4))])
def test_an_overridden_forward_is_asked_everywhere(network: ObjectDistance) -> None:
    objects, pairs = torch.randn(9, 4), torch.stack([START, END], dim=1)
    expected = network(objects[START], objects[END]).detach()
    torch.testing.assert_close(network.between_rows(objects, START, END), expected)
    torch.testing.assert_close(tm.all_pairs(network, objects)[START, END], expected)
    model = tm.Model(network, list("abcdefghi"), objects)
    torch.testing.assert_close(model.distances(objects[START], objects[END]), expected)
    torch.testing.assert_close(model.all_pairs()[START, END], expected)
    torch.testing.assert_close(model.between_rows(pairs), expected)


@pytest.mark.parametrize("several", [True, False])
def test_fit_trains_an_overridden_forward(several: bool) -> None:
    objects, pairs = torch.randn(9, 4), torch.stack([START, END], dim=1)
    networks = [Doubled(nn.Linear(4, 3), tm.Euclidean(3)) for _ in range(2)]
    targets = networks[0](objects[START], objects[END]).detach()
    config = tm.TrainingConfig(epochs=1, learning_rate=1e-12, batch_size=20)
    data = {"objects": objects, "validation": (pairs, targets), "config": config, "progress": "silent"}
    if several:
        history = tm.fit_many(networks, pairs, targets, seeds=[0, 1], **data)[0]  # type: ignore[arg-type]
    else:
        history = tm.fit(networks[0], pairs, targets, **data)  # type: ignore[arg-type]
    assert history.epochs[0].loss == pytest.approx(0, abs=1e-10)
    assert history.epochs[0].validation_mse == pytest.approx(0, abs=1e-10)


def test_what_an_encoder_reads() -> None:
    assert inputs_of(tm.MLP(3, 4, waves=2)) == FeatureVectors(3, torch.float32)
    assert inputs_of(tm.NormInduced(tm.WideNorm(5))) == FeatureVectors(5, torch.float32)
    flat = nn.Sequential(nn.Flatten(), nn.Linear(6, 2))
    assert inputs_of(flat) is None
    assert inputs_of(flat, guess=True) == FeatureVectors(6, torch.float32)
    with pytest.raises(ValueError, match=r"objects: expected last axis 3, which the encoder \(MLP\) reads"):
        tm.Siamese(tm.MLP(3, 4, waves=2), tm.Euclidean(4)).embed(torch.randn(2, 5))
