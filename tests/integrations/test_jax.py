"""The heads in JAX: the values and gradients of our own with equal parameters, under jit and vmap, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import zoo
from torch import nn

import trimetric as tm

pytest.importorskip("jax", reason="needs the extra `jax`: pip install 'trimetric[jax]'")

import jax
import jax.numpy as jnp

from trimetric.integrations import jax as tmj

jax.config.update("jax_disable_most_optimizations", True)  # they take longer than the tests
DIM = 6


def corridor(dim: int) -> tm.Distance:
    """Values of f on both sides of the corridor, and inside."""
    f = tm.WideNorm(dim, components=2, width=2)
    f.pieces.weight.data.mul_(2)
    return tm.CorridorMetric(f, base=tm.ResidualMetric(dim), floor=0.8)


HEADS: dict[str, Callable[[int], tm.Norm | tm.Distance]] = {
    "iqe": lambda dim: tm.IntervalQuasimetric(dim),
    "iqe-grouped": lambda dim: tm.IntervalQuasimetric(dim, components=2),
    "iqe-padded": lambda dim: tm.IntervalQuasimetric(dim + 1, components=2, pool="max"),
    "mrn": lambda dim: tm.ResidualMetric(dim),
    "mrn-grouped": lambda dim: tm.ResidualMetric(dim, components=2, pool="maxmean"),
    "mrn-grouped-odd": lambda dim: tm.ResidualMetric(dim + 1, components=2),
    "mrn-of-one": lambda _: tm.ResidualMetric(1),
    "mrn-shared": lambda dim: tm.ResidualMetric(dim, components=3, shared=True),
    "wide-rectified": lambda dim: tm.WideNorm(dim, components=4, width=3),
    "wide-paper": lambda dim: tm.WideNorm(dim, components=4, width=3, form="paper"),
    "wide-symmetric": lambda dim: tm.WideNorm(dim, components=4, width=3, symmetric=True, pool="mean"),
    "wide-monotone": lambda dim: tm.WideNorm(dim, components=4, width=3, symmetric=True, monotone=True),
    "deep-maxrelu": lambda dim: tm.DeepNorm(dim, widths=(8, 6, 4)),
    "deep-relu": lambda dim: tm.DeepNorm(dim, widths=(8, 5), activation="relu", pool="max"),
    "deep-leaky": lambda dim: tm.DeepNorm(dim, widths=(8, 5), activation="leaky_relu"),
    "deep-one-layer": lambda dim: tm.DeepNorm(dim, widths=(4,)),
    "deep-symmetrized": lambda dim: tm.Symmetrized(tm.DeepNorm(dim, widths=(8, 4))),
    "euclidean": lambda dim: tm.Euclidean(dim),
    "mahalanobis": lambda dim: tm.Mahalanobis(dim, rank=3),
    "neural-wide": lambda dim: tm.NeuralMetric(tm.WideNorm(dim, components=4, width=3)),
    "neural-iqe": lambda dim: tm.NeuralMetric(tm.IntervalQuasimetric(dim, components=2), concave_units=3, pool="mean"),
    "tolls": lambda dim: tm.TollMetric(tm.WideNorm(dim - 2, components=4, width=3)),
    "tolls-shared": lambda dim: tm.TollMetric(tm.Euclidean(dim - 1), map="abs"),
    "tolls-per-component": lambda dim: tm.TollMetric(tm.ResidualMetric(dim, components=2), per="component"),
    "corridor": corridor,
    "corridor-no-base": lambda dim: tm.CorridorMetric(tm.DeepNorm(dim, widths=(8, 4)), floor=0.8),
    "recommended": lambda dim: tm.recommended(dim, symmetric=False, tolls=True),
    "recommended-symmetric": lambda dim: tm.recommended(dim, symmetric=True),
    "symmetrized-max": lambda dim: tm.SymmetrizedMetric(tm.IntervalQuasimetric(dim), how="max"),
}
IN_EVERY_RUN = {
    "iqe-grouped",
    "mrn-grouped",
    "wide-rectified",
    "wide-paper",
    "wide-symmetric",
    "deep-maxrelu",
    "neural-wide",
    "tolls",
    "corridor",
    "recommended",
}


def compiled(name: str) -> Any:
    """A name, for tests that compile for seconds: those of the less common heads run in `make test-all`."""
    return name if name in IN_EVERY_RUN else pytest.param(name, marks=pytest.mark.slow)


every_head = pytest.mark.parametrize("name", HEADS)
every_head_compiled = pytest.mark.parametrize("name", [compiled(name) for name in HEADS])


@pytest.fixture(autouse=True)
def both_precisions() -> Iterator[None]:
    before = jax.config.jax_enable_x64  # type: ignore[attr-defined]
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def made(name: str, *, how: str = "fresh", dtype: torch.dtype = torch.float64) -> tm.Distance:
    """A distance whose weights are not all at their starting values."""
    torch.manual_seed(0)
    module = HEADS[name](DIM)
    module = zoo.reweight(module if isinstance(module, tm.Distance) else tm.NormInduced(module), how)
    return module.to(dtype)


def pair(dim: int, count: int, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    x, y = torch.randn(2, count, dim, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(dtype)
    return x, y


def array(x: torch.Tensor) -> jax.Array:
    return jnp.asarray(x.detach().numpy())


def close(ours: torch.Tensor, theirs: Any, tolerance: float) -> None:
    expected, found = ours.detach().numpy(), np.asarray(theirs)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert np.isfinite(found).all()
    assert np.abs(found - expected).max(initial=0) <= tolerance * max(1.0, np.abs(expected).max(initial=0))


def both(module: tm.Distance, x: torch.Tensor, y: torch.Tensor) -> tuple[list[torch.Tensor], Callable[..., Any]]:
    """The distances, and the gradients of a sum of them for x, y and all parameters: ours, and the function of JAX."""
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    weights = torch.linspace(1, 2, len(x), dtype=x.dtype)
    module.zero_grad()
    values = module(x, y)
    (weights * values).sum().backward()
    names = dict(module.named_parameters())
    slopes = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in names.values()]
    head, scaled = tmj.head_of(module), array(weights)

    @jax.jit
    def theirs(params: Any, x: Any, y: Any) -> Any:
        def total(params: Any, x: Any, y: Any) -> Any:
            values = head(params, x, y)
            return (scaled * values).sum(), values

        found, values = jax.grad(total, argnums=(0, 1, 2), has_aux=True)(params, x, y)
        flat = {
            ".".join(step.key for step in path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(found[0])
        }
        return [values, found[1], found[2], *(flat[name] for name in names)]

    return [values, x.grad, y.grad, *slopes], theirs  # type: ignore[list-item]


@every_head_compiled
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_values_and_gradients_are_ours(name: str, dtype: torch.dtype) -> None:
    """For several weights; of different points, and of equal ones, where a root and a jump could break gradients."""
    tolerances = (1e-12, 1e-10) if dtype == torch.float64 else (1e-6, 1e-5)
    theirs = None
    for how in ("fresh", "normal", "negative", "zero"):
        module = made(name, how=how, dtype=dtype)
        x, y = pair(module.dim, 12, dtype)
        y[5] = x[5]
        for end in (y, x):
            ours, function = both(module, x, end)
            theirs = theirs or function
            values, *slopes = theirs(tmj.params_of(module), array(x), array(end))
            close(ours[0], values, tolerances[0])
            assert values[5] == 0
            # With weights 0 many values are equal, and which of them a maximum follows is a convention.
            if how in ("fresh", "normal") or end is x:
                for one, other in zip(ours[1:], slopes, strict=True):
                    close(one, other, tolerances[1])


@every_head_compiled
def test_jit_and_vmap_change_nothing(name: str) -> None:
    module = made(name)
    head, params = tmj.head_of(module), tmj.params_of(module)
    x, y = pair(module.dim, 5)
    each = jax.jit(jax.vmap(jax.value_and_grad(head, argnums=1), (None, 0, 0)))
    values, slopes = each(params, array(x), array(y))
    close(module(x, y), values, 1e-12)
    assert jnp.isfinite(slopes).all()
    every = jax.jit(jax.vmap(jax.vmap(head, (None, None, 0)), (None, 0, None)))(params, array(x), array(y))
    close(module(x[:, None], y), every, 1e-12)


@pytest.mark.parametrize("name", ["iqe-padded", "tolls", "corridor", "neural-wide"])
def test_batch_shapes_broadcast(name: str) -> None:
    module = made(name)
    head, params = jax.jit(tmj.head_of(module)), tmj.params_of(module)
    x, y = pair(module.dim, 6)
    x, y = x.view(2, 1, 3, -1), y.view(6, 1, -1)
    close(module(x, y), head(params, array(x), array(y)), 1e-12)
    assert head(params, jnp.zeros((0, module.dim)), jnp.zeros(module.dim)).shape == (0,)


@every_head
def test_parameters_convert_both_ways(name: str) -> None:
    module = made(name, how="normal", dtype=torch.float32)
    params = tmj.params_of(module)
    fresh = made(name, dtype=torch.float32)
    tmj.load_params(fresh, params)
    for key, value in module.state_dict().items():
        assert torch.equal(fresh.state_dict()[key], value)
    head = tmj.head_of(module)
    started = jax.eval_shape(head.init, jax.random.key(0))
    assert jax.tree.structure(started) == jax.tree.structure(params)
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), started) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), params
    )


@pytest.mark.parametrize("name", ["mrn-grouped", "deep-maxrelu", "recommended"])
def test_seeds_are_stacked_by_vmap(name: str) -> None:
    module = made(name, dtype=torch.float32)
    head = tmj.head_of(module)
    stacked = jax.jit(jax.vmap(head.init))(jax.random.split(jax.random.key(0), 3))
    x, y = pair(module.dim, 4, torch.float32)
    found = jax.jit(jax.vmap(head, in_axes=(0, None, None)))(stacked, array(x), array(y))
    for seed in range(3):
        tmj.load_params(module, jax.tree.map(lambda leaf, seed=seed: leaf[seed], stacked))
        close(module(x, y), found[seed], 1e-6)


def test_starting_values_are_spread_as_ours() -> None:
    torch.manual_seed(0)
    for module in (tm.WideNorm(32), tm.WideNorm(32, form="paper"), tm.DeepNorm(32), tm.Mahalanobis(32)):
        params = jax.tree.map(np.asarray, tmj.params_of(module))
        started = jax.tree.map(np.asarray, jax.jit(tmj.head_of(module).init)(jax.random.key(0)))
        for one, other in zip(jax.tree.leaves(params), jax.tree.leaves(started), strict=True):
            assert np.isclose(one.std(), other.std(), rtol=0.1, atol=1e-6)
            assert np.isclose(one.mean(), other.mean(), atol=0.05)


@pytest.mark.parametrize("name", ["neural-iqe", "deep-maxrelu", "wide-paper", "tolls", "corridor", "recommended"])
def test_no_triangle_breaks_after_training_in_jax(name: str) -> None:
    module = made(name, dtype=torch.float32)
    head, params = tmj.head_of(module), tmj.params_of(module)
    random = np.random.default_rng(0)
    points = jnp.asarray(random.normal(size=(16, module.dim)), jnp.float32)
    target = jnp.asarray(10 * random.random((16, 16)), jnp.float32)  # no metric at all

    @jax.jit
    def step(params: Any) -> Any:
        slope = jax.grad(lambda p: jnp.square(head(p, points[:, None], points) - target).mean())(params)
        return jax.tree.map(lambda p, g: p - 0.05 * jnp.sign(g), params, slope)  # steps as large as those of Adam

    for _ in range(100):
        params = step(params)
    matrix = np.asarray(jax.jit(head)(params, points[:, None], points), np.float64)
    assert (matrix >= 0).all()
    assert (matrix.diagonal() == 0).all()
    around = (matrix[:, :, None] + matrix[None]).min(axis=1)
    assert (matrix <= around + 1e-5 * matrix.max()).all()


def test_the_corridor_takes_any_function() -> None:
    def free(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.tanh(jnp.concatenate(jnp.broadcast_arrays(x, y), axis=-1) @ params["kernel"]).sum(-1)

    def start(key: jax.Array, dtype: Any) -> Any:
        return {"kernel": jax.random.normal(key, (2 * DIM, 8), dtype)}

    head = tmj.corridor_metric(free, base=tmj.residual_metric(DIM), floor=1.0, initialize=start)
    params = jax.jit(head.init)(jax.random.key(0))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(12, DIM)))
    matrix = np.asarray(jax.jit(head)(params, x[:, None], x))
    around = (matrix[:, :, None] + matrix[None]).min(axis=1)
    assert (matrix <= around + 1e-5).all()
    params["inner"]["kernel"] *= 0
    slope = jax.jit(jax.grad(lambda p: -head(p, x[:-1], x[1:]).sum()))(params)  # from below, a step up leads inside
    assert jnp.abs(slope["inner"]["kernel"]).max() > 0


REFUSED: dict[str, tuple[type[Exception], Callable[[], object], str]] = {
    "another size": (
        ValueError,
        lambda: tmj.euclidean(3)({}, jnp.ones(2)),
        r"x: expected last axis 3, got shape \(2,\)",
    ),
    "whole numbers": (TypeError, lambda: tmj.euclidean(3)({}, jnp.ones(3, int)), "x: expected a floating-point array"),
    "a module that has no twin": (
        TypeError,
        lambda: tmj.head_of(tm.PoissonQuasimetric(4)),
        "module: expected one of .*WideNorm.*, got PoissonQuasimetric",
    ),
    "no distance": (TypeError, lambda: tmj.neural_metric(nn.Linear(2, 2)), "norm: expected a Head or a NormHead"),  # type: ignore[arg-type]
    "no size": (ValueError, lambda: tmj.corridor_metric(lambda p, x, y: x, floor=1.0), "dim: expected the number"),  # noqa: ARG005
    "two forms": (ValueError, lambda: tmj.wide_norm(3, symmetric=True, form="paper"), "form: 'paper' is asymmetric"),
    "odd widths": (ValueError, lambda: tmj.deep_norm(3, widths=(3, 2)), "widths: expected even widths"),
    "nothing to add": (ValueError, lambda: tmj.wide_metric([]), "distances: expected at least one"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused(case: str) -> None:
    kind, call, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        call()


def test_double_precision_is_never_lost_in_silence() -> None:
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(TypeError, match=r"weight: expected jax_enable_x64 for torch\.float64"):
        tmj.params_of(tm.Mahalanobis(3).double())
