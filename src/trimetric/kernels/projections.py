r"""All pairs of Euclidean and of rectified components, with gradients that need no tensor of size pairs x width.

$\|b-a\|_2$ goes by the identity $\|a\|^2 + \|b\|^2 - 2\,a \cdot b$, a matrix product.  The identity loses the
digits that $\|a\|^2 + \|b\|^2$ does not share with $\|b-a\|^2$, so pairs that would lose too many (the
"close" ones) are computed again from their difference, in the distances and in the gradients.

$\|\mathrm{relu}(b-a)\|_2$ has no such identity; it accumulates over the coordinates, on CPUs in machine code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from trimetric.kernels.pairs import Projection
from trimetric.kernels.scratch import Scratch

# Close: ||b - a||^2 <= CLOSE (||a||^2 + ||b||^2).  Other pairs lose at most 5 bits of the square.
CLOSE = 1 / 32
CHUNK_FLOATS = 1 << 20


def add_product(
    total: Float[Tensor, "pairs out"], rows: Float[Tensor, "pairs in"], weight: Float[Tensor, "in out"]
) -> Float[Tensor, "pairs out"]:
    """Compute `total + rows @ weight`, in the memory of `total` unless autograd would copy it (it is a view)."""
    return torch.addmm(total, rows, weight) if torch.is_grad_enabled() else total.addmm_(rows, weight)


def with_squares(points: Float[Tensor, "n k*w"], components: int) -> tuple[Tensor, Tensor]:
    """Prepare points for `euclidean_pairs`.

    Args:
        points: `components` groups of coordinates of equal width.
        components: number of groups.

    Returns:
        The points, and the squared length `(n, components)` of each of their groups.
    """
    pieces = points.detach().unflatten(-1, (components, -1))
    return points, torch.linalg.vector_norm(pieces, dim=-1).square_()


def euclidean_pairs(px: Projection, py: Projection, scratch: Scratch) -> Float[Tensor, "n m k"]:
    """Compute `||b_c - a_c||_2` for each component c of all pairs of points.

    Args:
        px: the points a, from `with_squares`.
        py: the points b, from `with_squares`.
        scratch: memory for the result and for what is needed on the way.
    """
    (a, a_squares), (b, b_squares) = px, py
    k = a_squares.shape[1]
    out = scratch.take("distances", (k, len(a), len(b)), a)
    distances, _ = _EuclideanPairs.apply(  # type: ignore[misc]
        _by_component(a, k),
        _by_component(b, k),
        a_squares.mT.contiguous(),
        b_squares.mT.contiguous(),
        out,
        scratch,
    )
    return distances.movedim(0, -1)


def rectified_pairs(
    px: Float[Tensor, "n k*w"], py: Float[Tensor, "m k*w"], components: int, scratch: Scratch
) -> Float[Tensor, "n m k"]:
    """Compute `||relu(b_c - a_c)||_2` for each component c of all pairs of points.

    Args:
        px: the points a, in `components` groups of coordinates.
        py: the points b.
        components: number of groups.
        scratch: memory for the result and for what is needed on the way.
    """
    out = scratch.take("distances", (components, len(px), len(py)), px)
    a, b = _by_component(px, components), _by_component(py, components)
    return _RectifiedPairs.apply(a, b, out, scratch).movedim(0, -1)  # type: ignore[union-attr]


def _by_component(points: Float[Tensor, "n k*w"], components: int) -> Float[Tensor, "k n w"]:
    return points.unflatten(-1, (components, -1)).movedim(1, 0)


class _EuclideanPairs(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, a: Tensor, b: Tensor, a_squares: Tensor, b_squares: Tensor, out: Tensor, scratch: Scratch
    ) -> tuple[Tensor, Tensor]:
        squares = torch.add(a_squares.unsqueeze(2), b_squares.unsqueeze(1), out=out)
        squares.baddbmm_(a, b.mT, alpha=-2)
        margin = scratch.take("margin", out.shape, out)
        torch.add((CLOSE * a_squares).unsqueeze(2), (CLOSE * b_squares).unsqueeze(1), out=margin)
        close = _not_positive(torch.sub(squares, margin, out=margin))
        distances = squares.sqrt_()
        for chunk in _chunks(close, a.shape[-1]):
            c, i, j = chunk.unbind(1)
            distances[c, i, j] = torch.linalg.vector_norm(b[c, j] - a[c, i], dim=-1)
        ctx.mark_dirty(out)
        ctx.mark_non_differentiable(close)
        ctx.save_for_backward(a, b, distances, close)
        return distances, close

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        a, b, distances, close = ctx.saved_tensors
        pull = grad / distances
        pull[tuple(close.unbind(1))] = 0  # every zero distance is close
        grad_a = torch.baddbmm(a * pull.sum(2, keepdim=True), pull, b, alpha=-1)
        grad_b = torch.baddbmm(b * pull.sum(1).unsqueeze(2), pull.mT, a, alpha=-1)
        for chunk in _chunks(close, a.shape[-1]):
            c, i, j = chunk.unbind(1)
            near = _divide_or_zero(grad[c, i, j], distances[c, i, j]).unsqueeze(1) * (b[c, j] - a[c, i])
            grad_a.index_put_((c, i), -near, accumulate=True)
            grad_b.index_put_((c, j), near, accumulate=True)
        return grad_a, grad_b, None, None, None, None


class _RectifiedPairs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, out: Tensor, scratch: Scratch) -> Tensor:  # type: ignore[override]
        ctx.loops = _rectified_loops() if _fits_machine_code(out) else None
        if ctx.loops is not None:
            ctx.loops.run_on_components(ctx.loops.write_distances, a.mT.contiguous(), b.mT.contiguous(), out)
        else:
            _rectified_distances(a, b, out, scratch)
        ctx.mark_dirty(out)
        ctx.scratch = scratch
        ctx.save_for_backward(a, b, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        a, b, distances = ctx.saved_tensors
        pull = _divide_or_zero(grad, distances)
        if ctx.loops is None:
            return *_rectified_gradients(a, b, pull, ctx.scratch), None, None
        a, b = a.mT.contiguous(), b.mT.contiguous()
        grad_a, grad_b = torch.zeros_like(a), torch.zeros_like(b)
        ctx.loops.run_on_components(ctx.loops.add_gradients, a, b, pull.contiguous(), grad_a, grad_b)
        return grad_a.mT, grad_b.mT, None, None


@functools.cache
def _rectified_loops() -> Any:
    """The module of the loops in machine code; None if numba is not installed."""
    from trimetric.kernels import machine_code, rectified  # here, because they import numba

    return rectified if machine_code.HAS_NUMBA else None


def _fits_machine_code(like: Tensor) -> bool:
    return like.device.type == "cpu" and like.dtype in (torch.float32, torch.float64)


def _rectified_distances(a: Tensor, b: Tensor, out: Tensor, scratch: Scratch) -> None:
    """Write the distances to `out`, one coordinate at a time."""
    excess = scratch.take("excess", out.shape, out)
    difference = _rectified_difference(a, b)
    for j, (a_j, b_j) in enumerate(_coordinates(a, b)):
        difference(a_j, b_j, excess)
        if j == 0:
            torch.mul(excess, excess, out=out)
        else:
            out.addcmul_(excess, excess)
    out.sqrt_()


def _rectified_gradients(a: Tensor, b: Tensor, pull: Tensor, scratch: Scratch) -> tuple[Tensor, Tensor]:
    excess = scratch.take("excess", pull.shape, pull)
    grad_a, grad_b = [], []
    difference = _rectified_difference(a, b)
    for a_j, b_j in _coordinates(a, b):
        difference(a_j, b_j, excess).mul_(pull)
        grad_a.append(excess.sum(2))
        grad_b.append(excess.sum(1))
    return torch.stack(grad_a, dim=-1).neg_(), torch.stack(grad_b, dim=-1)


def _not_positive(values: Tensor) -> Tensor:
    """Find the places where values <= 0, as `nonzero` gives them; usually none, which the minimum tells much faster."""
    if values.numel() == 0 or values.amin() > 0:
        return torch.empty(0, values.ndim, dtype=torch.long, device=values.device)
    return (values <= 0).nonzero()


def _chunks(close: Tensor, width: int) -> tuple[Tensor, ...]:
    return close.split(max(1, CHUNK_FLOATS // width))


def _divide_or_zero(grad: Tensor, distances: Tensor) -> Tensor:
    return torch.where(distances == 0, 0, grad / distances)


def _rectified_difference(a: Tensor, b: Tensor) -> Callable[..., Tensor]:
    """Return a function that writes `relu(b_j - a_j)` to `out`, in one pass where torch has a kernel for it."""
    if _fits_machine_code(a) and torch.isfinite(a.sum() + b.sum()):  # the kernel would make a NaN a 0
        return lambda a_j, b_j, out: torch.ops.aten._add_relu.out(b_j, a_j, alpha=-1, out=out)
    return lambda a_j, b_j, out: torch.sub(b_j, a_j, out=out).relu_()


def _coordinates(a: Tensor, b: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Column `a[..., j]` and row `b[..., j]` for each coordinate j."""
    return zip(a.unsqueeze(2).unbind(-1), b.unsqueeze(1).unbind(-1), strict=True)
