"""Heads in JAX: functions of parameters and points, and how components are pooled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from trimetric._support import checks
from trimetric.norms.activations import PoolName

Params = dict[str, Any]
"""arrays in nested dictionaries"""
Initializer = Callable[[Array, Any], Params]
Pool = Callable[[Params, Array], Array]


@dataclass(frozen=True, eq=False, kw_only=True)
class NormHead:
    r"""A norm $\|x\|$ as pure functions.  Call it as `norm(params, x)`.

    Attributes:
        dim: size of the last axis of vectors.
        num_components: number of components.
        initialize: makes parameters from a key and a dtype.
        components: the components `(..., k)` of vectors.
        pool: makes the norm `(...)` of the components.
        symmetric: whether the norms of x and -x are equal.

    Examples:
        >>> from trimetric.integrations.jax import wide_norm
        >>> norm = wide_norm(3, components=4, width=2)
        >>> norm(norm.init(jax.random.key(0)), jnp.ones((5, 3))).shape
        (5,)
    """

    dim: int
    num_components: int
    initialize: Initializer
    components: Callable[[Params, Array], Array]
    pool: Pool
    symmetric: bool

    def init(self, key: Array, dtype: Any = jnp.float32) -> Params:
        """Make parameters, spread as those of the PyTorch module are.

        Args:
            key: a random key.
            dtype: of the arrays.
        """
        return without_empty(self.initialize(key, dtype))

    def __call__(self, params: Params, x: Array) -> Array:
        """Compute the norm of each vector.

        Args:
            params: from `init` or `params_of`.
            x: vectors on the last axis.
        """
        return self.pool(params, self.components(params, checked("x", x, self.dim)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Head:
    r"""A distance $d(x, y)$ as pure functions.  Call it as `head(params, x, y)`; x and y broadcast.

    Under `jit`, it may be captured in a closure or be a static argument; in Equinox and Flax, make it a static field.

    Attributes:
        dim: size of the last axis of points.
        num_components: number of components.
        initialize: makes parameters from a key and a dtype.
        components: the components `(..., k)` of pairs of points.
        pool: makes the distance `(...)` of the components.
        symmetric: whether the distance is promised to be symmetric.

    Examples:
        >>> from trimetric.integrations.jax import interval_quasimetric
        >>> head = interval_quasimetric(8, components=2)
        >>> params = head.init(jax.random.key(0))
        >>> x = jax.random.normal(jax.random.key(1), (5, 8))
        >>> head(params, x[:, None], x).shape  # all pairs
        (5, 5)
    """

    dim: int
    num_components: int
    initialize: Initializer
    components: Callable[[Params, Array, Array], Array]
    pool: Pool
    symmetric: bool

    def init(self, key: Array, dtype: Any = jnp.float32) -> Params:
        """Make parameters, spread as those of the PyTorch module are.

        Args:
            key: a random key.
            dtype: of the arrays.
        """
        return without_empty(self.initialize(key, dtype))

    def __call__(self, params: Params, x: Array, y: Array) -> Array:
        """Compute the distances of paired points.

        Args:
            params: from `init` or `params_of`.
            x: points.
            y: points whose leading axes broadcast with those of `x`.
        """
        x, y = checked("x", x, self.dim), checked("y", y, self.dim)
        return self.pool(params, self.components(params, x, y))


def checked(name: str, value: Array, dim: int) -> Array:
    """The array, if its last axis has that size.

    Args:
        name: of the argument, for the error message.
        value: an array, or a tracer.
        dim: expected size of the last axis.
    """
    array = jnp.asarray(value)
    if not jnp.issubdtype(array.dtype, jnp.floating):
        raise TypeError(f"{name}: expected a floating-point array, got {array.dtype}")
    if array.ndim == 0 or array.shape[-1] != dim:
        raise ValueError(f"{name}: expected last axis {dim}, got shape {tuple(array.shape)}")
    return array


def without_empty(params: Mapping[str, Any]) -> Params:
    """Drop parts without parameters.

    Args:
        params: nested dictionaries.
    """
    kept = {key: without_empty(value) if isinstance(value, Mapping) else value for key, value in params.items()}
    return {key: value for key, value in kept.items() if not (isinstance(value, Mapping) and not value)}


def part(params: Params, name: str) -> Params:
    """The parameters of a part, which may have none.

    Args:
        params: of the whole.
        name: of the part.
    """
    return params.get(name, {})


def make_pool(name: PoolName, num_components: int) -> tuple[Pool, Callable[[Any], Params]]:
    """Build a pool of components and what makes its parameters.

    Args:
        name: "mean", "max" or "maxmean".
        num_components: a single component needs no parameters.
    """
    checks.one_of("pool", name, ("mean", "max", "maxmean"))
    if num_components == 1:
        return lambda _, c: jnp.squeeze(c, -1), lambda _: {}
    if name != "maxmean":
        return lambda _, c: largest(c) if name == "max" else c.mean(axis=-1), lambda _: {}

    def max_mean(params: Params, components: Array) -> Array:
        alpha = jax.nn.sigmoid(params["own_pool"]["raw_alpha"])
        mean = components.mean(axis=-1)
        return mean + alpha * (largest(components) - mean)

    return max_mean, lambda dtype: {"own_pool": {"raw_alpha": jnp.zeros((), dtype)}}


def inner_pool(head: Head | NormHead) -> Pool:
    """The pool of a head that another one wraps as "inner".

    Args:
        head: the wrapped one.
    """
    return lambda params, components: head.pool(part(params, "inner"), components)


def largest(x: Array) -> Array:
    """The largest entry of the last axis; its gradient goes to one such entry.

    Args:
        x: any array.
    """
    # The gradient of jnp.max is divided by how many entries equal the maximum.  Compiled code computes the entries
    # again for it, with other roundings, so that none may, and the gradient is not a number.
    chosen = jnp.argmax(jax.lax.stop_gradient(x), axis=-1, keepdims=True)
    return jnp.take_along_axis(x, chosen, axis=-1)[..., 0]


@jax.custom_jvp
def length(x: Array) -> Array:
    """The Euclidean length of the last axis, with gradient 0 at 0.

    Args:
        x: any array.
    """
    # Scaled by the largest entry, so that neither very small nor very large squares are lost.
    extent = jnp.abs(x).max(axis=-1, keepdims=True, initial=0)
    scale = jnp.where(extent > 0, extent, 1)
    return jnp.sqrt(jnp.square(x / scale).sum(axis=-1)) * scale[..., 0]


@length.defjvp
def _length_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (tangent,) = primals, tangents
    value = length(x)
    direction = x / jnp.where(value > 0, value, 1)[..., None]
    return value, (direction * tangent).sum(axis=-1)
