"""Every argument of every layer survives a save, or the layer is refused: no function comes back as another."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from trimetric._support.described import _LAYERS, _NO_PART, Described, build, describe

NEEDED: dict[type[nn.Module], dict[str, Any]] = {
    nn.Linear: {"in_features": 6, "out_features": 3},
    nn.Embedding: {"num_embeddings": 6, "embedding_dim": 3},
    nn.Conv2d: {"in_channels": 2, "out_channels": 2, "kernel_size": 3},
    nn.MaxPool2d: {"kernel_size": 3},
    nn.AvgPool2d: {"kernel_size": 3},
    nn.BatchNorm1d: {"num_features": 6},
    nn.BatchNorm2d: {"num_features": 2},
    nn.LayerNorm: {"normalized_shape": 6},
}
# A value for each argument that has a default, other than the default.
OTHER: dict[str, Any] = {
    "bias": False,
    "padding_idx": 2,
    "max_norm": 0.5,
    "norm_type": 1.0,
    "scale_grad_by_freq": True,
    "sparse": True,
    "stride": 2,
    "padding": 1,
    "dilation": 2,
    "groups": 2,
    "padding_mode": "circular",
    "return_indices": True,
    "ceil_mode": True,
    "count_include_pad": False,
    "divisor_override": 1,
    "eps": 0.1,
    "momentum": None,
    "affine": False,
    "track_running_stats": False,
    "elementwise_affine": False,
    "p": 0.25,
    "inplace": True,
    "start_dim": 2,
    "end_dim": 2,
    "negative_slope": 0.3,
    "alpha": 0.7,
    "approximate": "tanh",
    "beta": 2.0,
    "threshold": 0.1,
}
# What makes a difference only together with another.
WITH: dict[str, dict[str, Any]] = {
    "padding_mode": {"padding": 1},
    "count_include_pad": {"padding": 1},
    "norm_type": {"max_norm": 0.5},
}


def _arguments(layer: type[nn.Module]) -> list[str]:
    """Those with a default, as this version of torch has them."""
    return [
        name
        for name, parameter in inspect.signature(layer).parameters.items()
        if name not in _NO_PART and parameter.default is not parameter.empty
    ]


CASES = [(layer, name) for layer in _LAYERS for name in (None, *_arguments(layer))]


def _input(layer: type[nn.Module]) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    if layer is nn.Embedding:
        return torch.arange(6)
    images = layer in (nn.Conv2d, nn.MaxPool2d, nn.AvgPool2d, nn.BatchNorm2d, nn.Flatten)
    return torch.randn((3, 2, 8, 8) if images else (5, 6), generator=generator)


def _outcome(layer: nn.Module) -> tuple[Tensor, ...]:
    with torch.no_grad():
        found = layer.eval()(_input(type(layer)))
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize(("layer", "name"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_an_argument_of_a_layer_comes_back(layer: type[nn.Module], name: str | None) -> None:
    chosen = {} if name is None else {**WITH.get(name, {}), name: OTHER[name]}
    made = layer(**NEEDED.get(layer, {}), **chosen)
    for parameter in made.parameters():
        parameter.data.normal_()
    described = describe(made)
    again = build(described)
    again.load_state_dict(made.state_dict())
    assert describe(again) == described
    if name is not None:
        assert name in described["arguments"] or getattr(again, name) == OTHER[name]
    for one, other in zip(_outcome(made), _outcome(again), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"),
        nn.AvgPool2d(2, padding=1, count_include_pad=False),
        nn.AvgPool2d(2, divisor_override=1),
        nn.MaxPool2d(2, dilation=2, ceil_mode=True),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_a_saved_encoder_of_images_is_the_same_function(layer: nn.Module, tmp_path: Path) -> None:
    images = torch.randn(4, 1, 6, 6)
    flat = nn.Sequential(layer, nn.Flatten())(images).shape[1]
    model = tm.Model(tm.Siamese(nn.Sequential(layer, nn.Flatten(), nn.Linear(flat, 3)), tm.Euclidean(3)))
    loaded = tm.Model.load(model.save(tmp_path / "m.safetensors"))
    assert torch.equal(loaded.distances(images[:2], images[2:]), model.distances(images[:2], images[2:]))


def test_an_argument_that_cannot_be_told_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As a later torch may bring one."""
    known = inspect.signature
    more = inspect.Parameter("novel", inspect.Parameter.KEYWORD_ONLY, default=0)

    def signature(kind: Any) -> inspect.Signature:
        found = known(kind)
        return found.replace(parameters=[more]) if kind is nn.Tanh else found

    monkeypatch.setattr(inspect, "signature", signature)
    with pytest.raises(TypeError, match=r"Tanh.novel: expected an argument that can be told from the layer"):
        tm.Model(tm.Siamese(nn.Tanh(), tm.Euclidean(3))).save(tmp_path / "m.safetensors")


class _Forgetful(Described):
    """An encoder whose attribute is changed after it was built."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * self.layer(x)


def test_what_would_come_back_as_another_function_is_not_saved(tmp_path: Path) -> None:
    file = tmp_path / "m.safetensors"
    file.write_bytes(b"old")
    encoder = _Forgetful()
    encoder.factor = 2.0
    ids = ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"network: .* but: it gives other distances for the same objects; nothing"):
        tm.Model(tm.Siamese(encoder, tm.Euclidean(3)), ids, torch.randn(3, 3)).save(file)
    head = tm.TollMetric(tm.WideNorm(3))
    head.map = "abs"
    with pytest.raises(ValueError, match=r"network: .* but: its distance gives other values for the same points"):
        tm.Model(head).save(file)
    hooked = nn.Linear(3, 3)
    hooked.register_forward_hook(lambda _, __, output: output + output.abs())
    with pytest.raises(ValueError, match="other distances"):
        tm.Model(tm.Siamese(hooked, tm.Euclidean(3))).save(file)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_layer_that_loses_an_argument_is_found_without_inputs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The check after a save does not rely on the description being complete."""
    complete = describe

    def lossy(module: nn.Module) -> dict[str, Any]:
        found = complete(module)
        del found["arguments"]["encoder"]["arguments"]["layers"][0]["arguments"]["padding_mode"]
        return found

    monkeypatch.setattr("trimetric.models.model.describe", lossy)
    encoder = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), nn.Flatten())
    with pytest.raises(ValueError, match=r"encoder.0.padding_mode was 'circular' and comes back as None"):
        tm.Model(tm.Siamese(encoder, tm.Euclidean(8))).save(tmp_path / "m.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_save_changes_nothing_in_the_network(tmp_path: Path) -> None:
    encoder = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.ReLU(inplace=True))
    network = tm.Siamese(encoder, tm.Euclidean(4)).train()
    encoder[2].eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    state = torch.get_rng_state()
    tm.Model(network).save(tmp_path / "m.safetensors")
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert network.training
    assert not encoder[2].training


def test_mixed_types_come_back(tmp_path: Path) -> None:
    network = tm.Siamese(nn.Linear(3, 2).double(), tm.NormInduced(tm.Mahalanobis(2)).double())
    network.encoder.bias.data = network.encoder.bias.data.float()
    loaded = tm.Model.load(tm.Model(network).save(tmp_path / "m.safetensors"))
    assert {name: value.dtype for name, value in loaded.network.state_dict().items()} == {
        name: value.dtype for name, value in network.state_dict().items()
    }
