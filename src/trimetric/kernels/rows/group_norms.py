"""Euclidean lengths of groups of numbers, rectified or not, and of groups of products with a matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from trimetric.kernels import products
from trimetric.kernels.rows import fused
from trimetric.kernels.rows.linear import linear

ALIGNED, WORTH_FILLING = 16, 3
HALF_PAGE, SPARE_BYTES = 2048, 64
BLOCK = 512
"""rows at a time where nothing is kept for gradients, so that their products stay in the cache"""


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
    if x.ndim == 2 and x.shape[1] == raw_weight.shape[2]:
        if fused.applies(x, raw_weight):
            return _ProjectedNorms.apply(x, raw_weight, rectified, nonnegative)  # type: ignore[return-value]
        if not torch.is_grad_enabled() and fused.allows(x, raw_weight) and len(x) > BLOCK:
            weight = raw_weight.abs() if nonnegative else raw_weight
            return torch.cat([_projected(rows, weight, rectified, False) for rows in x.split(BLOCK)])
    return _projected(x, raw_weight, rectified, nonnegative)


def _projected(x: Tensor, raw_weight: Tensor, rectified: bool, nonnegative: bool) -> Tensor:
    weight = raw_weight.abs() if nonnegative else raw_weight
    return _definition(linear(x, weight.flatten(0, 1)), len(weight), rectified)


def _definition(u: Tensor, groups: int, rectified: bool) -> Tensor:
    pieces = (u.relu() if rectified else u).unflatten(-1, (groups, -1))
    return torch.linalg.vector_norm(pieces, dim=-1)


class _GroupNorms(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, u: Tensor, groups: int, rectified: bool) -> Tensor:  # type: ignore[override]
        u = u.contiguous()
        out = u.new_empty(len(u), groups)
        _write_norms(u, u.shape[1] // groups, rectified, out)
        ctx.save_for_backward(u, out)
        ctx.rectified = rectified
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        u, norms = ctx.saved_tensors
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_definition, (u, norms.shape[1], ctx.rectified), grad)
        out = u.clone()
        _scale_to_gradients(out, u.shape[1] // norms.shape[1], norms, grad.contiguous(), ctx.rectified)
        return out, None, None


class _ProjectedNorms(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, raw_weight: Tensor, rectified: bool, nonnegative: bool) -> Tensor:  # type: ignore[override]
        weight = raw_weight.abs() if nonnegative else raw_weight
        wide, x_wide = _aligned(weight.flatten(0, 1)), products.padded(_aligned(x))
        u = _products(x_wide, wide)
        out = u.new_empty(len(u), len(weight))
        _write_norms(u, weight.shape[1], rectified, out)
        ctx.save_for_backward(x, raw_weight, x_wide, wide, u, out)
        ctx.settings = rectified, nonnegative
        ctx.overwritten = False
        return out[: len(x)]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, raw_weight, x_wide, wide, u, norms = ctx.saved_tensors
        rectified, nonnegative = ctx.settings
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_projected, (x, raw_weight, rectified, nonnegative), grad)
        if ctx.overwritten:  # by an earlier pass over the same graph
            u = _products(x_wide, wide)
        ctx.overwritten = True
        grad = products.with_rows(grad, len(u)).contiguous()
        _scale_to_gradients(u, raw_weight.shape[1], norms, grad, rectified)
        pull, dim = u[:, : len(wide)], x.shape[1]
        on_x = on_weight = None
        if ctx.needs_input_grad[0]:
            on_x = products.times(pull, wide)[: len(x), :dim]
        if ctx.needs_input_grad[1]:
            on_weight = products.transposed_times(pull, x_wide)[:, :dim].contiguous().view_as(raw_weight)
            if nonnegative:
                _multiply_by_sign(on_weight.view(-1), raw_weight.contiguous().view(-1))
        return on_x, on_weight, None, None


def _products(x: Tensor, weight: Tensor) -> Tensor:
    """`x @ weight.mT`, by MKL with unused columns behind it where rows would else lie a multiple of half a page apart.

    A column of such rows falls on a few lines of the cache, and the product that reads columns, that of the gradient
    of the weights, takes a fifth longer.
    """
    if products.uses_onednn(x, weight):
        return products.times_transposed(x, weight)
    width = len(weight)
    spare = SPARE_BYTES // x.element_size() if width * x.element_size() % HALF_PAGE == 0 else 0
    out = x.new_empty(len(x), width + spare)
    torch.mm(x, weight.mT, out=out[:, :width])
    return out


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
def _write_norms(u: Any, w: Any, rectified: Any, out: Any) -> None:
    n, k = out.shape
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


# In place, since only a loop over one array is vectorized.
@fused.machine_code
def _scale_to_gradients(u: Any, w: Any, norms: Any, grad: Any, rectified: Any) -> None:
    n, k = norms.shape
    zero = u.dtype.type(0)
    for i in range(n):
        for c in range(k):
            piece = u[i, c * w : (c + 1) * w]
            norm, pull = norms[i, c], grad[i, c]
            if norm == zero:
                piece[:] = zero
                continue
            factor = pull / norm
            if not np.isfinite(factor):  # the quotient of a tiny norm overflows where that of its numbers does not
                for q in range(w):
                    v = zero if rectified and piece[q] < zero else piece[q]
                    piece[q] = v / norm * pull
            elif rectified:
                for q in range(w):
                    v = piece[q]
                    piece[q] = (zero if v < zero else v) * factor
            else:
                for q in range(w):
                    piece[q] *= factor
