"""Any function, kept in a corridor above a quasimetric."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import zoo

import trimetric as tm
from trimetric.distances import JoinedEncoder, PartDistance, join
from trimetric.distances.projected_clamp import projected_clamp


def corridor(dim: int = 3, floor: float = 1.0) -> tm.CorridorMetric:
    return tm.CorridorMetric(tm.FunctionDistance(zoo.scattered, dim), base=tm.IntervalQuasimetric(dim), floor=floor)


def test_it_is_the_function_inside_and_a_bound_outside() -> None:
    points = torch.randn(30, 3, dtype=torch.float64)
    points[4] = points[9]
    distance = corridor().double()
    x, y = points[:, None], points[None]
    f, base = distance.inner(x, y), distance.base(x, y)  # type: ignore[misc]
    expected = torch.minimum(torch.maximum(f, base + 1), base + 2)
    expected[(x == y).all(dim=-1)] = 0
    assert torch.equal(distance(x, y), expected)
    assert torch.equal(tm.all_pairs(distance, points), expected)
    start, end = torch.cartesian_prod(torch.arange(30), torch.arange(30)).unbind(1)
    torch.testing.assert_close(distance.between_rows(points, start, end), expected.flatten(), atol=0, rtol=1e-14)
    assert expected[4, 9] == 0
    inside = (f > base + 1) & (f < base + 2) & (x != y).any(dim=-1)
    assert torch.equal(expected[inside], f[inside])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("floor", [1e-6, 1.0, 1e5])
def test_no_triangle_is_broken_in_floating_point(floor: float, dtype: torch.dtype) -> None:
    """Functions that do their worst, on tight triangles of the base: points of a line, far from the origin."""
    line = torch.linspace(0, 3, 40, dtype=dtype).unsqueeze(1) * torch.ones(2, dtype=dtype) + 1000
    base = tm.NormInduced(tm.Euclidean(2))
    worst = tm.FunctionDistance(lambda x, y: torch.where((x - y).norm(dim=-1) > 1.5, torch.inf, -torch.inf), 2)
    for f in (worst, tm.FunctionDistance(zoo.jumping, 2), tm.FunctionDistance(zoo.scattered, 2)):
        assert tm.audit(tm.CorridorMetric(f, base=base, floor=floor).to(dtype), line).triangle_defect == 0
    band = tm.CorridorMetric(worst, floor=floor).to(dtype)
    assert tm.audit(band, line).triangle_defect == 0
    assert band(line[:1], line).unique().tolist() == pytest.approx([0, floor, 2 * floor])


def test_a_function_that_is_not_a_number_is_an_error() -> None:
    broken = tm.FunctionDistance(lambda x, y: torch.where((x > 1) | (y > 1), torch.nan, 1.0)[:, 0], 1)
    distance = tm.CorridorMetric(broken, base=tm.Euclidean(1), floor=1.0)
    points = torch.tensor([[0.0], [0.5], [2.0]])
    assert distance(points[:1], points[1:2]).item() == 1.5
    assert distance(points, points).tolist() == [0, 0, 0]  # nobody asks what it is at x = y
    for ask in (
        lambda: distance(points[:1], points),
        lambda: tm.all_pairs(distance, points.repeat(400, 1)),
        lambda: distance.between_rows(points, torch.tensor([0, 1, 0, 0]), torch.tensor([1, 2, 2, 1])),
    ):
        with pytest.raises(ValueError, match=r"f: expected a number for every pair of different points, got NaN for"):
            ask()


def test_the_base_must_promise_the_triangle_inequality() -> None:
    f = tm.MLPDistance(2, widths=(4,))
    with pytest.raises(ValueError, match=r"base: expected a distance that promises .* got MLPDistance without"):
        tm.CorridorMetric(f, base=f, floor=1.0)
    with pytest.raises(ValueError, match="floor: expected"):
        tm.CorridorMetric(f, base=tm.Euclidean(2), floor=-1.0)
    with pytest.raises(ValueError, match="f, base: expected"):
        tm.CorridorMetric(f, base=tm.Euclidean(3), floor=1.0)


def test_it_is_symmetric_where_both_parts_are() -> None:
    f = tm.FunctionDistance(lambda x, y: (x * y).sum(-1), 2, symmetric=True)
    assert tm.CorridorMetric(f, base=tm.Euclidean(2), floor=1.0).axioms.symmetric
    assert tm.CorridorMetric(f, floor=1.0).axioms.symmetric
    assert not tm.CorridorMetric(f, base=tm.IntervalQuasimetric(2), floor=1.0).axioms.symmetric


@pytest.mark.parametrize("values", [-1.0, 0.5, 2.0])
@pytest.mark.parametrize("gradient", [-1.0, 1.0])
def test_gradients_of_a_projection(values: float, gradient: float) -> None:
    value, low, high = (torch.tensor(number, requires_grad=True) for number in (values, 0.0, 1.0))
    (gradient * projected_clamp(value, low, high)).backward()
    outward = (values < 0 and gradient > 0) or (values > 1 and gradient < 0)
    assert value.grad == (0 if outward else gradient)
    assert low.grad == (gradient if values < 0 else 0)
    assert high.grad == (gradient if values > 1 else 0)


def test_f_and_base_learn_together_through_the_corridor() -> None:
    torch.manual_seed(0)
    objects = torch.rand(30, 2)
    pairs = (~torch.eye(30, dtype=torch.bool)).nonzero()
    x, y = objects[pairs[:, 0]], objects[pairs[:, 1]]
    targets = 3 + 10 * (y - x).abs().sum(-1) + (9 * x[:, 0]).sin()
    f = tm.MLPDistance(2, widths=(32,), inputs="concatenation")
    model = tm.Calibrated(tm.CorridorMetric(f, base=tm.WideNorm(2, components=4, width=4), floor=0.3))
    config = tm.TrainingConfig(epochs=40, batch_size=174, learning_rate=2e-2)
    history = tm.fit(model, pairs, targets, objects=objects, config=config, progress="silent")
    assert history.epochs[-1].loss < 0.1 * targets.var()
    assert tm.audit(model, objects).holds


def test_what_can_be_saved_comes_back_and_a_function_says_that_it_cannot(tmp_path: Path) -> None:
    torch.manual_seed(0)
    f = tm.ensemble([tm.Siamese(tm.MLP(3, 4), tm.MLPDistance(4, widths=(8,))) for _ in range(2)], symmetric=True)
    base = tm.Siamese(tm.MLP(3, 5), tm.TollMetric(tm.Euclidean(4)))
    encoder, (upper, lower) = join([f, base])
    assert isinstance(encoder, JoinedEncoder)
    network = tm.Siamese(encoder, tm.CorridorMetric(upper, base=lower, floor=0.5))
    objects = torch.randn(6, 3)
    names = list("abcdef")
    tm.Model(network, names, objects).save(tmp_path / "model.safetensors")
    again = tm.Model.load(tmp_path / "model.safetensors")
    assert torch.equal(again.all_pairs(), tm.Model(network, names, objects).all_pairs())
    assert again.axioms.symmetric
    exported = torch.export.load(tm.export(again, tmp_path / "model.pt2")).module()
    assert torch.allclose(exported(objects[:3], objects[3:]), network(objects[:3], objects[3:]), atol=1e-5)
    with pytest.raises(
        TypeError, match=r"FunctionDistance\.function: expected .* in what is to be saved, got function"
    ):
        tm.Model(corridor(), names, objects).save(tmp_path / "function.safetensors")


def test_functions_may_use_numpy_and_are_told_what_is_wrong() -> None:
    distance = tm.FunctionDistance(lambda x, y: np.hypot(*(x - y).numpy().T), 2)
    x = torch.randn(4, 1, 2)
    assert torch.allclose(distance(x, torch.zeros(3, 2)), x.norm(dim=-1).expand(4, 3))
    assert distance.double()(x.double(), x.double()).dtype == torch.float64
    with pytest.raises(
        ValueError, match=r"function: expected a tensor or NumPy array of shape \(4,\).* got shape \(\)"
    ):
        tm.FunctionDistance(lambda x, y: (x - y).sum(), 2)(x[:, 0], x[:, 0])
    for answer in (np.array([1j] * 4), np.array(["1"] * 4), torch.ones(4, dtype=torch.complex64)):
        with pytest.raises(ValueError, match=r"one real number for each pair, got shape \(4,\) and dtype"):
            tm.FunctionDistance(lambda *_, answer=answer: answer, 2)(x[:, 0], x[:, 0])
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    for answer in (frozen, np.arange(4, dtype=np.longdouble), np.arange(4)[::-1][::-1], np.arange(3, -1, -1)[::-1]):
        values = tm.FunctionDistance(lambda *_, answer=answer: answer, 2)(x[:, 0], x[:, 0])
        assert values.tolist() == [0, 1, 2, 3]
    with pytest.raises(TypeError, match="function: expected a function of two tensors, got int"):
        tm.FunctionDistance(3, 2)  # type: ignore[arg-type]


def test_an_ensemble_of_metrics_is_a_metric_and_the_mean() -> None:
    torch.manual_seed(0)
    encoder = tm.MLP(3, 4)
    members = [
        tm.Siamese(encoder, tm.WideNorm(4)),
        tm.Siamese(encoder, tm.Euclidean(4)),  # shares its coordinates with the first
        tm.Siamese(tm.MLP(3, 6), tm.IntervalQuasimetric(6)),
    ]
    x, y = torch.randn(2, 9, 3)
    mean = torch.stack([member(x, y) for member in members]).mean(dim=0)
    both = tm.ensemble(members)
    assert both.head.dim == 4 + 6
    torch.testing.assert_close(both(x, y), mean)
    back = torch.stack([member(y, x) for member in members]).mean(dim=0)
    there = tm.ensemble(members, symmetric=True)
    torch.testing.assert_close(there(x, y), (mean + back) / 2)
    assert there.axioms.symmetric
    assert tm.audit(both, torch.randn(20, 3)).holds
    plain = tm.ensemble([tm.NormInduced(tm.Euclidean(2)), tm.IntervalQuasimetric(2)])
    assert isinstance(plain, tm.WideMetric)
    with pytest.raises(TypeError, match=r"models\[0\]: expected"):
        tm.ensemble([tm.Euclidean(2)])  # type: ignore[list-item]


def test_a_part_reads_its_coordinates_alone() -> None:
    points = torch.randn(50, 7)
    inner = tm.WideNorm(3, components=2, width=2)
    part = PartDistance(inner, 7, start=2)
    expected = tm.all_pairs(inner, points[:, 2:5])
    torch.testing.assert_close(tm.all_pairs(part, points), expected)
    start, end = torch.randint(50, (2, 200))
    torch.testing.assert_close(part.between_rows(points, start, end), expected[start, end], atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match="start: expected a number from 0 to 4, got 5"):
        PartDistance(inner, 7, start=5)


def test_a_function_may_change_its_inputs_and_leave_torch() -> None:
    def careless(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x += 1
        return 1 + (x - y).abs().sum(-1)

    distance = tm.CorridorMetric(tm.FunctionDistance(careless, 2), base=tm.Euclidean(2), floor=0.5)
    x = torch.zeros(3, 2)
    assert distance(x, torch.zeros(3, 2)).tolist() == [0, 0, 0]
    assert not x.any()

    base = tm.Siamese(tm.MLP(2, 4), tm.Euclidean(4))
    f = tm.FunctionDistance(lambda x, y: 1 + np.abs(x.numpy() - y.numpy()).sum(axis=1), 2)
    encoder, (upper, lower) = join([f, base])
    assert encoder is not None
    network = tm.Siamese(encoder, tm.CorridorMetric(upper, base=lower, floor=0.5))
    points = torch.rand(4, 2)
    for values in (
        network(points[:2], points[2:]),
        network.between_rows(points, torch.tensor([0, 1]), torch.tensor([2, 3])),
        tm.all_pairs(network, points)[[0, 1], [2, 3]],
    ):
        assert torch.allclose(values, network(points[:2], points[2:]))
        assert values.requires_grad  # that of the base
    failing = tm.FunctionDistance(lambda x, y: (_ for _ in ()).throw(RuntimeError("no connection")), 2)  # noqa: ARG005
    with pytest.raises(RuntimeError, match="no connection"):
        failing(points.requires_grad_(), points)
