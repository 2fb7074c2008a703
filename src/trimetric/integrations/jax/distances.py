"""Distances in JAX: intervals (IQE), metric residuals (MRN), and those of norms."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from trimetric._support import checks
from trimetric.distances.groups import Groups
from trimetric.integrations.jax.heads import Head, NormHead, Params, inner_pool, largest, length, make_pool, part
from trimetric.norms.activations import PoolName


def interval_quasimetric(dim: int, *, components: int | None = None, pool: PoolName = "maxmean") -> Head:
    r"""Build the IQE of `trimetric.IntervalQuasimetric`: lengths of unions of the intervals $[x_j, \max(x_j, y_j)]$.

    With the coordinates of a group sorted by $x$, the length is $\sum_j (y_j - \max(x_j, \max_{i<j} y_i))^+$.

    Args:
        dim: number of coordinates.
        components: groups of coordinates; by default groups of 16.
        pool: of the components.

    Examples:
        >>> head = interval_quasimetric(2, pool="mean")
        >>> float(head({}, jnp.array([0.0, 1.0]), jnp.array([2.0, 5.0])))  # [0, 2] and [1, 5] cover 5
        5.0
    """
    groups = Groups(dim, components, width=16)
    pooled, pool_params = make_pool(pool, groups.count)

    def lengths(_: Params, x: Array, y: Array) -> Array:
        starts, ends = jnp.broadcast_arrays(_split(groups, x), _split(groups, y))
        order = jnp.argsort(jax.lax.stop_gradient(starts), axis=-1)
        starts, ends = (jnp.take_along_axis(each, order, axis=-1) for each in (starts, ends))
        reach = jax.lax.cummax(ends, axis=ends.ndim - 1)
        before = jnp.concatenate([jnp.full_like(reach[..., :1], -jnp.inf), reach[..., :-1]], axis=-1)
        return jax.nn.relu(ends - jnp.maximum(starts, before)).sum(axis=-1)

    return Head(
        dim=dim,
        num_components=groups.count,
        initialize=lambda _, dtype: pool_params(dtype),
        components=lengths,
        pool=pooled,
        symmetric=False,
    )


def residual_metric(dim: int, *, components: int = 1, shared: bool = False, pool: PoolName = "mean") -> Head:
    """Build the MRN of `trimetric.ResidualMetric`: a length and the largest one-sided excess, in groups.

    Args:
        dim: number of coordinates.
        components: groups of coordinates.
        shared: whether both parts read all coordinates of a group, instead of half of them each.
        pool: of the components.

    Examples:
        >>> head = residual_metric(2)
        >>> float(head({}, jnp.zeros(2), jnp.array([1.0, 2.0])))
        3.0
    """
    groups = Groups(dim, components, width=dim)
    pooled, pool_params = make_pool(pool, groups.count)
    half = -(-groups.width // 2)

    def parts(_: Params, x: Array, y: Array) -> Array:
        difference = _split(groups, y - x)
        symmetric = difference if shared else difference[..., :half]
        asymmetric = difference if shared else difference[..., half:]
        size = length(symmetric)
        return size + largest(jax.nn.relu(asymmetric)) if asymmetric.shape[-1] else size

    return Head(
        dim=dim,
        num_components=groups.count,
        initialize=lambda _, dtype: pool_params(dtype),
        components=parts,
        pool=pooled,
        symmetric=False,
    )


def norm_induced(norm: NormHead) -> Head:
    r"""Build the distance $\|y - x\|$ of a norm.

    Args:
        norm: any norm.

    Examples:
        >>> from trimetric.integrations.jax import euclidean
        >>> float(norm_induced(euclidean(2))({}, jnp.array([1.0, 1.0]), jnp.array([4.0, 5.0])))
        5.0
    """
    checks.instance("norm", norm, NormHead)
    return Head(
        dim=norm.dim,
        num_components=norm.num_components,
        initialize=lambda key, dtype: {"inner": norm.initialize(key, dtype)},
        components=lambda params, x, y: norm.components(part(params, "inner"), y - x),
        pool=inner_pool(norm),
        symmetric=norm.symmetric,
    )


def as_head(name: str, value: Head | NormHead) -> Head:
    """A norm as the distance that it induces; a distance as it is.

    Args:
        name: of the argument, for the error message.
        value: a norm or a distance.
    """
    if isinstance(value, NormHead):
        return norm_induced(value)
    if not isinstance(value, Head):
        raise TypeError(f"{name}: expected a Head or a NormHead, got {type(value).__name__}")
    return value


def _split(groups: Groups, x: Array) -> Array:
    padded = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, groups.padding)]) if groups.padding else x
    return padded.reshape(*x.shape[:-1], groups.count, groups.width)
