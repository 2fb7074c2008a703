"""Each class against its formula, written out independently, and the propositions of the paper."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

import trimetric as tm
from trimetric.norms.activations import ConcaveUnits, MaxMean, MaxReLU


def numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


def relu(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, 0)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(20, 5, dtype=torch.float64)


def test_mahalanobis(x: torch.Tensor) -> None:
    norm = tm.Mahalanobis(5, rank=3).double()
    expected = np.sqrt(((numpy(x) @ numpy(norm.weight).T) ** 2).sum(1))
    assert numpy(norm(x)) == pytest.approx(expected)


@pytest.mark.parametrize("pool", ["mean", "max", "maxmean"])
def test_deep_norm(x: torch.Tensor, pool: str) -> None:
    norm = tm.DeepNorm(5, widths=(6, 4), activation="maxrelu", pool=pool).double()  # type: ignore[arg-type]
    skip, weight = numpy(norm.skip), np.abs(numpy(norm.hidden[0].raw_weight))
    mix = np.abs(numpy(norm.activations[0].raw_mix))  # type: ignore[arg-type]
    expected = []
    for row in numpy(x):
        a, b = np.split(skip[:6] @ row, 2)
        hidden = np.concatenate([np.maximum(a, b), mix[0] * relu(a) + mix[1] * relu(b)])
        units = relu(weight @ hidden + skip[6:] @ row)
        alpha = {"mean": 0.0, "max": 1.0, "maxmean": 0.5}[pool]
        expected.append(alpha * units.max() + (1 - alpha) * units.mean())
    assert numpy(norm(x)) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("form", ["rectified", "paper", "symmetric"])
def test_wide_norm(x: torch.Tensor, form: str) -> None:
    options = {"symmetric": True} if form == "symmetric" else {"form": form}
    norm = tm.WideNorm(5, components=3, width=2, pool="mean", **options).double()  # type: ignore[arg-type]
    weight = numpy(norm.weight)
    assert form != "paper" or (weight >= 0).all()
    expected = []
    for row in numpy(x):
        row = relu(np.concatenate([row, -row])) if form == "paper" else row
        pieces = weight @ row
        pieces = relu(pieces) if form == "rectified" else pieces
        expected.append(np.linalg.norm(pieces, axis=1).mean())
    assert numpy(norm(x)) == pytest.approx(np.array(expected))


def test_the_papers_wide_norm_is_an_asymmetrized_monotone_one(x: torch.Tensor) -> None:
    paper = tm.WideNorm(5, components=3, width=2, form="paper").double()
    inner = tm.WideNorm(10, components=3, width=2, symmetric=True, monotone=True).double()
    inner.load_state_dict(paper.state_dict())
    assert torch.allclose(tm.Asymmetrized(inner)(x), paper(x))


def test_the_papers_wide_norm_cannot_represent_what_the_rectified_one_does() -> None:
    """Erratum E2: relu(x1 - x2) is an asymmetric semi-norm out of reach of Propositions 4 and 5."""
    rectified = tm.WideNorm(2, components=1, width=1)
    with torch.no_grad():
        rectified.weight.copy_(torch.tensor([[[1.0, -1.0]]]))
    points = torch.tensor([[1.0, 1.0], [1.0, 0.0]])
    assert rectified(points).tolist() == [0, 1]
    for seed in range(20):
        torch.manual_seed(seed)
        both, first = tm.WideNorm(2, form="paper")(points)
        assert both >= first


def test_symmetrized_is_proposition_2(x: torch.Tensor) -> None:
    norm = tm.DeepNorm(5, widths=(6, 4), pool="mean").double()
    assert torch.allclose(tm.Symmetrized(norm)(x), norm(x) + norm(-x))


@pytest.mark.parametrize("pool", ["mean", "max", "maxmean"])
def test_positive_definite_is_proposition_3(x: torch.Tensor, pool: str) -> None:
    norm = tm.WideNorm(5, components=3, width=2, pool=pool).double()  # type: ignore[arg-type]
    definite = tm.PositiveDefinite(norm, weight=0.3).double()
    assert torch.allclose(definite(x), norm(x) + 0.3 * x.norm(dim=-1))
    assert definite.weight.item() == pytest.approx(0.3)


def test_combined_norm(x: torch.Tensor) -> None:
    parts = [tm.Euclidean(5), tm.WideNorm(5).double()]
    assert torch.allclose(tm.CombinedNorm(parts, pool="max").double()(x), torch.maximum(parts[0](x), parts[1](x)))
    assert tm.CombinedNorm(parts).axioms.definite


def test_polyhedral_norm_is_the_gauge_of_the_hull() -> None:
    """Against the definition as a linear programme: the least a with x in a * hull."""
    generator = np.random.default_rng(0)
    vertices = generator.normal(size=(14, 3))
    norm = tm.PolyhedralNorm.from_points(vertices - vertices.mean(0)).double()
    vertices = vertices - vertices.mean(0)
    for x in generator.normal(size=(10, 3)):
        gauge = linprog(np.ones(14), A_eq=vertices.T, b_eq=x).fun
        assert norm(torch.tensor(x)).item() == pytest.approx(gauge, rel=1e-5)
    assert norm(torch.tensor(vertices)).max().item() == pytest.approx(1, rel=1e-5)


def test_polyhedral_norm_knows_what_it_is() -> None:
    square = tm.PolyhedralNorm.from_points([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    assert square.axioms.definite
    assert square.axioms.symmetric
    assert square(torch.tensor([[0.5, -2.0], [3.0, 1.0]])).tolist() == [2, 3]
    strip = tm.PolyhedralNorm([[1, 0], [-1, 0]], [1, 2])
    assert not strip.axioms.definite
    assert not strip.axioms.symmetric
    assert strip(torch.tensor([[3.0, 9.0], [-3.0, 9.0]])).tolist() == [3, 1.5]
    assert tm.PolyhedralNorm.from_points([[2.0], [-4.0]])(torch.tensor([[1.0], [-1.0]])).tolist() == [0.5, 0.25]


def test_concave_units() -> None:
    units = ConcaveUnits(3, 5)
    with torch.no_grad():
        units.raw_slope.normal_()
        units.raw_offset.normal_()
    t = torch.rand(50, 3) * 4
    slope, offset = units.raw_slope.abs(), units.raw_offset.abs()
    lines = torch.cat([slope[:, :1] * t[..., None], slope[:, 1:] * t[..., None] + offset], dim=-1)
    assert torch.allclose(units(t), lines.amin(-1))
    assert units(torch.zeros(3)).eq(0).all()


def test_every_concave_unit_is_the_lowest_somewhere_at_the_start() -> None:
    units = ConcaveUnits(1, 5)
    t = torch.linspace(0.01, 3, 500).unsqueeze(-1)
    units(t).sum().backward()
    assert (units.raw_slope.grad != 0).all()  # type: ignore[operator]


def test_max_relu_and_max_mean() -> None:
    activation, x = MaxReLU(4), torch.tensor([1.0, -2.0, -3.0, -1.0])
    assert activation(x).tolist() == [1, -1, 0.5, 0]
    pool, c = MaxMean(0.25), torch.tensor([1.0, 3.0])
    assert pool(c).item() == pytest.approx(0.25 * 3 + 0.75 * 2)


def test_a_neural_metric_saturates() -> None:
    """min(1, |y - x|), which no norm-induced metric is."""
    metric = tm.NeuralMetric(tm.Euclidean(2), concave_units=2)
    with torch.no_grad():
        metric.concave.raw_slope.copy_(torch.tensor([[1.0, 0.0]]))
        metric.concave.raw_offset.copy_(torch.tensor([[1.0]]))
    zero = torch.zeros(2)
    assert metric(zero, torch.tensor([0.3, 0.0])).item() == pytest.approx(0.3)
    assert metric(zero, torch.tensor([30.0, 0.0])).item() == 1


def test_neural_metric_pools_as_its_norm_unless_told() -> None:
    norm = tm.WideNorm(4, pool="max")
    assert tm.NeuralMetric(norm).pool is norm.pool
    assert type(tm.NeuralMetric(norm, pool="mean").pool).__name__ == "Mean"


def test_wide_metric(x: torch.Tensor) -> None:
    parts = [tm.Euclidean(5), tm.WideNorm(5).double()]
    metric = tm.WideMetric(parts).double()
    with torch.no_grad():
        metric.raw_weight.copy_(torch.tensor([-2.0, 0.5]))
    y = torch.randn_like(x)
    assert torch.allclose(metric(x, y), (2 * parts[0](y - x) + 0.5 * parts[1](y - x)) / 2)


def test_discounted_satisfies_the_multiplicative_triangle_inequality() -> None:
    discount = tm.Discounted(tm.NeuralMetric(tm.DeepNorm(4)), gamma=0.8).double()
    x, y, z = torch.randn(3, 500, 4, dtype=torch.float64)
    assert (discount(x, z) >= discount(x, y) * discount(y, z) - 1e-12).all()
    assert discount(x, x).eq(1).all()
    assert discount.gamma ** float("inf") == 0


@pytest.mark.parametrize("activation", ["relu", "maxrelu"])
def test_a_convex_network_is_convex(activation: str) -> None:
    network = tm.ConvexNetwork(4, activation=activation).double()  # type: ignore[arg-type]
    for parameter in network.parameters():
        parameter.data.normal_()
    zero = torch.zeros(4, dtype=torch.float64)
    a, b = torch.randn(2, 1000, 4, dtype=torch.float64)
    t = torch.rand(1000, 1, dtype=torch.float64)
    chord = t[:, 0] * network(zero, a) + (1 - t[:, 0]) * network(zero, b)
    assert (network(zero, t * a + (1 - t) * b) <= chord + 1e-9 * chord.abs().max()).all()


def test_siamese_encodes_both_ends() -> None:
    encoder = torch.nn.Linear(3, 4)
    model = tm.Siamese(encoder, tm.DeepNorm(4))
    x, y = torch.randn(2, 6, 3)
    expected = tm.NormInduced(model.distance.inner)(encoder(x), encoder(y))
    assert torch.allclose(model(x, y), expected, atol=1e-6)
    assert torch.allclose(model(x[:, None], y), model.distance(encoder(x)[:, None], encoder(y)), atol=1e-6)
    assert model(x, x).eq(0).all()


def test_a_deep_norm_starts_at_the_scale_of_its_input_whatever_its_depth() -> None:
    x = torch.randn(500, 32)
    means = [tm.DeepNorm(32, widths=(64,) * depth)(x).mean().item() for depth in (1, 3, 8)]
    assert all(0.3 < mean < 4 for mean in means), means
