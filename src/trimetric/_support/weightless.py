"""Modules without memory for their weights, to learn the shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

FACTORIES = {"randn", "rand", "zeros", "ones"}  # of the arguments of torch.empty
FILLS = {"normal_", "trunc_normal_", "exponential_"}
POINTWISE = {
    *("add", "__add__", "__radd__", "sub", "__sub__", "rsub", "__rsub__", "neg", "__neg__"),
    *("mul", "__mul__", "__rmul__", "div", "__truediv__", "true_divide", "reciprocal", "pow", "__pow__"),
    *("exp", "expm1", "log", "log1p", "sqrt", "abs", "sigmoid", "logit", "softplus"),
}


@contextmanager
def weightless() -> Iterator[None]:
    """Build modules with shapes and types only, on the device "meta".

    `with torch.device("meta")` does that too, but the arithmetic of initial values, which has no result there, imports
    large parts of `torch.compile`: two seconds.  So the most common functions are answered here, by their shapes.

    Examples:
        >>> with weightless():
        ...     x = torch.randn(10**6, 10**6) / 1000
        >>> x.shape, x.device.type
        (torch.Size([1000000, 1000000]), 'meta')
    """
    with torch.device("meta"), _Shapes():
        yield


class _Shapes(TorchFunctionMode):
    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        if name in FACTORIES and getattr(torch, name) is func:
            return torch.empty(*args, **kwargs)
        if func is torch.linspace and len(args) == 3 and not kwargs:
            return torch.empty(args[2])
        if name in FILLS:
            filled = args[0] if args else kwargs.get("tensor")  # so called by torch.nn.init
            if isinstance(filled, Tensor) and filled.is_meta:
                return filled
        if name in POINTWISE and not kwargs and (found := _of_same_kind(args)) is not None:
            return found
        return func(*args, **kwargs)


def _of_same_kind(values: tuple[Any, ...]) -> Tensor | None:
    """What a pointwise function of floating tensors of one type, and of numbers, returns; None for others."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    kinds = {(value.dtype, value.device.type) for value in tensors}
    numbers = all(isinstance(value, (Tensor, int, float)) for value in values)
    if not numbers or len(kinds) != 1 or not (tensors[0].is_meta and tensors[0].is_floating_point()):
        return None
    # NumPy's, because torch.broadcast_shapes imports them too.
    return torch.empty(np.broadcast_shapes(*(value.shape for value in tensors)), dtype=tensors[0].dtype)
