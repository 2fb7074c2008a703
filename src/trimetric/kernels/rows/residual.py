"""A length and the largest positive number, of groups of differences (metric residual networks)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from trimetric.kernels.rows import fused


def residual_components(
    differences: Float[Tensor, "n k*w"], groups: int, *, lengths: int, excess_from: int
) -> Float[Tensor, "n k"] | None:
    """Add up the length of the first numbers of each group and the largest of the last ones, or 0.

    Args:
        differences: a row per pair, in groups of equal width.
        groups: their number.
        lengths: how many numbers of a group the length reads, from the first on.
        excess_from: the first number of a group that the maximum reads.

    Returns:
        The sums; None if plain torch has to compute them.
    """
    if differences.ndim != 2 or not fused.applies(differences):
        return None
    return _Residual.apply(differences, groups, lengths, excess_from)  # type: ignore[return-value]


def _definition(differences: Tensor, groups: int, lengths: int, excess_from: int) -> Tensor:
    pieces = differences.unflatten(-1, (groups, -1))
    length = torch.linalg.vector_norm(pieces[..., :lengths], dim=-1)
    excess = pieces[..., excess_from:].relu()
    return length + excess.amax(dim=-1) if excess.shape[-1] else length


class _Residual(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, differences: Tensor, groups: int, lengths: int, excess_from: int) -> Tensor:  # type: ignore[override]
        differences = differences.contiguous()
        length, largest = differences.new_empty(2, len(differences), groups)
        _write_parts(differences, lengths, excess_from, length, largest)
        ctx.save_for_backward(differences, length, largest)
        ctx.ends = lengths, excess_from
        return length + largest

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        differences, length, largest = ctx.saved_tensors
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_definition, (differences, length.shape[1], *ctx.ends), grad)
        out = torch.empty_like(differences)
        _write_gradients(differences, *ctx.ends, length, largest, grad.contiguous(), out)
        return out, None, None, None


@fused.machine_code
def _write_parts(differences: Any, lengths: Any, excess_from: Any, length: Any, largest: Any) -> None:
    n, k = length.shape
    w = differences.shape[1] // k
    zero = length.dtype.type(0)
    for i in range(n):
        for c in range(k):
            piece = differences[i, c * w : (c + 1) * w]
            squares, top, check = zero, zero, zero
            for q in range(lengths):
                squares += piece[q] * piece[q]
            for q in range(excess_from, w):
                top = piece[q] if piece[q] > top else top
                check += piece[q]
            if check != check:  # a NaN, or infinities of both signs
                for q in range(excess_from, w):
                    top = piece[q] if piece[q] != piece[q] else top
            length[i, c], largest[i, c] = math.sqrt(squares), top


@fused.machine_code
def _write_gradients(
    differences: Any, lengths: Any, excess_from: Any, length: Any, largest: Any, grad: Any, out: Any
) -> None:
    n, k = length.shape
    w = differences.shape[1] // k
    zero = out.dtype.type(0)
    for i in range(n):
        for c in range(k):
            piece, to = differences[i, c * w : (c + 1) * w], out[i, c * w : (c + 1) * w]
            pull, norm, top = grad[i, c], length[i, c], largest[i, c]
            factor = pull / norm if norm != zero else zero
            if not np.isfinite(factor):  # the quotient of a tiny norm overflows where that of its numbers does not
                for q in range(lengths):
                    to[q] = piece[q] / norm * pull
            else:
                for q in range(lengths):
                    to[q] = piece[q] * factor
            for q in range(max(lengths, excess_from), w):
                to[q] = zero
            if top != zero:
                equal = 0
                for q in range(excess_from, w):
                    equal += piece[q] == top
                share = pull / out.dtype.type(max(equal, 1))
                for q in range(excess_from, w):
                    to[q] += share if piece[q] == top else zero
