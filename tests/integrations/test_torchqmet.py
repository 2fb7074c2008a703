"""torchqmet's names on our distances: documented signatures and values, the promises, and what is refused."""

from __future__ import annotations

import inspect
import itertools
import math
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import zoo
from torch import Tensor, nn

import trimetric as tm
from trimetric.integrations import torchqmet

DIM = 12

HEADS: dict[str, Callable[[], torchqmet.QuasimetricBase]] = {
    "iqe-maxmean": lambda: torchqmet.IQE(DIM, 4),
    "iqe-sum": lambda: torchqmet.IQE(DIM, dim_per_component=4, reduction="sum"),
    "iqe-concave": lambda: torchqmet.IQE(DIM, 4, transforms=("concave_activation",)),
    "iqe2": lambda: torchqmet.IQE2(DIM, 3, reduction="max"),
    "pqe": lambda: torchqmet.PQE(DIM),
    "pqelh-sum": lambda: torchqmet.PQELH(DIM, 3, reduction="sum"),
    "pqegg": lambda: quiet(lambda: torchqmet.PQEGG(DIM, 3)),
    "mrn-1": lambda: torchqmet.MRN(DIM, sym_p=1),
    "mrn-half": lambda: torchqmet.MRN(DIM, 0.5, 8, 5),
    "mrn-fixed": lambda: torchqmet.MRNFixed(DIM, reduction="maxmean"),
    "deep": lambda: torchqmet.DeepNorm(DIM, num_components=8),
    "deep-maxrelu": lambda: torchqmet.DeepNorm(DIM, 8, 2, "maxrelu", "relu"),
    "deep-symmetric": lambda: torchqmet.DeepNorm(DIM, 8, symmetric=True),
    "wide": lambda: torchqmet.WideNorm(DIM, 4, 3),
    "wide-symmetric": lambda: torchqmet.WideNorm(DIM, 4, output_component_size=3, symmetric=True, transforms=()),
}
every_head = pytest.mark.parametrize("name", HEADS)


