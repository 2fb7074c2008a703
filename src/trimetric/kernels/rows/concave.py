"""Learned concave functions of components: the lowest of a few lines each."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from trimetric.kernels.rows import fused


def lowest_lines(
    components: Float[Tensor, "n k"], raw_slope: Float[Tensor, "k units"], raw_offset: Float[Tensor, "k rest"]
) -> Float[Tensor, "n k"] | None:
    r"""Compute $\min_j\,(|w_{ij}|\,t_i + |b_{ij}|)$ with $b_{i0} = 0$ for the components $t_i$.

    Args:
        components: a row per pair.
        raw_slope: the slopes w, whose size counts.
        raw_offset: the offsets b but the first.

    Returns:
        The values; None if plain torch has to compute them.
    """
    if components.ndim != 2 or not fused.applies(components, raw_slope, raw_offset):
        return None
    return _LowestLines.apply(components, raw_slope, raw_offset)  # type: ignore[return-value]


def _definition(components: Tensor, raw_slope: Tensor, raw_offset: Tensor) -> Tensor:
    lines = torch.addcmul(F.pad(raw_offset.abs(), (1, 0)), raw_slope.abs(), components.unsqueeze(-1))
    return lines.min(dim=-1).values


class _LowestLines(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, components: Tensor, raw_slope: Tensor, raw_offset: Tensor) -> Tensor:  # type: ignore[override]
        components = components.contiguous()
        # A line at a time, for all components at once.
        slope, offset = raw_slope.abs().mT.contiguous(), F.pad(raw_offset.abs(), (1, 0)).mT.contiguous()
        out = torch.empty_like(components)
        line = torch.empty(components.shape, dtype=torch.int32, device=components.device)
        _write_lowest(components, slope, offset, out, line)
        ctx.save_for_backward(components, raw_slope, raw_offset, slope, line)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        components, raw_slope, raw_offset, slope, line = ctx.saved_tensors
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_definition, (components, raw_slope, raw_offset), grad)
        on_components = torch.empty_like(components)
        on_slope, on_offset = slope.new_zeros(2, *slope.shape)
        _write_gradients(components, slope, line, grad.contiguous(), on_components, on_slope, on_offset)
        return on_components, on_slope.mT * raw_slope.sign(), on_offset[1:].mT * raw_offset.sign()


@fused.machine_code
def _write_lowest(components: Any, slope: Any, offset: Any, out: Any, line: Any) -> None:
    n, k = components.shape
    for i in range(n):
        row, low, which = components[i], out[i], line[i]
        first = slope[0]
        for c in range(k):
            low[c] = first[c] * row[c]
            which[c] = 0
        for j in range(1, len(slope)):
            steep, above = slope[j], offset[j]
            for c in range(k):
                value = above[c] + steep[c] * row[c]
                lower = value < low[c] or value != value  # a NaN stays one
                low[c] = value if lower else low[c]
                which[c] = j if lower else which[c]


@fused.machine_code
def _write_gradients(
    components: Any, slope: Any, line: Any, grad: Any, on_components: Any, on_slope: Any, on_offset: Any
) -> None:
    n, k = components.shape
    zero = components.dtype.type(0)
    for i in range(n):
        row, which, pull, to = components[i], line[i], grad[i], on_components[i]
        for c in range(k):
            to[c] = zero
        for j in range(len(slope)):
            steep, to_slope, to_offset = slope[j], on_slope[j], on_offset[j]
            for c in range(k):
                own = pull[c] if which[c] == j else zero
                to[c] += own * steep[c]
                to_slope[c] += own * row[c]
                to_offset[c] += own
