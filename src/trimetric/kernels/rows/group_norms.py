"""Euclidean lengths of groups of numbers, rectified or not, and of groups of products with a matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from trimetric.kernels.rows import fused

ALIGNED, WORTH_FILLING = 16, 3


def group_norms(u: Float[Tensor, "*batch k*w"], groups: int, *, rectified: bool) -> Float[Tensor, "*batch k"]:
    """Compute the 2-norm of each of `groups` pieces of the last axis.

    Args:
        u: the numbers.
        groups: pieces of equal width.
        rectified: whether negative numbers count as 0.
    """
    if u.ndim == 2 and fused.applies(u):
        return _GroupNorms.apply(u, groups, rectified)  # type: ignore[return-value]
    return _definition(u, groups, rectified)


def projected_norms(
    x: Float[Tensor, "*batch in"],
    raw_weight: Float[Tensor, "k w in"],
    *,
    rectified: bool = False,
    nonnegative: bool = False,
) -> Float[Tensor, "*batch k"]:
    """Compute the 2-norm of each `W_i x`.

    Args:
        x: vectors.
        raw_weight: the matrices.
        rectified: whether negative numbers of `W_i x` count as 0.
        nonnegative: whether the matrices are the absolute values of `raw_weight`.
    """
    if x.ndim == 2 and x.shape[1] == raw_weight.shape[2] and fused.applies(x, raw_weight):
        return _ProjectedNorms.apply(x, raw_weight, rectified, nonnegative)  # type: ignore[return-value]
    return _projected(x, raw_weight, rectified, nonnegative)


def _projected(x: Tensor, raw_weight: Tensor, rectified: bool, nonnegative: bool) -> Tensor:
    weight = raw_weight.abs() if nonnegative else raw_weight
    return _definition(x @ weight.flatten(0, 1).mT, len(weight), rectified)


def _definition(u: Tensor, groups: int, rectified: bool) -> Tensor:
    pieces = (u.relu() if rectified else u).unflatten(-1, (groups, -1))
    return torch.linalg.vector_norm(pieces, dim=-1)


class _GroupNorms(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, u: Tensor, groups: int, rectified: bool) -> Tensor:  # type: ignore[override]
        u = u.contiguous()
        out = u.new_empty(len(u), groups)
        _write_norms(u, rectified, out)
        ctx.save_for_backward(u, out)
        ctx.rectified = rectified
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        u, norms = ctx.saved_tensors
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_definition, (u, norms.shape[1], ctx.rectified), grad)
        out = torch.empty_like(u)
        _write_gradients(u, norms, grad.contiguous(), ctx.rectified, out)
        return out, None, None


class _ProjectedNorms(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, raw_weight: Tensor, rectified: bool, nonnegative: bool) -> Tensor:  # type: ignore[override]
        weight = raw_weight.abs() if nonnegative else raw_weight
        wide, x_wide = _aligned(weight.flatten(0, 1)), _aligned(x)
        u = x_wide @ wide.mT
        out = u.new_empty(len(u), len(weight))
        _write_norms(u, rectified, out)
        ctx.save_for_backward(x, raw_weight, x_wide, wide, u, out)
        ctx.settings = rectified, nonnegative
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, raw_weight, x_wide, wide, u, norms = ctx.saved_tensors
        rectified, nonnegative = ctx.settings
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_projected, (x, raw_weight, rectified, nonnegative), grad)
        pull = torch.empty_like(u)
        _write_gradients(u, norms, grad.contiguous(), rectified, pull)
        dim = x.shape[1]
        on_weight = (pull.mT @ x_wide)[:, :dim].contiguous().view_as(raw_weight)
        if nonnegative:
            _multiply_by_sign(on_weight.view(-1), raw_weight.contiguous().view(-1))
        return (pull @ wide)[:, :dim], on_weight, None, None


def _aligned(rows: Tensor) -> Tensor:
    """The rows with zeros behind them up to a multiple of 16 numbers, where that makes matrix products faster.

    A row that is a few numbers short of it, as below tolls, costs a tenth more than a full one; a shorter one does not.
    """
    missing = -rows.shape[1] % ALIGNED
    return F.pad(rows, (0, missing)) if 0 < missing <= WORTH_FILLING else rows


@fused.machine_code
def _multiply_by_sign(values: Any, of: Any) -> None:
    zero = values.dtype.type(0)
    for i in range(len(values)):
        value = values[i] if of[i] > zero else -values[i]
        values[i] = value if of[i] != zero else zero


@fused.machine_code
def _write_norms(u: Any, rectified: Any, out: Any) -> None:
    n, k = out.shape
    w = u.shape[1] // k
    zero = out.dtype.type(0)
    for i in range(n):
        for c in range(k):
            piece = u[i, c * w : (c + 1) * w]
            total = zero
            if rectified:
                for q in range(w):
                    v = piece[q]
                    v = zero if v < zero else v  # so that a NaN stays one
                    total += v * v
            else:
                for q in range(w):
                    total += piece[q] * piece[q]
            out[i, c] = math.sqrt(total)


@fused.machine_code
def _write_gradients(u: Any, norms: Any, grad: Any, rectified: Any, out: Any) -> None:
    n, k = norms.shape
    w = u.shape[1] // k
    zero = out.dtype.type(0)
    for i in range(n):
        for c in range(k):
            piece, to = u[i, c * w : (c + 1) * w], out[i, c * w : (c + 1) * w]
            norm, pull = norms[i, c], grad[i, c]
            if norm == zero:
                to[:] = zero
                continue
            factor = pull / norm
            if not np.isfinite(factor):  # the quotient of a tiny norm overflows where that of its numbers does not
                for q in range(w):
                    v = zero if rectified and piece[q] < zero else piece[q]
                    to[q] = v / norm * pull
            elif rectified:
                for q in range(w):
                    v = piece[q]
                    to[q] = (zero if v < zero else v) * factor
            else:
                for q in range(w):
                    to[q] = piece[q] * factor
