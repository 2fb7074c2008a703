"""A few distances by name: as the network computes them, whatever becomes of its weights."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from unittest.mock import patch

import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from tests.zoo import DIM, DISTANCES
from trimetric.models.few_pairs import AT_MOST
from trimetric.models.heads import make_head

NAMES = [str(i) for i in range(60)]


def by_definition(model: tm.Model, sources: list[str], targets: list[str]) -> Tensor:
    with torch.no_grad():
        return model.network.eval()(model.objects(sources), model.objects(targets))


def check(model: tm.Model) -> None:
    for count in (1, 2, 7, AT_MOST):
        sources, targets = NAMES[:count], NAMES[5 : 5 + count]
        expected = by_definition(model, sources, targets)
        torch.testing.assert_close(model.distances(sources, targets), expected, equal_nan=True)
    same = by_definition(model, NAMES[:3], NAMES[:3])
    torch.testing.assert_close(model.distances(NAMES[:3], NAMES[:3]), same, rtol=0, atol=0, equal_nan=True)


def head_model(dtype: torch.dtype = torch.float32) -> tm.Model:
    torch.manual_seed(0)
    head = tm.Calibrated(make_head("wide", 6, concave_units=4)).to(dtype)
    return tm.Model(head, NAMES, torch.randn(60, 6, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", DISTANCES)
def test_every_head(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    made = DISTANCES[name](DIM)
    head = (tm.NormInduced(made) if isinstance(made, tm.Norm) else made).to(dtype)
    check(tm.Model(head, NAMES, torch.randn(60, head.dim, dtype=dtype)))


@pytest.mark.parametrize("encoder", ["embedding", "MLP", "sequential"])
def test_encoders(encoder: str) -> None:
    torch.manual_seed(0)
    made = {
        "embedding": lambda: nn.Embedding(60, 6),
        "MLP": lambda: tm.MLP(3, 6, widths=(5,)),
        "sequential": lambda: nn.Sequential(nn.Linear(3, 6), nn.Dropout(0.5)),
    }[encoder]()
    features = None if encoder == "embedding" else torch.randn(60, 3).round(decimals=1)
    if features is not None:
        features[5] = features[0]  # other names of equal objects
    model = tm.Model(tm.Siamese(made, tm.TollMetric(tm.WideNorm(4))), NAMES, features)
    check(model)
    model.network.train()
    check(model)  # which is in evaluation mode again
    if features is not None:
        assert model.distances(["0"], ["5"]).item() == 0


def _by_optimizer(model: tm.Model) -> None:
    optimizer = torch.optim.SGD(model.network.parameters(), lr=0.1)
    model.network(model.objects(["1", "2"]), model.objects(["3", "4"])).sum().backward()
    optimizer.step()


def _in_place(model: tm.Model) -> None:
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.mul_(1.5)


def _behind_the_back(model: tm.Model) -> None:
    for tensor in (*model.network.parameters(), *model.network.buffers()):
        tensor.data.mul_(1.5)


def _by_new_storage(model: tm.Model) -> None:
    for parameter in model.network.parameters():
        parameter.data = parameter.data * 1.5


def _by_new_parameters(model: tm.Model) -> None:
    for module in model.network.modules():
        for name, parameter in list(module._parameters.items()):
            if parameter is not None:
                setattr(module, name, nn.Parameter(parameter.detach() * 1.5))


def _by_state(model: tm.Model) -> None:
    model.network.load_state_dict({name: 1.5 * value for name, value in model.network.state_dict().items()})


def _by_calibration(model: tm.Model) -> None:
    model.network.calibrate(torch.tensor([1.0, 2.0]), torch.tensor([30.0, 50.0]))  # type: ignore[operator]


def _by_another_part(model: tm.Model) -> None:
    model.network.inner.concave = copy.deepcopy(model.network.inner.concave)  # type: ignore[union-attr,operator]
    model.network.inner.concave.raw_slope.data.mul_(2)  # type: ignore[union-attr]


def _by_other_features(model: tm.Model) -> None:
    model.features = torch.randn(60, 6)


def _by_features_in_place(model: tm.Model) -> None:
    assert model.features is not None
    model.features.mul_(2)


def _by_another_network(model: tm.Model) -> None:
    model.network = tm.NormInduced(tm.WideNorm(6))


CHANGES = [
    _by_optimizer,
    _in_place,
    _behind_the_back,
    _by_new_storage,
    _by_new_parameters,
    _by_state,
    _by_calibration,
    _by_another_part,
    _by_other_features,
    _by_features_in_place,
    _by_another_network,
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_seen(change: Callable[[tm.Model], None]) -> None:
    model = head_model()
    before = model.distances(["1"], ["2"])
    check(model)
    change(model)
    check(model)
    assert not torch.equal(model.distances(["1"], ["2"]), before)


def test_the_network_is_not_called() -> None:
    model = head_model()
    with patch.object(tm.Calibrated, "transform", side_effect=AssertionError):
        model.distances(["1"], ["2"])
        with pytest.raises(AssertionError):
            model.distances(("1",), ("2",))


def test_hooks_are_called() -> None:
    model, seen = head_model(), []
    model.distances(["1"], ["2"])
    model.network.register_forward_hook(lambda *given: seen.append(given[2].shape))
    model.distances(["1"], ["2"])
    assert seen == [(1,)]


class Doubled(tm.WideNorm):
    def components(self, x: Tensor) -> Tensor:
        return 2 * super().components(x)


class Tripled(tm.NormInduced):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return 3 * super().forward(x, y)


@pytest.mark.parametrize("head", [tm.NormInduced(Doubled(6)), Tripled(tm.WideNorm(6))])
def test_classes_of_others_are_asked(head: tm.Distance) -> None:
    check(tm.Model(head, NAMES, torch.randn(60, 6)))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e30])
def test_strange_numbers(value: float) -> None:
    model = head_model()
    assert model.features is not None
    model.features[2, 0] = value
    check(model)


def test_copies_and_pickles() -> None:
    model = head_model()
    expected = model.distances(["1"], ["2"])
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(again.distances(["1"], ["2"]), expected)


def test_unknown_names_and_other_dtypes_are_refused_as_before() -> None:
    model = head_model()
    model.distances(["1"], ["2"])
    with pytest.raises(ValueError, match="names: 'x' is not among the 60"):
        model.distances(["1"], ["x"])
    model.network.double()
    with pytest.raises(TypeError, match="expected the dtype of the weights"):
        model.distances(["1"], ["2"])
