"""What every norm and distance must do, whatever its parameters."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest
import torch
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call, stack_module_state
from torch.nn.utils import parameters_to_vector, vector_to_parameters

import trimetric as tm

DIM = zoo.DIM
every_object = pytest.mark.parametrize("name", zoo.OBJECTS)
every_norm = pytest.mark.parametrize("name", zoo.NORMS)


def make(name: str, dim: int = DIM) -> nn.Module:
    torch.manual_seed(0)
    return zoo.OBJECTS[name](dim)


def assert_promises(module: nn.Module, points: torch.Tensor) -> None:
    report = tm.audit(module, points)
    assert not report.broken, str(report)


def test_no_class_is_missing_from_the_zoo() -> None:
    public = {
        cls
        for _, cls in inspect.getmembers(tm, inspect.isclass)
        if issubclass(cls, (tm.Norm, tm.Distance)) and not inspect.isabstract(cls)
    }
    covered = {type(make(2)) for make in (*zoo.NORMS.values(), *zoo.DISTANCES.values())}
    assert public == covered


@every_object
@pytest.mark.parametrize("how", zoo.WEIGHTS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_promises_hold_for_extreme_weights(name: str, how: str, dtype: torch.dtype) -> None:
    module = zoo.reweight(make(name), how).to(dtype)
    assert_promises(module, zoo.awkward_points(30, DIM, dtype))


@every_object
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_promises_hold_for_any_shape_and_value(name: str, data: st.DataObject) -> None:
    dim, n = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    value = st.floats(-100, 100, width=32).map(lambda v: 0.0 if abs(v) < 1e-6 else v)
    rows = data.draw(st.lists(st.lists(value, min_size=dim, max_size=dim), min_size=n, max_size=n))
    module = zoo.reweight(make(name, dim), data.draw(st.sampled_from(list(zoo.WEIGHTS))), data.draw(st.integers(0, 99)))
    assert_promises(module.double(), torch.tensor(rows, dtype=torch.float64))


@every_object
def test_promises_hold_at_every_moment(name: str) -> None:
    module, points = make(name), zoo.awkward_points(20, DIM, torch.float32)
    assert_promises(module, points)  # before the first forward pass
    other = zoo.reweight(make(name), "negative")
    parameters = list(module.parameters())
    if parameters:
        vector_to_parameters(-3 * parameters_to_vector(parameters), parameters)
        assert_promises(module, points)
    module.load_state_dict(other.state_dict())
    for same in (module, pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert_promises(same, points)
    if not parameters:
        return
    average = torch.optim.swa_utils.AveragedModel(module)
    average.update_parameters(module)
    average.update_parameters(zoo.reweight(make(name), "signs"))
    assert_promises(average.module, points)


@every_object
def test_promises_hold_after_200_steps_of_fused_adam(name: str) -> None:
    module = make(name)
    if not list(module.parameters()):
        pytest.skip("nothing to train")
    points = torch.randn(24, DIM)
    target = 10 * torch.rand(24, 24)  # no metric at all
    optimiser = torch.optim.Adam(module.parameters(), lr=0.05, fused=True)
    for _ in range(200):
        optimiser.zero_grad()
        (module(points[:, None], points[None]) - target).square().mean().backward()
        optimiser.step()
    assert_promises(module, points)
    assert_promises(module, zoo.awkward_points(24, DIM, torch.float32))


@every_norm
@pytest.mark.parametrize("how", zoo.WEIGHTS)
def test_each_component_of_a_norm_is_a_semi_norm(name: str, how: str) -> None:
    norm = zoo.reweight(zoo.NORMS[name](DIM), how).double()
    x, y = zoo.awkward_points(30, DIM), zoo.awkward_points(30, DIM, seed=1)
    a, b, both = norm.components(x), norm.components(y), norm.components(x + y)
    slack = 1e-12 * both.abs().max()
    assert (a >= 0).all()
    assert (both <= a + b + slack).all()
    assert torch.allclose(norm.components(2.5 * x), 2.5 * a, rtol=1e-9, atol=slack.item())
    assert norm.components(torch.zeros(DIM, dtype=x.dtype)).eq(0).all()


@every_norm
def test_a_monotone_norm_grows_in_the_positive_orthant(name: str) -> None:
    norm = zoo.reweight(zoo.NORMS[name](DIM), "normal").double()
    if not norm.axioms.monotone:
        pytest.skip("does not promise N5")
    x = torch.rand(200, DIM, dtype=torch.float64)
    assert (norm(x) <= norm(x + torch.rand_like(x)) + 1e-12).all()


@every_object
def test_translation_invariance_where_promised(name: str) -> None:
    module = make(name).double()
    if not module.axioms.translation_invariant:
        pytest.skip("does not promise it")
    x, y, t = torch.randn(3, 20, DIM, dtype=torch.float64)
    assert torch.allclose(module(x + t, y + t), module(x, y), rtol=1e-9)


@every_object
def test_gradcheck(name: str) -> None:
    module = make(name).double()
    x, y = torch.randn(2, 3, DIM, dtype=torch.float64, requires_grad=True).unbind()
    parameters = dict(module.named_parameters())

    def call(x: torch.Tensor, y: torch.Tensor, *values: torch.Tensor) -> torch.Tensor:
        return functional_call(module, dict(zip(parameters, values, strict=True)), (x, y))

    leaves = [t.detach().clone().requires_grad_() for t in (x, y, *parameters.values())]
    assert torch.autograd.gradcheck(call, leaves, fast_mode=True)


@every_object
@pytest.mark.parametrize("how", ["fresh", "zero"])
def test_gradients_are_finite_at_equal_points(name: str, how: str) -> None:
    module = zoo.reweight(make(name), how)
    x = torch.randn(4, DIM, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    module(x, y).sum().backward()
    grads = [x.grad, y.grad, *(p.grad for p in module.parameters() if p.grad is not None)]
    assert all(torch.isfinite(g).all() for g in grads if g is not None)


@every_object
def test_batch_shapes_broadcast(name: str) -> None:
    module = make(name).double()
    x = torch.randn(4, 1, 3, DIM, dtype=torch.float64)
    y = torch.randn(5, 1, DIM, dtype=torch.float64)
    out = module(x, y)
    assert out.shape == (4, 5, 3)
    assert torch.allclose(out[2, 4, 1], module(x[2, 0, 1], y[4, 0]))
    assert module(x[0, 0], torch.randn(DIM, dtype=torch.float64)).shape == (3,)


@every_object
def test_empty_batches(name: str) -> None:
    module = make(name)
    assert module(torch.empty(0, DIM), torch.empty(0, DIM)).shape == (0,)
    assert module(torch.empty(2, 0, DIM), torch.empty(2, 1, DIM)).shape == (2, 0)


@every_object
def test_copies_compute_the_same(name: str) -> None:
    module = make(name)
    x, y = torch.randn(2, 7, DIM)
    expected = module(x, y)
    fresh = zoo.OBJECTS[name](DIM)
    fresh.load_state_dict(module.state_dict())
    for twin in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module), fresh):
        assert torch.equal(twin(x, y), expected)
    keys = [key for key, _ in module.state_dict().items()]
    assert len(keys) == len({t.data_ptr() for t in module.state_dict().values()}), "a tensor is stored twice"


@every_object
def test_float32_agrees_with_float64(name: str) -> None:
    module = make(name)
    x, y = torch.randn(2, 20, DIM)
    single = module(x, y)
    assert single.dtype == torch.float32
    assert torch.allclose(single.double(), module.double()(x.double(), y.double()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", ["eager", pytest.param("aot_eager", marks=pytest.mark.slow)])
@every_object
def test_compiles_in_one_graph(name: str, backend: str) -> None:
    torch.compiler.reset()
    module = make(name)
    x, y = torch.randn(5, DIM, requires_grad=True), torch.randn(5, DIM, requires_grad=True)
    compiled = torch.compile(module, fullgraph=True, backend=backend)
    assert torch.allclose(compiled(x, y), module(x, y), atol=1e-6)
    compiled(x, y).sum().backward()


@every_object
def test_exports_with_a_dynamic_batch(name: str) -> None:
    module = make(name).eval()
    batch = torch.export.Dim("batch", min=2, max=1024)
    x, y = torch.randn(2, 5, DIM)
    program = torch.export.export(module, (x, y), dynamic_shapes=({0: batch}, {0: batch}))
    x, y = torch.randn(2, 9, DIM)
    assert torch.allclose(program.module()(x, y), module(x, y), atol=1e-6)


@every_object
def test_vmaps_over_stacked_seeds(name: str) -> None:
    torch.manual_seed(0)
    seeds = [zoo.OBJECTS[name](DIM) for _ in range(3)]
    parameters, buffers = stack_module_state(seeds)
    x, y = torch.randn(2, 5, DIM)
    if not parameters:
        pytest.skip("nothing to stack")

    def call(p: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> torch.Tensor:
        return functional_call(seeds[0], (p, b), (x, y))

    stacked = torch.func.vmap(call)(parameters, buffers)
    assert torch.allclose(stacked, torch.stack([seed(x, y) for seed in seeds]), atol=1e-5)


@pytest.mark.parametrize("name", ["NeuralMetric", "NormInduced(WideNorm)", "Siamese"])
def test_inductor_compiles_forward_and_backward(name: str) -> None:
    torch.compiler.reset()
    module, twin = make(name), make(name)
    x, y = torch.randn(2, 16, DIM)
    compiled = torch.compile(module, fullgraph=True)
    compiled(x, y).sum().backward()
    twin(x, y).sum().backward()
    for ours, expected in zip(module.parameters(), twin.parameters(), strict=True):
        assert torch.allclose(ours.grad, expected.grad, atol=1e-5)  # type: ignore[arg-type]
    assert_promises(module, torch.randn(20, DIM))
