r"""Euclidean distances of all pairs: one matrix product, and one pass over it while it is in the cache.

$\|b-a\|^2 = \|a\|^2 + \|b\|^2 - 2\,a \cdot b$ loses the digits that the two sides do not share.  Pairs that would lose
more than three bits are computed from their difference, of the points as given: equal points are at distance 0
exactly, wherever they lie.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

# Close: ||b - a||^2 <= CLOSE (||a||^2 + ||b||^2), of centered points.
CLOSE = 1 / 8
BLOCK_FLOATS = 1 << 19  # products that are worked on at a time: they stay in the cache


def euclidean_distances(x: Float[Tensor, "n dim"], y: Float[Tensor, "m dim"]) -> Float[Tensor, "n m"]:
    """Compute `||y[j] - x[i]||_2` of all pairs, with gradients; needs numba and points in the memory of the CPU.

    Args:
        x: points.
        y: points.

    Examples:
        >>> x = 1000 + torch.tensor([[0.0, 0.0], [3.0, 4.0]])
        >>> euclidean_distances(x, x)
        tensor([[0., 5.],
                [5., 0.]])
    """
    return _Euclidean.apply(x, y)  # type: ignore[return-value]


class _Euclidean(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        loops = _loops()
        x, y = x.contiguous(), x.contiguous() if x is y else y.contiguous()
        a, b = _centered(x, y)
        a_squares, b_squares = _squares(a), _squares(b)
        out = x.new_empty(len(x), len(y))
        height = max(1, BLOCK_FLOATS // max(1, len(y)))
        points, lengths = (x.numpy(), y.numpy()), (a_squares.numpy(), b_squares.numpy())
        for first in range(0, len(x), height):
            block = torch.mm(a[first : first + height], b.mT, out=out[first : first + height]).numpy()

            def work(start: int, end: int, first: int = first, block: Any = block) -> None:
                rows = slice(first + start, first + end)
                loops.finish_distances(
                    block[start:end], points[0][rows], points[1], lengths[0][rows], lengths[1], CLOSE
                )

            loops.run_on_rows(work, len(block))
        ctx.save_for_backward(x, y, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        loops = _loops()
        x, y, distances = ctx.saved_tensors
        a, b = _centered(x, y)
        a_squares, b_squares = _squares(a), _squares(b)
        grad, grad_a, grad_b = grad.contiguous(), torch.zeros_like(x), torch.zeros_like(y)
        row_sums, column_sums = x.new_empty(len(x)), y.new_zeros(len(y))
        height = max(1, BLOCK_FLOATS // max(1, len(y)))
        pulls = x.new_empty(min(height, len(x)), len(y))
        for first in range(0, len(x), height):
            rows = slice(first, min(first + height, len(x)))
            pull = pulls[: rows.stop - first]
            near = grad_a[rows]
            given = (grad[rows], distances[rows], x[rows], y, a_squares[rows], b_squares)
            written = (pull, row_sums[rows], column_sums, near, grad_b)
            loops.divide_gradients(*(t.numpy() for t in given), CLOSE, *(t.numpy() for t in written))
            near.addmm_(pull, b, alpha=-1)
            grad_b.addmm_(pull.mT, a[rows], alpha=-1)
        return grad_a.addcmul_(a, row_sums.unsqueeze(1)), grad_b.addcmul_(b, column_sums.unsqueeze(1))


def _loops() -> Any:
    from trimetric.kernels import euclidean_loops  # here, because it imports numba

    return euclidean_loops


def _centered(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    center = (x.sum(dim=0) + y.sum(dim=0)) / (len(x) + len(y))
    center = torch.where(center.isfinite(), center, 0)  # a NaN stays in its row
    a = x - center
    return a, a if x is y else y - center


def _squares(points: Tensor) -> Tensor:
    return torch.linalg.vecdot(points, points)
