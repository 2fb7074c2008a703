"""Parameters and heads from PyTorch to JAX, and parameters back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
import torch
from torch import nn

from trimetric import distances as d
from trimetric import norms as n
from trimetric.integrations.jax import distances, norms, wrappers
from trimetric.integrations.jax.heads import Head, NormHead, Params


def params_of(module: nn.Module) -> Params:
    """Copy the weights of a PyTorch module into nested dictionaries of JAX arrays.

    Args:
        module: a norm, a distance, or any module.

    Returns:
        The entries of its `state_dict`, nested by the dots in their names, in their dtypes; float64 needs
        `jax_enable_x64`.

    Examples:
        >>> import trimetric as tm
        >>> params = params_of(tm.NeuralMetric(tm.WideNorm(3, components=4, width=2)))
        >>> sorted(params), params["inner"]["inner"]["pieces"]["weight"].shape
        (['concave', 'inner'], (4, 2, 3))
    """
    params: Params = {}
    for name, value in module.state_dict().items():
        *path, last = name.split(".")
        place = params
        for step in path:
            place = place.setdefault(step, {})
        array = jnp.asarray(value.detach().cpu().numpy())
        if array.dtype.itemsize < value.element_size():
            raise TypeError(f"{name}: expected jax_enable_x64 for {value.dtype}, got arrays of {array.dtype}")
        place[last] = array
    return params


def load_params(module: nn.Module, params: Mapping[str, Any]) -> None:
    """Copy parameters of JAX into a PyTorch module, in its dtypes.

    Args:
        module: of the architecture that the parameters belong to.
        params: nested dictionaries of arrays, as `params_of` and `Head.init` make them.

    Examples:
        >>> import jax
        >>> import trimetric as tm
        >>> from trimetric.integrations.jax import wide_norm
        >>> ours, theirs = tm.WideNorm(3, components=4, width=2), wide_norm(3, components=4, width=2)
        >>> load_params(ours, theirs.init(jax.random.key(0)))
    """
    flat: dict[str, Any] = {}
    _flatten(params, "", flat)
    module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in flat.items()})


def _flatten(params: Mapping[str, Any], prefix: str, flat: dict[str, Any]) -> None:
    for name, value in params.items():
        if isinstance(value, Mapping):
            _flatten(value, f"{prefix}{name}.", flat)
        else:
            flat[prefix + name] = value


def head_of(module: n.Norm | d.Distance) -> Head | NormHead:
    """Build the JAX head that computes what a PyTorch head does, given the parameters of `params_of`.

    Args:
        module: a norm or distance; an encoder is up to Flax or Equinox.

    Returns:
        A `NormHead` for a norm, a `Head` for a distance.

    Examples:
        >>> import trimetric as tm
        >>> module = tm.recommended(8, symmetric=False)
        >>> head, params = head_of(module), params_of(module)
        >>> head(params, jnp.zeros(8), jnp.ones((5, 8))).shape
        (5,)
    """
    make = _MAKERS.get(type(module))
    if make is None:
        known = ", ".join(sorted(kind.__name__ for kind in _MAKERS))
        raise TypeError(f"module: expected one of {known}, got {type(module).__name__}")
    return make(module)


def _inner(module: Any) -> Any:
    return head_of(module.inner)


def _pool_name(module: Any) -> Any:
    kind = type(module.pool).__name__
    return {"Mean": "mean", "Max": "max", "MaxMean": "maxmean", "Single": "mean"}[kind]


def _wide(module: Any) -> NormHead:
    components, width, columns = module.weight.shape
    return norms.wide_norm(
        module.dim,
        components=components,
        width=width,
        symmetric=module.axioms.symmetric,
        form="rectified" if columns == module.dim else "paper",
        monotone=module.axioms.monotone,
        pool=_pool_name(module),
    )


def _corridor(module: Any) -> Head:
    base = None if module.base is None else head_of(module.base)
    return wrappers.corridor_metric(_inner(module), base=base, floor=module.floor)


def _calibrated(module: Any) -> Head:
    if module.shifts:
        raise TypeError("module: expected a Calibrated of a distance with promises, got one that shifts its values")
    return wrappers.calibrated(_inner(module))


def _neural(module: Any) -> Head:
    pool = None if module.own_pool is None else _pool_name(module)
    return wrappers.neural_metric(_inner(module), concave_units=module.concave.raw_slope.shape[1], pool=pool)


def _tolls(module: Any) -> Head:
    tolls = (module.dim - module.inner.dim) // (1 if module.shared else 2)
    return wrappers.toll_metric(
        _inner(module),
        per="component" if tolls > 1 else "head",
        shared=module.shared,
        map=module.map,
    )


_MAKERS: dict[type, Any] = {
    n.Euclidean: lambda m: norms.euclidean(m.dim),
    n.Mahalanobis: lambda m: norms.mahalanobis(m.dim, rank=len(m.weight)),
    n.WideNorm: _wide,
    n.DeepNorm: lambda m: norms.deep_norm(m.dim, widths=m.widths, activation=m.activation, pool=_pool_name(m)),
    n.Symmetrized: lambda m: norms.symmetrized(_inner(m)),
    d.NormInduced: lambda m: distances.norm_induced(_inner(m)),
    d.IntervalQuasimetric: lambda m: distances.interval_quasimetric(
        m.dim, components=m.num_components, pool=_pool_name(m)
    ),
    d.ResidualMetric: lambda m: distances.residual_metric(
        m.dim, components=m.num_components, shared=m.shared, pool=_pool_name(m)
    ),
    d.NeuralMetric: _neural,
    d.TollMetric: _tolls,
    d.CorridorMetric: _corridor,
    d.Calibrated: _calibrated,
    d.WideMetric: lambda m: wrappers.wide_metric([head_of(part) for part in m.distances], pool=_pool_name(m)),
    d.SymmetrizedMetric: lambda m: wrappers.symmetrized_metric(_inner(m), how=m.how),
}
