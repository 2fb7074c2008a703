"""Norms in JAX: Wide Norm in three forms, Deep Norm, Mahalanobis and Euclidean."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from trimetric._support import checks
from trimetric.integrations.jax.heads import NormHead, Params, inner_pool, length, make_pool, part
from trimetric.norms.activations import LEAKY_SLOPE, ActivationName, PoolName
from trimetric.norms.wide import WideForm


def wide_norm(
    dim: int,
    *,
    components: int = 32,
    width: int = 32,
    symmetric: bool = False,
    form: WideForm = "rectified",
    monotone: bool = False,
    pool: PoolName = "maxmean",
) -> NormHead:
    """Build the Wide Norm of `trimetric.WideNorm`.

    Args:
        dim: size of the last axis.
        components: number of matrices.
        width: number of rows of each.
        symmetric: whether the norms of x and -x are equal.
        form: of an asymmetric norm: "rectified" or "paper".
        monotone: whether the norm is monotone in the positive orthant; for symmetric norms only.
        pool: how the components are pooled: "mean", "max" or "maxmean".

    Examples:
        >>> norm = wide_norm(3, components=4, width=2, form="paper")
        >>> params = norm.init(jax.random.key(0))
        >>> params["pieces"]["raw_weight"].shape, norm(params, jnp.ones((5, 3))).shape
        ((4, 2, 6), (5,))
    """
    for name, value in (("dim", dim), ("components", components), ("width", width)):
        checks.positive_int(name, value)
    checks.one_of("form", form, ("rectified", "paper"))
    if symmetric and form == "paper":
        raise ValueError("form: 'paper' is asymmetric, so expected symmetric=False with it, got symmetric=True")
    if monotone and not symmetric:
        raise ValueError("monotone: expected symmetric=True with it, got symmetric=False")
    paper = form == "paper" and not symmetric
    name = "raw_weight" if symmetric or paper else "weight"
    shape = (components, width, 2 * dim if paper else dim)
    spread = math.sqrt(width) * (dim if paper else 1)
    pooled, pool_params = make_pool(pool, components)

    def initialize(key: Array, dtype: Any) -> Params:
        return {"pieces": {name: jax.random.normal(key, shape, dtype) / spread}, **pool_params(dtype)}

    def of_vectors(params: Params, x: Array) -> Array:
        weight = params["pieces"][name]
        if paper:
            x = jax.nn.relu(jnp.concatenate([x, -x], axis=-1))
        if paper or monotone:
            weight = jnp.abs(weight)
        rows = jnp.einsum("kwd,...d->...kw", weight, x)
        return length(rows if symmetric or paper else jax.nn.relu(rows))

    return NormHead(
        dim=dim,
        num_components=components,
        initialize=initialize,
        components=of_vectors,
        pool=pooled,
        symmetric=symmetric,
    )


def deep_norm(
    dim: int,
    *,
    widths: Iterable[int] = (128, 128, 128),
    activation: ActivationName = "maxrelu",
    pool: PoolName = "maxmean",
) -> NormHead:
    """Build the Deep Norm of `trimetric.DeepNorm`.

    Args:
        dim: size of the last axis.
        widths: units of each layer; the last one is the number of components.
        activation: of all layers but the last: "relu", "leaky_relu" or "maxrelu" (which needs even widths).
        pool: how the components are pooled: "mean", "max" or "maxmean".

    Examples:
        >>> norm = deep_norm(3, widths=(8, 8))
        >>> norm(norm.init(jax.random.key(0)), jnp.ones((5, 3))).shape
        (5,)
    """
    checks.positive_int("dim", dim)
    sizes = checks.positive_ints("widths", widths)
    checks.one_of("activation", activation, ("relu", "leaky_relu", "maxrelu"))
    if activation == "maxrelu" and any(size % 2 for size in sizes):
        raise ValueError(f"widths: expected even widths, as activation='maxrelu' pairs units, got {sizes}")
    pooled, pool_params = make_pool(pool, sizes[-1])
    ends = list(itertools.accumulate(sizes))[:-1]

    def initialize(key: Array, dtype: Any) -> Params:
        first, *rest = jax.random.split(key, len(sizes))
        hidden = {
            str(i): {"raw_weight": jax.random.normal(own, (fan_out, fan_in), dtype) * (math.sqrt(math.pi / 2) / fan_in)}
            for i, (own, (fan_in, fan_out)) in enumerate(zip(rest, itertools.pairwise(sizes), strict=True))
        }
        mixes = {str(i): {"raw_mix": jnp.full((2, size // 2), 0.5, dtype)} for i, size in enumerate(sizes[:-1])}
        return {
            "skip": jax.random.normal(first, (sum(sizes), dim), dtype) / math.sqrt(dim),
            "hidden": hidden,
            "activations": mixes if activation == "maxrelu" else {},
            **pool_params(dtype),
        }

    def activate(params: Params, layer: int, unit: Array) -> Array:
        if activation == "relu":
            return jax.nn.relu(unit)
        if activation == "leaky_relu":
            return jnp.where(unit > 0, unit, LEAKY_SLOPE * unit)
        a, b = jnp.split(unit, 2, axis=-1)
        alpha, beta = jnp.abs(params["activations"][str(layer)]["raw_mix"])
        return jnp.concatenate([jnp.maximum(a, b), alpha * jax.nn.relu(a) + beta * jax.nn.relu(b)], axis=-1)

    def of_vectors(params: Params, x: Array) -> Array:
        unit, *skips = jnp.split(x @ params["skip"].T, ends, axis=-1)
        for layer, skip in enumerate(skips):
            weight = jnp.abs(params["hidden"][str(layer)]["raw_weight"])
            unit = activate(params, layer, unit) @ weight.T + skip
        return jax.nn.relu(unit)

    return NormHead(
        dim=dim,
        num_components=sizes[-1],
        initialize=initialize,
        components=of_vectors,
        pool=pooled,
        symmetric=False,
    )


def mahalanobis(dim: int, *, rank: int | None = None) -> NormHead:
    """Build the norm of `trimetric.Mahalanobis`: the length of W x.

    Args:
        dim: size of the last axis.
        rank: number of rows of W; `dim` by default.

    Examples:
        >>> norm = mahalanobis(3, rank=2)
        >>> norm.init(jax.random.key(0))["weight"].shape
        (2, 3)
    """
    checks.positive_int("dim", dim)
    rows = dim if rank is None else checks.positive_int("rank", rank)
    pooled, _ = make_pool("mean", 1)

    def initialize(key: Array, dtype: Any) -> Params:
        return {"weight": jax.nn.initializers.orthogonal()(key, (rows, dim), dtype)}

    return NormHead(
        dim=dim,
        num_components=1,
        initialize=initialize,
        components=lambda params, x: length(x @ params["weight"].T)[..., None],
        pool=pooled,
        symmetric=True,
    )


def euclidean(dim: int) -> NormHead:
    """Build the Euclidean norm.

    Args:
        dim: size of the last axis.

    Examples:
        >>> float(euclidean(2)({}, jnp.array([3.0, 4.0])))
        5.0
    """
    checks.positive_int("dim", dim)
    return NormHead(
        dim=dim,
        num_components=1,
        initialize=lambda _, dtype: {},  # noqa: ARG005
        components=lambda _, x: length(x)[..., None],
        pool=make_pool("mean", 1)[0],
        symmetric=True,
    )


def symmetrized(norm: NormHead) -> NormHead:
    """Build the norm of `trimetric.Symmetrized`, whose components are those of x and of -x, added.

    Args:
        norm: any norm.

    Examples:
        >>> norm = symmetrized(wide_norm(3, components=4, width=2))
        >>> params, x = norm.init(jax.random.key(0)), jnp.array([1.0, -2.0, 0.5])
        >>> bool(jnp.isclose(norm(params, x), norm(params, -x)))
        True
    """
    checks.instance("norm", norm, NormHead)

    def both(params: Params, x: Array) -> Array:
        inner = part(params, "inner")
        return norm.components(inner, x) + norm.components(inner, -x)

    return NormHead(
        dim=norm.dim,
        num_components=norm.num_components,
        initialize=lambda key, dtype: {"inner": norm.initialize(key, dtype)},
        components=both,
        pool=inner_pool(norm),
        symmetric=True,
    )
