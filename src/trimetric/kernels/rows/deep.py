r"""The layers $h_i = g_i(W_i h_{i-1} + u_i)$ of a Deep Norm from their skips $u_i$, with $W_i = |V_i|$."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from trimetric.kernels import products
from trimetric.kernels.rows import fused


def deep_units(
    x: Float[Tensor, "n in"],
    skip: Float[Tensor, "u in"] | None,
    widths: Sequence[int],
    slope: float | None,
    raw_weights: Sequence[Tensor],
    raw_mixes: Sequence[Tensor],
) -> Float[Tensor, "n k"] | None:
    r"""Compute the units of the last layer.

    Args:
        x: vectors, or the skips of all layers side by side.
        skip: the matrix from vectors to these skips; None if they are given.
        widths: the number of units of each layer.
        slope: of all activations but the last, for negative numbers; None for MaxReLU.
        raw_weights: the matrices V of all layers but the first.
        raw_mixes: for MaxReLU the weights of each layer but the last, whose sizes count; otherwise none.

    Returns:
        The units; None if plain torch has to compute them.
    """
    if x.ndim != 2 or not fused.applies(x, *([] if skip is None else [skip]), *raw_weights, *raw_mixes):
        return None
    return _DeepUnits.apply(x, skip, tuple(widths), slope, *raw_weights, *raw_mixes)  # type: ignore[return-value]


def _definition(
    x: Tensor, skip_weight: Tensor | None, widths: tuple[int, ...], slope: float | None, *raw: Tensor
) -> Tensor:
    skips = x if skip_weight is None else F.linear(x, skip_weight)
    unit, *rest = skips.split(widths, dim=-1)
    for i, skip in enumerate(rest):
        if slope is None:
            a, b = unit.chunk(2, dim=-1)
            alpha, beta = raw[len(rest) + i].abs()
            unit = torch.cat([torch.maximum(a, b), alpha * a.relu() + beta * b.relu()], dim=-1)
        else:
            unit = F.leaky_relu(unit, slope) if slope else unit.relu()
        unit = F.linear(unit, raw[i].abs()) + skip
    return unit.relu()


class _DeepUnits(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, x: Tensor, skip_weight: Tensor | None, widths: tuple[int, ...], slope: float | None, *raw: Tensor
    ) -> Tensor:
        wide = products.padded(x.contiguous())
        skips = wide if skip_weight is None else products.times_transposed(wide, skip_weight)
        unit, *rest = skips.split(widths, dim=-1)
        units, hidden = [], []
        for i, skip in enumerate(rest):
            active = torch.empty_like(unit, memory_format=torch.contiguous_format)
            if slope is None:
                _write_max_relu(unit if i else skips, raw[len(rest) + i], active)
            elif slope:
                torch.ops.aten.leaky_relu.out(unit, slope, out=active)
            else:
                torch.clamp_min(unit, 0, out=active)
            units.append(unit)
            hidden.append(active)
            unit = products.times_transposed(active, raw[i].abs()).add_(skip)
        out = unit.relu()
        ctx.settings = widths, slope
        ctx.save_for_backward(x, wide, skip_weight, skips, out, *raw, *units[1:], *hidden)
        return out[: len(x)]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, wide, skip_weight, skips, out, *rest = ctx.saved_tensors
        widths, slope = ctx.settings
        layers = len(widths) - 1
        mixes = layers if slope is None else 0
        raw, rest = rest[: layers + mixes], rest[layers + mixes :]
        units, hidden = [skips[:, : widths[0]], *rest[: layers - 1]], rest[max(layers - 1, 0) :]
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_definition, (x, skip_weight, widths, slope, *raw), grad)
        on_raw: list[Tensor | None] = [None] * len(raw)
        on_skips = torch.empty_like(skips)
        parts = on_skips.split(widths, dim=-1)
        grad = products.with_rows(grad, len(wide))
        torch.ops.aten.threshold_backward.grad_input(grad, out, 0, grad_input=parts[-1])
        for i in reversed(range(layers)):
            pull = parts[i + 1]
            on_raw[i] = products.transposed_times(pull, hidden[i]).mul_(raw[i].sign())
            through = products.times(pull, raw[i].abs())
            if slope is None:
                on_raw[layers + i] = torch.zeros_like(raw[layers + i])
                unit, first = units[i] if i else skips, sum(widths[:i])
                _write_max_relu_gradients(unit, raw[layers + i], through, on_skips, first, on_raw[layers + i])
            else:
                torch.ops.aten.leaky_relu_backward.grad_input(through, units[i], slope, False, grad_input=parts[i])
        if skip_weight is None:
            return on_skips[: len(x)], None, None, None, *on_raw
        on_x = products.times(on_skips, skip_weight)[: len(x)]
        return on_x, products.transposed_times(on_skips, wide), None, None, *on_raw


# The loops read the first units of each row and get whole tensors, as they are slow on parts that are not contiguous.
@fused.machine_code
def _write_max_relu(unit: Any, raw_mix: Any, out: Any) -> None:
    n, width = out.shape
    half = width // 2
    zero = unit.dtype.type(0)
    for i in range(n):
        first, second = unit[i, :half], unit[i, half:width]
        larger, mixed = out[i, :half], out[i, half:]
        alpha, beta = raw_mix[0], raw_mix[1]
        for c in range(half):
            a, b = first[c], second[c]
            larger[c] = b if b > a or b != b else a
            a, b = zero if a < zero else a, zero if b < zero else b
            mixed[c] = abs(alpha[c]) * a + abs(beta[c]) * b


@fused.machine_code
def _write_max_relu_gradients(unit: Any, raw_mix: Any, grad: Any, out: Any, to: Any, on_mix: Any) -> None:
    n, width = grad.shape
    half = width // 2
    kind = unit.dtype.type
    zero, middle, one = kind(0), kind(0.5), kind(1)
    alpha, beta, on_alpha, on_beta = raw_mix[0], raw_mix[1], on_mix[0], on_mix[1]
    for i in range(n):
        first, second = unit[i, :half], unit[i, half:width]
        on_larger, on_mixed = grad[i, :half], grad[i, half:]
        on_first, on_second = out[i, to : to + half], out[i, to + half : to + width]
        for c in range(half):
            a, b, pull, mixed = first[c], second[c], on_larger[c], on_mixed[c]
            share = one if a > b else (middle if a == b else zero)
            on_first[c] = share * pull + (abs(alpha[c]) * mixed if a > zero else zero)
            on_second[c] = (one - share) * pull + (abs(beta[c]) * mixed if b > zero else zero)
            on_alpha[c] += mixed * (zero if a < zero else a)
            on_beta[c] += mixed * (zero if b < zero else b)
    for c in range(half):
        on_alpha[c] *= one if alpha[c] > zero else (-one if alpha[c] < zero else zero)
        on_beta[c] *= one if beta[c] > zero else (-one if beta[c] < zero else zero)
