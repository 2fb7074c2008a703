"""The sum of squared errors."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric.kernels.rows import fused


def sum_of_squares(
    predictions: Float[Tensor, " n"], targets: Float[Tensor, " n"], factor: float
) -> Float[Tensor, " one"]:
    """Compute `factor` times the sum of `(predictions - targets)^2`, in one step of autograd where that is possible.

    Args:
        predictions: with a gradient.
        targets: without one.
        factor: of the sum.
    """
    if predictions.ndim == 1 and not targets.requires_grad and fused.applies(predictions, targets):
        return _SumOfSquares.apply(predictions, targets, factor)  # type: ignore[return-value]
    return factor * (predictions - targets).square().sum().reshape(1)


class _SumOfSquares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, predictions: Tensor, targets: Tensor, factor: float) -> Tensor:  # type: ignore[override]
        error = predictions - targets
        ctx.save_for_backward(predictions, targets, error)
        ctx.factor = factor
        return torch.dot(error, error).mul_(factor).view(1)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        predictions, targets, error = ctx.saved_tensors
        if fused.needs_definition(grad):
            error = predictions - targets
        return error * (2 * ctx.factor * grad), None, None
