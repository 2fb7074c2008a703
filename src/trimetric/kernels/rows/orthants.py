"""The positive and the negative part of vectors, side by side."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric.kernels.rows import fused


def both_signs(x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch 2*dim"]:
    """Compute `relu(x :: -x)`.

    Args:
        x: vectors.
    """
    if x.ndim == 2 and fused.applies(x):
        return _BothSigns.apply(x)  # type: ignore[return-value]
    return torch.cat([x, -x], dim=-1).relu()


class _BothSigns(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:  # type: ignore[override]
        x = x.contiguous()
        out = x.new_empty(len(x), 2 * x.shape[1])
        _write_parts(x, out)
        ctx.save_for_backward(x)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # type: ignore[override]
        (x,) = ctx.saved_tensors
        if fused.needs_definition(grad):
            there, back = grad.chunk(2, dim=-1)
            return there * (x > 0) - back * (x < 0)
        out = torch.empty_like(x)
        _write_gradients(x, grad.contiguous(), out)
        return out


@fused.machine_code
def _write_parts(x: Any, out: Any) -> None:
    n, dim = x.shape
    zero = x.dtype.type(0)
    for i in range(n):
        row, positive, negative = x[i], out[i, :dim], out[i, dim:]
        for q in range(dim):
            positive[q] = zero if row[q] < zero else row[q]
            negative[q] = zero if row[q] > zero else -row[q]


@fused.machine_code
def _write_gradients(x: Any, grad: Any, out: Any) -> None:
    n, dim = x.shape
    zero = x.dtype.type(0)
    for i in range(n):
        row, on_positive, on_negative, to = x[i], grad[i, :dim], grad[i, dim:], out[i]
        for q in range(dim):
            pull = on_positive[q] if row[q] > zero else -on_negative[q]
            to[q] = pull if row[q] != zero else zero
