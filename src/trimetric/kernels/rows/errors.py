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
        error, total = torch.empty_like(predictions), predictions.new_empty(1)
        _write_errors(predictions, targets, factor, error, total)
        ctx.save_for_backward(predictions, targets, error)
        ctx.factor = factor
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        predictions, targets, error = ctx.saved_tensors
        if fused.needs_definition(grad):
            error = predictions - targets
        return error * (2 * ctx.factor * grad), None, None


@fused.machine_code
def _write_errors(predictions: Any, targets: Any, factor: Any, error: Any, total: Any) -> None:
    for i in range(len(error)):
        error[i] = predictions[i] - targets[i]
    # A loop of its own: one that also writes adds up in another order where its arrays happen to lie side by side.
    found = total.dtype.type(0)
    for i in range(len(error)):
        found += error[i] * error[i]
    total[0] = total.dtype.type(factor) * found
