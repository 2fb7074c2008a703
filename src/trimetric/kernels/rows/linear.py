"""Linear maps, with products by the faster library."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from trimetric.kernels import products
from trimetric.kernels.rows import fused


def linear(x: Float[Tensor, "*batch in"], weight: Float[Tensor, "out in"]) -> Float[Tensor, "*batch out"]:
    """Compute `x @ weight.mT`.

    Args:
        x: vectors.
        weight: the matrix, as layers keep it.

    Examples:
        >>> linear(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([[11.]])
    """
    # Asked first, because it takes least time and mostly decides.
    if torch.compiler.is_compiling() or x.ndim < 2 or x.shape[-1] != weight.shape[1]:
        return F.linear(x, weight)
    rows = x if x.ndim == 2 else x.flatten(0, -2)
    if not (products.uses_onednn(rows, weight) and fused.allows(x, weight)):
        return F.linear(x, weight)
    found = _Linear.apply(rows, weight) if torch.is_grad_enabled() else _product(rows, weight)
    return found if x.ndim == 2 else found.view(*x.shape[:-1], len(weight))  # type: ignore[union-attr]


def _product(x: Tensor, weight: Tensor) -> Tensor:
    return products.times_transposed(products.padded(x), weight)[: len(x)]


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:  # type: ignore[override]
        ctx.save_for_backward(x, weight)
        return _product(x, weight)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, weight = ctx.saved_tensors
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(F.linear, (x, weight), grad)
        grad = products.padded(grad)
        on_x = products.times(grad, weight)[: len(x)] if ctx.needs_input_grad[0] else None
        on_weight = products.transposed_times(grad, products.padded(x)) if ctx.needs_input_grad[1] else None
        return on_x, on_weight
