"""The sum of squared errors."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric.kernels.rows import fused


def sum_of_squares(predictions: Float[Tensor, " n"], targets: Float[Tensor, " n"]) -> Float[Tensor, " one"]:
    """Compute the sum of `(predictions - targets)^2`, in one step of autograd where that is possible.

    Args:
        predictions: with a gradient.
        targets: without one.
    """
    if predictions.ndim == 1 and not targets.requires_grad and fused.applies(predictions, targets):
        return _SumOfSquares.apply(predictions, targets)  # type: ignore[return-value]
    return (predictions - targets).square().sum().reshape(1)


class _SumOfSquares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, predictions: Tensor, targets: Tensor) -> Tensor:  # type: ignore[override]
        error = predictions - targets
        ctx.save_for_backward(predictions, targets, error)
        return torch.dot(error, error).view(1)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        predictions, targets, error = ctx.saved_tensors
        if fused.needs_definition(grad):
            error = predictions - targets
        return error * (2 * grad), None
