"""A clamp that a network can be trained through."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx


def projected_clamp(values: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Clamp to `[low, high]`, with the gradient of projected gradient descent.

    With the derivative of a clamp, or of a sigmoid, a network whose values have all left the interval would stay there.
    Here the gradient of `values` vanishes outside only where a step down would lead farther out.  The gradients of
    `low` and `high` are the derivatives.  NaN stays NaN.

    Args:
        values: what to clamp.
        low: the lower ends, of a shape that broadcasts to that of `values`.
        high: the upper ends, likewise.

    Returns:
        The clamped values.

    Examples:
        >>> values = torch.tensor([-1.0, 0.5, 3.0], requires_grad=True)
        >>> clamped = projected_clamp(values, torch.zeros(()), torch.ones(()))
        >>> clamped
        tensor([0.0000, 0.5000, 1.0000], grad_fn=<ProjectedBackward>)
        >>> clamped.sum().backward()  # a step down lowers all of them, which leads the first one farther out
        >>> values.grad
        tensor([0., 1., 1.])
    """
    shape = torch.broadcast_shapes(values.shape, low.shape, high.shape)
    return Projected.apply(values.expand(shape), low.expand(shape), high.expand(shape))  # type: ignore[return-value]


class Projected(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(values: Tensor, low: Tensor, high: Tensor) -> Tensor:
        return torch.minimum(torch.maximum(values, low), high)

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Tensor, ...], output: Tensor) -> None:  # noqa: ARG004
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        (values, low, high), (gradient,) = ctx.saved_tensors, grad_outputs
        below, above = values < low, values > high
        outward = (below & (gradient > 0)) | (above & (gradient < 0))
        return torch.where(outward, 0, gradient), torch.where(below, gradient, 0), torch.where(above, gradient, 0)
