"""Distances of distances in JAX: concave units, tolls, the corridor, weighted sums, both directions, a scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import Array

from trimetric._support import checks
from trimetric.integrations.jax.clamp import projected_clamp
from trimetric.integrations.jax.distances import as_head
from trimetric.integrations.jax.heads import Head, NormHead, Params, inner_pool, largest, make_pool, part
from trimetric.norms.activations import PoolName


def neural_metric(norm: Head | NormHead, *, concave_units: int = 5, pool: PoolName | None = None) -> Head:
    """Build the Neural Metric of `trimetric.NeuralMetric`: a minimum of rising lines of each component.

    Args:
        norm: a norm or a distance.
        concave_units: number of lines.
        pool: how the components are pooled; None takes the pooling of `norm`.

    Examples:
        >>> from trimetric.integrations.jax import wide_norm
        >>> head = neural_metric(wide_norm(3, components=4, width=2))
        >>> head(head.init(jax.random.key(0)), jnp.zeros(3), jnp.ones((5, 3))).shape
        (5,)
    """
    inner = as_head("norm", norm)
    units, count = checks.positive_int("concave_units", concave_units), inner.num_components
    pooled, pool_params = (inner_pool(inner), lambda _: {}) if pool is None else make_pool(pool, count)

    def initialize(key: Array, dtype: Any) -> Params:
        bend = jnp.broadcast_to(jnp.linspace(0, 1, units, dtype=dtype), (count, units))
        lines = {"raw_slope": 1 - bend / 2, "raw_offset": bend[:, 1:] ** 2 / 2}
        return {"inner": inner.initialize(key, dtype), "concave": lines, **pool_params(dtype)}

    def lowest(params: Params, x: Array, y: Array) -> Array:
        lines = params["concave"]
        offset = jnp.pad(jnp.abs(lines["raw_offset"]), ((0, 0), (1, 0)))
        values = offset + jnp.abs(lines["raw_slope"]) * inner.components(part(params, "inner"), x, y)[..., None]
        return -largest(-values)

    return Head(
        dim=inner.dim,
        num_components=count,
        initialize=initialize,
        components=lowest,
        pool=pooled,
        symmetric=inner.symmetric,
    )


def toll_metric(
    distance: Head | NormHead,
    *,
    per: Literal["head", "component"] = "head",
    shared: bool | None = None,
    map: Literal["softplus", "abs"] = "softplus",
) -> Head:
    """Build the distance of `trimetric.TollMetric`: what it costs to leave and to arrive is added for x != y.

    Args:
        distance: any distance or norm.
        per: one pair of tolls for the head, or one for each of its components.
        shared: one toll for leaving and arriving; by default where the distance is symmetric.
        map: what makes a coordinate a toll.

    Examples:
        >>> from trimetric.integrations.jax import euclidean
        >>> head = toll_metric(euclidean(1), map="abs")
        >>> x, y = jnp.array([0.0, 2.0]), jnp.array([5.0, 4.0])  # one coordinate and one toll each
        >>> float(head({}, x, y)), float(head({}, x, x))
        (11.0, 0.0)
    """
    inner = as_head("distance", distance)
    checks.one_of("per", per, ("head", "component"))
    checks.one_of("map", map, ("softplus", "abs"))
    one_toll = inner.symmetric if shared is None else checks.boolean("shared", shared)
    tolls = (inner.num_components if per == "component" else 1) * (1 if one_toll else 2)

    def of_points(x: Array) -> tuple[Array, Array]:
        free = x[..., inner.dim :]
        costs = jax.nn.softplus(free) if map == "softplus" else jnp.abs(free)
        if one_toll:
            return costs, costs
        departure, arrival = jnp.split(costs, 2, axis=-1)
        return departure, arrival

    def components(params: Params, x: Array, y: Array) -> Array:
        seen = inner.components(part(params, "inner"), x[..., : inner.dim], y[..., : inner.dim])
        differ = (x != y).any(axis=-1, keepdims=True)
        return jnp.where(differ, seen + (of_points(x)[0] + of_points(y)[1]), 0)

    return Head(
        dim=inner.dim + tolls,
        num_components=inner.num_components,
        initialize=lambda key, dtype: {"inner": inner.initialize(key, dtype)},
        components=components,
        pool=inner_pool(inner),
        symmetric=inner.symmetric and one_toll,
    )


def corridor_metric(
    f: Head | NormHead | Callable[[Params, Array, Array], Array],
    *,
    base: Head | NormHead | None = None,
    floor: float,
    dim: int | None = None,
    initialize: Callable[[Array, Any], Params] | None = None,
) -> Head:
    """Build the distance of `trimetric.CorridorMetric`: any function, clamped between `base + c` and `base + 2c`.

    The gradient of `f` is that of projected gradient descent, so it has no forward-mode derivative.  A value of `f`
    that is not a number stays one.

    Args:
        f: a head, or any function `f(params, x, y)` with values `(...)`, such as the `apply` of a Flax module.
        base: a head that keeps the triangle inequality; None for 0.
        floor: c, at least 0.
        dim: number of coordinates, where neither `f` nor `base` says it.
        initialize: makes the parameters of a function `f` from a key and a dtype.

    Examples:
        >>> from trimetric.integrations.jax import euclidean
        >>> squared = lambda params, x, y: jnp.square(y - x).sum(-1)
        >>> head = corridor_metric(squared, base=euclidean(1), floor=0.5)
        >>> head({}, jnp.array([0.0]), jnp.array([[0.0], [0.5], [1.0], [2.0]])).tolist()
        [0.0, 1.0, 1.5, 3.0]
    """
    checks.finite_number("floor", floor, at_least=0)
    lower = None if base is None else as_head("base", base)
    inner = as_head("f", f) if isinstance(f, (Head, NormHead)) else None
    if inner is None and not callable(f):
        raise TypeError(f"f: expected a head or a function of parameters and points, got {type(f).__name__}")
    if inner is not None and initialize is not None:
        raise ValueError("initialize: expected None for a head, which has its own, got a function")
    known = [head.dim for head in (inner, lower) if head is not None] + ([] if dim is None else [dim])
    if not known:
        raise ValueError("dim: expected the number of coordinates, as neither f nor base says it, got None")
    size = checks.one_dim("f, base, dim", known)
    values = inner if inner is not None else f
    start: Any = inner.initialize if inner is not None else (initialize or (lambda key, dtype: {}))  # noqa: ARG005

    def make(key: Array, dtype: Any) -> Params:
        first, second = jax.random.split(key)
        return {
            "inner": start(first, dtype),
            "base": {} if lower is None else lower.initialize(second, dtype),
        }

    def components(params: Params, x: Array, y: Array) -> Array:
        free = values(part(params, "inner"), x, y)  # type: ignore[operator]
        below = jnp.zeros_like(free) if lower is None else lower(part(params, "base"), x, y)
        inside = projected_clamp(free, below + floor, below + 2 * floor)
        return jnp.where((x != y).any(axis=-1), inside, 0)[..., None]

    return Head(
        dim=size,
        num_components=1,
        initialize=make,
        components=components,
        pool=make_pool("mean", 1)[0],
        symmetric=inner is not None and inner.symmetric and (lower is None or lower.symmetric),
    )


def calibrated(distance: Head | NormHead) -> Head:
    """Build the distance of `trimetric.Calibrated`: `distance` times a scale, which is not meant to be trained.

    Args:
        distance: any distance or norm.

    Examples:
        >>> from trimetric.integrations.jax import euclidean
        >>> head = calibrated(euclidean(1))
        >>> float(head({"raw_scale": jnp.array(20.0)}, jnp.array([1.0]), jnp.array([3.0])))
        40.0
    """
    inner = as_head("distance", distance)

    def components(params: Params, x: Array, y: Array) -> Array:
        return jnp.abs(params["raw_scale"]) * inner.components(part(params, "inner"), x, y)

    return Head(
        dim=inner.dim,
        num_components=inner.num_components,
        initialize=lambda key, dtype: {"inner": inner.initialize(key, dtype), "raw_scale": jnp.ones((), dtype)},
        components=components,
        pool=inner_pool(inner),
        symmetric=inner.symmetric,
    )


def wide_metric(distances: Iterable[Head | NormHead], *, pool: PoolName = "mean") -> Head:
    """Build the distance of `trimetric.WideMetric`: weighted distances on one space, pooled.

    Args:
        distances: distances or norms, all of one `dim`.
        pool: how their weighted values are pooled: "mean", "max" or "maxmean".

    Examples:
        >>> from trimetric.integrations.jax import interval_quasimetric, residual_metric
        >>> head = wide_metric([interval_quasimetric(4), residual_metric(4)])
        >>> head(head.init(jax.random.key(0)), jnp.zeros(4), jnp.ones((5, 4))).shape
        (5,)
    """
    parts = [as_head(f"distances[{i}]", each) for i, each in enumerate(distances)]
    if not parts:
        raise ValueError("distances: expected at least one Head or NormHead, got none")
    dim = checks.one_dim("distances", [each.dim for each in parts])
    pooled, pool_params = make_pool(pool, len(parts))

    def initialize(key: Array, dtype: Any) -> Params:
        keys = jax.random.split(key, len(parts))
        own = {str(i): each.initialize(keys[i], dtype) for i, each in enumerate(parts)}
        return {"distances": own, "raw_weight": jnp.ones(len(parts), dtype), **pool_params(dtype)}

    def components(params: Params, x: Array, y: Array) -> Array:
        own = part(params, "distances")
        values = [each(part(own, str(i)), x, y) for i, each in enumerate(parts)]
        return jnp.abs(params["raw_weight"]) * jnp.stack(values, axis=-1)

    return Head(
        dim=dim,
        num_components=len(parts),
        initialize=initialize,
        components=components,
        pool=pooled,
        symmetric=all(each.symmetric for each in parts),
    )


def symmetrized_metric(distance: Head | NormHead, *, how: Literal["sum", "max"] = "sum") -> Head:
    """Build the distance of `trimetric.SymmetrizedMetric`: the sum or maximum of both directions.

    Args:
        distance: any distance or norm.
        how: "sum" or "max" of the two directions.

    Examples:
        >>> from trimetric.integrations.jax import interval_quasimetric
        >>> head = symmetrized_metric(interval_quasimetric(1), how="max")
        >>> float(head({}, jnp.array([5.0]), jnp.array([2.0])))
        3.0
    """
    inner = as_head("distance", distance)
    checks.one_of("how", how, ("sum", "max"))

    def components(params: Params, x: Array, y: Array) -> Array:
        own = part(params, "inner")
        there, back = inner.components(own, x, y), inner.components(own, y, x)
        return there + back if how == "sum" else jnp.maximum(there, back)

    return Head(
        dim=inner.dim,
        num_components=inner.num_components,
        initialize=lambda key, dtype: {"inner": inner.initialize(key, dtype)},
        components=components,
        pool=inner_pool(inner),
        symmetric=True,
    )
