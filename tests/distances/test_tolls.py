"""Tolls, and the equality of points on which they turn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from trimetric.kernels.equal_rows import equal_rows, first_equal_row, row_keys


def numpy(tensor: Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


@pytest.mark.parametrize("per", ["head", "component"])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("pool", ["mean", "max", "maxmean"])
def test_tolls_by_loops(per: str, shared: bool, pool: str) -> None:
    inner = tm.WideNorm(3, components=2, width=2, pool=pool).double()  # type: ignore[arg-type]
    metric = tm.TollMetric(inner, per=per, shared=shared)  # type: ignore[arg-type]
    each = 2 if per == "component" else 1
    assert metric.dim == 3 + each * (1 if shared else 2)
    x = torch.randn(6, metric.dim, dtype=torch.float64)
    x[4, :3] = x[3, :3]  # differ in the tolls only
    x[5] = x[2]
    alpha = {"mean": 0.0, "max": 1.0, "maxmean": 0.5}[pool]
    expected = np.zeros((6, 6))
    for i, j in itertools.product(range(6), repeat=2):
        if bool((x[i] == x[j]).all()):
            continue
        leave = np.log1p(np.exp(numpy(x[i, 3 : 3 + each])))
        arrive = np.log1p(np.exp(numpy(x[j, -each:])))
        components = numpy(inner.components(x[j, :3] - x[i, :3])) + leave + arrive
        expected[i, j] = alpha * components.max() + (1 - alpha) * components.mean()
    assert expected[2, 5] == 0
    assert expected[3, 4] > 0
    for found in (metric(x[:, None], x[None]), tm.all_pairs(metric, x), tm.all_pairs(metric, x, x.clone())):
        assert numpy(found) == pytest.approx(expected, rel=1e-12)


def test_tolls_are_not_centred_and_see_what_lies_far_from_0() -> None:
    metric = tm.TollMetric(tm.WideNorm(4))
    x = torch.randn(30, 6)
    x[:, :4] += 1000
    x[:, 4:] -= 30  # tolls of e^-30
    near = x.clone()
    near[:, :4] += 1e-3
    with torch.no_grad():
        assert torch.allclose(tm.all_pairs(metric, x, near), metric(x[:, None], near[None]), rtol=1e-5, atol=0)


def test_tolls_express_what_no_translation_invariant_metric_can() -> None:
    metric = tm.TollMetric(tm.NormInduced(tm.Euclidean(1)), shared=False)
    x = torch.tensor([[0.0, 10.0, -40.0], [1.0, -40.0, -40.0], [2.0, -40.0, -40.0]])
    assert metric(x[0], x[1]).item() == pytest.approx(11, abs=1e-4)
    assert metric(x[1], x[2]).item() == pytest.approx(1, abs=1e-4)
    assert metric(x[1], x[0]).item() == pytest.approx(1, abs=1e-4)
    assert tm.audit(metric, x).holds


def test_symmetric_distances_share_a_toll_by_default() -> None:
    assert tm.TollMetric(tm.Euclidean(3)).axioms.symmetric
    assert tm.TollMetric(tm.Euclidean(3)).dim == 4
    assert tm.TollMetric(tm.WideNorm(3)).dim == 5
    assert not tm.TollMetric(tm.Euclidean(3), shared=False).axioms.symmetric
    assert tm.TollMetric(tm.WideNorm(3), map="abs").axioms.homogeneous


class PlaceDependent(nn.Module):
    """Rounds the same object differently at each place in the batch, as a matrix product may."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 6)

    def forward(self, x: Tensor) -> Tensor:
        encoded = self.linear(x)
        return encoded * (1 + 1e-6 * torch.arange(len(x)).view(-1, *[1] * (x.ndim - 1)))


def test_equal_objects_have_distance_0_whatever_the_encoder_rounds() -> None:
    model = tm.Siamese(PlaceDependent(), tm.TollMetric(tm.WideNorm(4)))
    x = torch.randn(5, 3)
    x[4] = x[1]
    assert (model(x, x.clone()) == 0).all()
    assert (model(x, x.clone()[:, None]).diagonal() == 0).all()
    for matrix in (tm.all_pairs(model, x), tm.all_pairs(model, x, x.clone())):
        assert (matrix == 0).nonzero().tolist() == [[0, 0], [1, 1], [1, 4], [2, 2], [3, 3], [4, 1], [4, 4]]
    y = x.clone().requires_grad_()
    tm.all_pairs(model, x, y).sum().backward()
    assert (y.grad != 0).any(dim=1).all()  # type: ignore[union-attr]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.int64], ids=str)
def test_equal_rows(dtype: torch.dtype) -> None:
    x, y = torch.randint(-2, 3, (2, 60, 2)).to(dtype)
    if dtype.is_floating_point:
        y = torch.where(y == 0, -0.0, y)
    expected = (x[:, None] == y[None]).all(-1).nonzero().tolist()
    assert torch.stack(equal_rows(x, row_keys(x), y, row_keys(y)), dim=1).tolist() == expected
    assert len(expected) > 20
    first = [next(j for j in range(60) if bool((x[j] == x[i]).all())) for i in range(60)]
    assert first_equal_row(x).tolist() == first
    # Keys that say "equal" for everything are looked at again.
    same = torch.zeros(60, dtype=torch.long)
    assert torch.stack(equal_rows(x, same, y, same), dim=1).tolist() == expected
