r"""The pooling $\alpha \max_i c_i + (1 - \alpha)\,\mathrm{mean}_i\,c_i$ of components."""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric.kernels.rows import fused


def max_mean(components: Float[Tensor, "n k"], raw_alpha: Float[Tensor, ""]) -> Float[Tensor, " n"] | None:
    """Pool components with a learned weight of the maximum.

    Args:
        components: a row per pair.
        raw_alpha: the weight, before the logistic function.

    Returns:
        The pooled rows; None if plain torch has to compute them.
    """
    if components.ndim != 2 or components.shape[1] == 0 or not fused.applies(components, raw_alpha):
        return None
    return _MaxMean.apply(components, raw_alpha)  # type: ignore[return-value]


def _definition(components: Tensor, raw_alpha: Tensor) -> Tensor:
    return torch.lerp(components.mean(dim=-1), components.amax(dim=-1), torch.sigmoid(raw_alpha))


class _MaxMean(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, components: Tensor, raw_alpha: Tensor) -> Tensor:  # type: ignore[override]
        components = components.contiguous()
        highest, mean = components.new_empty(2, len(components))
        alpha = _logistic(raw_alpha.item())
        out = torch.empty_like(mean)
        _write_pooled(components, alpha, highest, mean, out)
        ctx.save_for_backward(components, raw_alpha, highest, mean)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        components, raw_alpha, highest, mean = ctx.saved_tensors
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_definition, (components, raw_alpha), grad)
        alpha = _logistic(raw_alpha.item())
        out, on_alpha = torch.empty_like(components), components.new_empty(1)
        _write_gradients(components, alpha, highest, mean, grad.contiguous(), out, on_alpha)
        return out, on_alpha.view(())


def _logistic(raw: float) -> float:
    return 1 / (1 + math.exp(-raw)) if raw >= 0 else math.exp(raw) / (1 + math.exp(raw))


@fused.machine_code
def _write_pooled(components: Any, alpha: Any, highest: Any, mean: Any, out: Any) -> None:
    n, k = components.shape
    weight = components.dtype.type(alpha)
    for i in range(n):
        row = components[i]
        top, total = row[0], components.dtype.type(0)
        for c in range(k):
            total += row[c]
            top = row[c] if row[c] > top else top
        top = top if total == total else total  # NaN
        highest[i], mean[i] = top, total / k
        out[i] = mean[i] + weight * (top - mean[i])


@fused.machine_code
def _write_gradients(components: Any, alpha: Any, highest: Any, mean: Any, grad: Any, out: Any, on_alpha: Any) -> None:
    n, k = components.shape
    kind = components.dtype.type
    to_max, to_each, total = kind(alpha), kind((1 - alpha) / k), kind(0)
    for i in range(n):
        row, to, top = components[i], out[i], highest[i]
        equal = 0
        for c in range(k):
            equal += row[c] == top
        share, base = to_max * grad[i] / kind(max(equal, 1)), to_each * grad[i]
        for c in range(k):
            to[c] = base + share if row[c] == top else base
        total += (top - mean[i]) * grad[i]
    on_alpha[0] = total * kind(alpha * (1 - alpha))
