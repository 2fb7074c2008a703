"""A clamp in JAX that a network can be trained through."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


@jax.custom_vjp
def projected_clamp(values: Array, low: Array, high: Array) -> Array:
    """Clamp to `[low, high]` with the gradient of projected gradient descent, as in PyTorch's version.

    The gradient of `values` vanishes outside only where a step down would lead farther out.

    Args:
        values: what to clamp.
        low: the lower ends, of the same shape.
        high: the upper ends, of the same shape.

    Examples:
        >>> values = jnp.array([-1.0, 0.5, 3.0])
        >>> jax.grad(lambda v: projected_clamp(v, jnp.zeros(3), jnp.ones(3)).sum())(values).tolist()
        [0.0, 1.0, 1.0]
    """
    return jnp.minimum(jnp.maximum(values, low), high)


def _forward(values: Array, low: Array, high: Array) -> tuple[Array, tuple[Array, Array]]:
    return projected_clamp(values, low, high), (values < low, values > high)


def _backward(outside: tuple[Array, Array], gradient: Array) -> tuple[Array, Array, Array]:
    below, above = outside
    outward = (below & (gradient > 0)) | (above & (gradient < 0))
    zero = jnp.zeros_like(gradient)
    return jnp.where(outward, zero, gradient), jnp.where(below, gradient, zero), jnp.where(above, gradient, zero)


projected_clamp.defvjp(_forward, _backward)