def quiet(make: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make()


def made(name: str) -> torchqmet.QuasimetricBase:
    torch.manual_seed(0)
    return HEADS[name]()


COMMON = {"discount": None, "warn_if_not_quasimetric": True}
DOCUMENTED: dict[str, dict[str, object]] = {
    "IQE": {"dim_per_component": 16, "transforms": (), "reduction": "maxmean"},
    "PQE": {
        "dim_per_component": 4,
        "measure": "lebesgue",
        "shape": "halfline",
        "transforms": (),
        "reduction": "deep_linear_net_weighted_sum",
    },
    "MRN": {"sym_p": 2, "proj_hidden_size": 176, "proj_output_size": 16, "transforms": (), "reduction": "sum"},
    "MRNFixed": {"sym_p": 1, "proj_hidden_size": 176, "proj_output_size": 16, "transforms": (), "reduction": "sum"},
    "DeepNorm": {
        "num_components": inspect.Parameter.empty,
        "num_layers": 3,
        "activation": "relu",
        "final_activation": None,
        "symmetric": False,
        "transforms": ("concave_activation",),
        "reduction": "maxmean",
    },
    "WideNorm": {
        "num_components": inspect.Parameter.empty,
        "output_component_size": 32,
        "symmetric": False,
        "transforms": ("concave_activation",),
        "reduction": "maxmean",
    },
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_signatures_are_the_documented_ones(name: str) -> None:
    parameters = inspect.signature(getattr(torchqmet, name)).parameters
    wanted = {"input_size": inspect.Parameter.empty, **DOCUMENTED[name], **COMMON}
    assert {key: parameter.default for key, parameter in parameters.items()} == wanted
    assert list(parameters) == list(wanted)
    for key in ("transforms", "reduction", *COMMON):
        assert parameters[key].kind is inspect.Parameter.KEYWORD_ONLY


def union_length(x: Tensor, y: Tensor) -> float:
    """Of the intervals from x_j to max(x_j, y_j): the definition of IQE, point by point."""
    ends = sorted({*x.tolist(), *y.tolist()})
    middles = [((low + high) / 2, high - low) for low, high in itertools.pairwise(ends)]
    return sum(size for at, size in middles if bool(((x < at) & (at < y)).any()))


def test_iqe_is_the_length_of_unions() -> None:
    x, y = torch.randn(2, 6, DIM, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    components = torchqmet.IQE(DIM, 4).compute_components(x, y)
    for i in range(6):
        for j, (a, b) in enumerate(zip(x[i].view(3, 4), y[i].view(3, 4), strict=True)):
            assert components[i, j].item() == pytest.approx(union_length(a, b), rel=1e-12)
    parts = {name: torchqmet.IQE(DIM, 4, reduction=name)(x, y) for name in ("sum", "mean", "max")}
    assert torch.allclose(parts["sum"], components.sum(-1))
    assert torch.allclose(parts["mean"], components.mean(-1))
    assert torch.allclose(parts["max"], components.amax(-1))


def test_iqe_starts_near_the_documented_values() -> None:
    """The 20 distances that torchqmet's documentation prints for Gaussian points average 3.70."""
    x = torch.randn(200, 128, generator=torch.Generator().manual_seed(0))
    values = tm.all_pairs(torchqmet.IQE(128, dim_per_component=16), x)
    assert 3.5 < values[~torch.eye(200, dtype=torch.bool)].mean() < 3.9


@pytest.mark.parametrize("p", [1, 2, 0.5])
def test_mrn_is_the_documented_formula(p: float) -> None:
    torch.manual_seed(0)
    mrn = quiet(lambda: torchqmet.MRN(DIM, sym_p=p)).double()
    x, y = torch.randn(2, 6, DIM, dtype=torch.float64)
    symmetric = ((mrn.sym_proj(x) - mrn.sym_proj(y)).square().sum(-1) / 16) ** (p / 2)
    asymmetric = (mrn.asym_proj(x) - mrn.asym_proj(y)).relu().amax(-1)
    assert torch.allclose(mrn(x, y), symmetric + asymmetric, rtol=1e-12)


def test_the_weighted_sum_of_pqe_lh() -> None:
    x, y = torch.randn(2, 6, DIM, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    weighted = torchqmet.PQE(DIM, 4).double()
    components = 1 - torch.exp(-(x - y).relu().view(6, 3, 4).mean(-1))
    assert torch.allclose(weighted(x, y), (components * weighted.reduction.weight).sum(-1), rtol=1e-12)  # type: ignore[operator]


def test_what_is_not_guaranteed_says_so() -> None:
    with pytest.warns(UserWarning, match="MRN may break the triangle inequality"):
        mrn = torchqmet.MRN(DIM)
    assert not mrn.guaranteed_quasimetric
    assert not mrn.axioms.triangle
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not torchqmet.MRN(DIM, warn_if_not_quasimetric=False).guaranteed_quasimetric
        assert torchqmet.MRNFixed(DIM).guaranteed_quasimetric
    line = torch.linspace(-3, 3, 30).unsqueeze(1) * torch.ones(DIM)
    squared = tm.all_pairs(mrn, line)
    assert (squared.unsqueeze(1) > squared.unsqueeze(2) + squared.unsqueeze(0) + 1e-4).any()
    with pytest.warns(UserWarning, match="PQE-GG of Trimetric is another function"):
        torchqmet.PQEGG(DIM)


@every_head
@pytest.mark.parametrize("how", zoo.WEIGHTS)
def test_promises_hold_for_extreme_weights(name: str, how: str) -> None:
    module = zoo.reweight(made(name), how)
    report = tm.audit(module, zoo.awkward_points(20, DIM, torch.float32))
    assert not report.broken, str(report)
    assert module.axioms.triangle


@every_head
def test_zero_violations_under_fused_adam(name: str) -> None:
    module, points = made(name), torch.randn(24, DIM)
    target = 10 * torch.rand(24, 24)  # no metric at all
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    if not trained:
        pytest.skip("nothing to train")
    optimizer = torch.optim.Adam(trained, lr=0.05, fused=True)
    for _ in range(60):
        optimizer.zero_grad()
        (module(points[:, None], points[None]) - target).square().mean().backward()
        optimizer.step()
        report = tm.audit(module, points)
        assert not report.broken, str(report)


@every_head
def test_all_pairs_is_the_broadcast_call(name: str) -> None:
    module = made(name)
    x, y = torch.randn(9, DIM), torch.randn(7, DIM)
    y[2] = x[4]
    expected = module(x[:, None], y)
    assert expected.shape == (9, 7)
    assert expected[4, 2] == 0
    assert torch.allclose(tm.all_pairs(module, x, y), expected, rtol=1e-4, atol=1e-5)
    i, j = torch.tensor([0, 3, 8]), torch.tensor([5, 3, 1])
    assert torch.allclose(module.between_rows(x, i, j), module(x[i], x[j]), rtol=1e-4, atol=1e-5)


@every_head
def test_gradients_at_equal_points_are_finite(name: str) -> None:
    module = made(name)
    x = torch.randn(4, DIM, requires_grad=True)
    module(x, x.detach().clone()).sum().backward()
    found = [x.grad, *(parameter.grad for parameter in module.parameters())]
    assert all(bool(gradient.isfinite().all()) for gradient in found if gradient is not None)


@every_head
def test_a_discount_is_a_power_of_the_distance(name: str) -> None:
    module, x, y = made(name), torch.randn(5, DIM), torch.randn(5, DIM)
    expected = 0.9 ** module(x, y)
    module.reduction = torchqmet.reductions.Discount(module.reduction, 0.9)
    assert torch.allclose(module(x, y), expected)
    discounted = torchqmet.IQE(DIM, 4, discount=0.9)
    assert not discounted.axioms.triangle
    assert torch.equal(discounted(x, x), torch.ones(5))


def test_the_base_class_takes_heads_written_for_torchqmet() -> None:
    class L2(torchqmet.QuasimetricBase):
        def __init__(self, input_size: int) -> None:
            super().__init__(
                input_size,
                num_components=1,
                guaranteed_quasimetric=True,
                transforms=[],
                reduction="sum",
                discount=None,
            )

        def compute_components(self, x: Tensor, y: Tensor) -> Tensor:
            return (x - y).norm(p=2, dim=-1, keepdim=True)

    head, (x, y) = L2(DIM), torch.randn(2, 5, DIM)
    assert isinstance(torchqmet.IQE(DIM, 4), torchqmet.QuasimetricBase)
    assert head.input_size == DIM
    both = head(torch.stack([x, y], dim=-2), torch.stack([y, x], dim=-2))
    assert torch.equal(both[:, 0], both[:, 1])
    assert torch.allclose(tm.all_pairs(head, x, y), torch.cdist(x, y), atol=1e-5)
    assert tm.audit(head, x).holds


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "an uneven split": (lambda: torchqmet.IQE(10, 4), "dim_per_component: expected a divisor of input_size 10, got 4"),
    "a negative last activation": (
        lambda: torchqmet.DeepNorm(8, 4, activation="maxrelu"),
        "final_activation: expected 'relu', .* got None with activation='maxrelu'",
    ),
    "another measure": (
        lambda: torchqmet.PQE(8, 4, measure="gaussian"),
        "measure, shape: .* got 'gaussian' with 'halfline'",
    ),
    "an undocumented option": (lambda: torchqmet.IQE2(8, 4, learned_delta=True), "learned_delta: expected False"),
    "an unknown reduction": (lambda: torchqmet.IQE(8, 4, reduction="median"), "reduction: .* 'median'"),  # type: ignore[arg-type]
    "an unknown transform": (lambda: torchqmet.IQE(8, 4, transforms=["log"]), "transforms: .* 'log'"),
    "a discount above 1": (lambda: torchqmet.IQE(8, 4, discount=1.5), "discount: .* 1.5"),
    "a power of 0": (lambda: torchqmet.MRN(8, 0), "sym_p: .* 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_represented_is_refused(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_a_text_is_no_sequence_of_transforms() -> None:
    with pytest.raises(TypeError, match="transforms: expected a sequence of names"):
        torchqmet.IQE(8, 4, transforms="concave_activation")


@pytest.mark.parametrize("name", ["iqe-concave", "mrn-fixed", "deep", "wide"])
def test_models_with_them_are_saved_and_loaded(name: str, tmp_path: Path) -> None:
    """Our own Deep Norm and theirs have one name, and both are found again."""
    network = tm.Siamese(nn.Sequential(nn.Linear(3, DIM)), made(name))
    tm.Model(network).save(tmp_path / "theirs.safetensors")
    tm.Model(tm.NormInduced(tm.DeepNorm(DIM, widths=(4,)))).save(tmp_path / "ours.safetensors")
    x, y = torch.randn(2, 5, 3)
    again = tm.Model.load(tmp_path / "theirs.safetensors").network
    assert torch.equal(again(x, y), network(x, y))
    assert isinstance(tm.Model.load(tmp_path / "ours.safetensors").network.inner, tm.DeepNorm)  # type: ignore[union-attr]


def original() -> ModuleType:
    """The library torchqmet itself."""
    try:
        return import_module("torchqmet")
    except ImportError:
        pytest.skip("torchqmet is not importable here (it is in no package index): nothing to compare with")


@pytest.mark.parametrize("reduction", ["sum", "max", "mean"])
def test_iqe_and_pqe_have_the_values_of_the_original(reduction: Any) -> None:
    theirs, (x, y) = original(), torch.randn(2, 50, 64, generator=torch.Generator().manual_seed(0))
    options = {"reduction": reduction}
    for name, size in (("IQE", 16), ("PQELH", 4)):
        expected = getattr(theirs, name)(64, size, **options)(x, y)
        assert torch.allclose(getattr(torchqmet, name)(64, size, **options)(x, y), expected, rtol=1e-4, atol=1e-5), name


@pytest.mark.parametrize("size", [1, 4, 8])
def test_the_rate_of_a_half_line_is_a_mean(size: int) -> None:
    """As in torchqmet, whose values are compared with where it is importable."""
    x, y = torch.randn(2, 20, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    pqe = torchqmet.PQELH(16, size, reduction="sum").double()
    expected = (1 - torch.exp(-(x - y).relu().unflatten(-1, (-1, size)).mean(-1))).sum(-1)
    assert torch.allclose(pqe(x, y), expected, rtol=1e-12)
    assert torch.allclose(tm.all_pairs(pqe, x, y).diagonal(), expected, rtol=1e-12)
    rows = torch.arange(20)
    assert torch.allclose(pqe.between_rows(torch.cat([x, y]), rows, rows + 20), expected, rtol=1e-12)


@pytest.mark.parametrize("p", [1, 2])
def test_mrn_has_the_values_of_the_original(p: int) -> None:
    theirs, (x, y) = quiet(lambda: original().MRN(64, sym_p=p)), torch.randn(2, 50, 64)
    ours = quiet(lambda: torchqmet.MRN(64, sym_p=p))
    ours.sym_proj.load_state_dict(theirs.sym_proj.state_dict())
    ours.asym_proj.load_state_dict(theirs.asym_proj.state_dict())
    assert torch.allclose(ours(x, y), theirs(x, y), rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_norms_have_the_values_of_the_original() -> None:
    """With its weights; it takes the norm of x - y and not of y - x."""
    library, (x, y) = original(), torch.randn(2, 50, 64)
    options: dict[str, Any] = {"transforms": (), "reduction": "mean"}
    theirs, deep = library.DeepNorm(64, 16, 3, **options), torchqmet.DeepNorm(64, 16, 3, **options)
    expected = theirs(x, y)
    skips = [theirs.u0.weight, *(layer.weight for layer in theirs.us_after_first)]
    deep.inner.inner.skip.copy_(-torch.cat(skips))
    for own, layer in zip(deep.inner.inner.hidden, theirs.ws_after_first, strict=True):
        own.raw_weight.copy_(layer.weight.relu())
    assert torch.allclose(deep(x, y), expected, rtol=1e-4, atol=1e-5)
    theirs, wide = library.WideNorm(64, 8, 4, **options), torchqmet.WideNorm(64, 8, 4, **options)
    expected = theirs(x, y)
    first, second = theirs.w.weight.relu().view(8, 4, 128).chunk(2, dim=-1)
    wide.inner.inner.pieces.raw_weight.copy_(torch.cat([second, first], dim=-1))
    assert torch.allclose(wide(x, y), expected, rtol=1e-4, atol=1e-5)
    assert math.isfinite(expected.sum().item())


def test_the_example_finds_no_broken_triangle() -> None:
    from examples import quasimetric_heads

    for name in quasimetric_heads.HEADS:
        error, excess, _ = quasimetric_heads.train(name, steps=30)
        assert excess < 1e-5
        assert error < quasimetric_heads.ring().mean()
