"""`torch.compile` where it works and pays, the plain function with one warning where it does not."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from trimetric.distances import (
    ConvexNetwork,
    Distance,
    IntervalQuasimetric,
    MLPDistance,
    ObjectDistance,
    RandersMetric,
    Siamese,
)
from trimetric.kernels import products
from trimetric.kernels.rows import fused as fused_passes
from trimetric.kernels.rows.layers import is_relu_network
from trimetric.models.encoders import MLP

Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]
FASTER_COMPILED = (MLPDistance, ConvexNetwork, RandersMetric)
"""heads, and parts of heads, whose steps are faster on a CPU when they are compiled, encoder included, unless their
products are faster by oneDNN: compiled code calls MKL"""


def compile_where_it_pays(model: ObjectDistance, *, fused: bool) -> tuple[ObjectDistance, Wrapper | None]:
    """Decide which parts of a model are compiled, so that compiled training is never slower than the plain one.

    On a CPU, compiling a step pays for the heads of `FASTER_COMPILED` and costs time for all others of this package:
    the fused passes of heads and of encoders are faster than compiled code, and a compiled function takes longer to
    call (`python -m benchmarks step`).  Encoders and heads of somebody else are compiled.

    Args:
        model: what is trained.
        fused: whether the passes may be fused, which they are at full precision.

    Returns:
        The model to call, which shares its parameters with the given one, and what to put around the call; None for
        nothing.
    """
    first = next(iter(model.parameters()), None)
    like = torch.empty(0) if first is None else first
    if fused and fused_passes.available(like) and model.factors_through_points and not _gains(model.head, like):
        if not isinstance(model, Siamese) or _is_fast(model.encoder):
            _warn("this encoder and head are faster on a CPU than compiled code")
            return model, None
        return _with_compiled_encoder(model), None
    if like.device.type == "cpu" and any(isinstance(module, IntervalQuasimetric) for module in model.modules()):
        _warn("an IntervalQuasimetric is slower on a CPU when compiled")
        return model, None
    return model, CompiledOrEager


def _gains(head: Distance, like: Tensor) -> bool:
    """Whether a step with this head is faster when all of it is compiled."""
    parts = [module for module in head.modules() if not type(module).__module__.startswith("torch.")]
    if any(not type(part).__module__.startswith("trimetric.") for part in parts):
        return True
    return not products.by_onednn(like) and any(isinstance(part, FASTER_COMPILED) for part in parts)


def _is_fast(encoder: nn.Module) -> bool:
    return isinstance(encoder, (nn.Embedding, MLP)) or is_relu_network(encoder)


def _with_compiled_encoder(model: Siamese) -> Siamese:
    """The same model, with the same parameters, that calls its encoder through a compiler."""
    twin = copy.copy(model)
    twin._modules = dict(model._modules)
    twin.encoder = _Compiled(model.encoder)
    return twin


def _warn(reason: str) -> None:
    warnings.warn(f"compile: training runs uncompiled, because {reason}", RuntimeWarning, stacklevel=4)


class _Compiled(nn.Module):
    """A module that is called through a compiler."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.call = CompiledOrEager(module)

    def forward(self, x: Tensor) -> Tensor:
        return self.call(x)


class CompiledOrEager:
    """Calls the compiled function; after the first failure to compile, the plain one."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.eager = function
        self.compiled: Callable[..., Any] | None = torch.compile(function, dynamic=True)

    def __call__(self, *arguments: Any) -> Any:
        if self.compiled is None:
            return self.eager(*arguments)
        try:
            return self.compiled(*arguments)
        except (RuntimeError, OSError) as error:
            result = self.eager(*arguments)  # raises again what is not the compiler's fault
            reason = str(error).strip().partition("\n")[0]
            warnings.warn(
                f"compile: the compiler failed, so training continues without it ({reason})",
                RuntimeWarning,
                stacklevel=2,
            )
            self.compiled = None
            return result
