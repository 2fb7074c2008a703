r"""All pairs of the lengths of unions of intervals, one rank of the sorted starts at a time.

For a row $x$ with sorted starts $s_1 \le s_2 \le \dots$, and $e_j$ the end at the coordinate of $s_j$ (a row of the
columns' transposed points, for all of them at once):

$$P_j = \max(E_{j-1}, s_j), \qquad E_j = \max(P_j, e_j), \qquad \text{length} = \sum_j E_j - P_j .$$

The gradient runs back over $j$ and needs to know only which argument won each maximum; it is found again, chunk by
chunk, so nothing of size pairs x coordinates is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

# Numbers of one tensor that is worked on at a time: a few of them stay in cache.
CHUNK_FLOATS = 1 << 19


def interval_pairs(
    starts: Float[Tensor, "n k w"], order: Int[Tensor, "n k w"], y: Float[Tensor, "m k w"]
) -> Float[Tensor, "n m k"]:
    """The covered lengths; `starts` are the rows' coordinates in the `order` that sorts them."""
    return _IntervalPairs.apply(starts, order, y).transpose(1, 2)  # type: ignore[union-attr]


class _IntervalPairs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, starts: Tensor, order: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        ctx.save_for_backward(starts, order, y)
        n, k, _ = starts.shape
        out = starts.new_zeros(n, k, len(y))
        ends = _by_coordinate(y)
        for rows in _chunks(n, k * len(y)):
            total = out[rows].flatten(0, 1)
            reach, end = torch.empty_like(total), torch.empty_like(total)
            for j, (start, places) in enumerate(_ranks(starts[rows], order[rows])):
                _advance(j, start, places, ends, reach, end)
                total.add_(torch.sub(end, reach, out=reach))
                reach, end = end, reach
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        starts, order, y = ctx.saved_tensors
        n, k, w = starts.shape
        ends = _by_coordinate(y)
        grad_starts, grad_ends = torch.empty_like(starts), torch.zeros_like(ends)
        for rows in _chunks(n, w * k * len(y)):
            pull = grad[rows].flatten(0, 1)
            pulls_on_ends = pull.new_empty(w, *pull.shape)
            gained, joined = (torch.empty_like(pulls_on_ends, dtype=torch.bool) for _ in range(2))
            reach, end = torch.empty_like(pull), torch.empty_like(pull)
            for j, (start, places) in enumerate(_ranks(starts[rows], order[rows])):
                if j:
                    torch.gt(reach, start, out=joined[j])
                _advance(j, start, places, ends, reach, end)
                torch.gt(end, reach, out=gained[j])
                reach, end = end, reach
            on_reach = pull  # the gradient of E_j
            for j in reversed(range(w)):
                torch.mul(on_reach, gained[j], out=pulls_on_ends[j])
                on_covered = on_reach - pulls_on_ends[j] - pull  # the gradient of P_j
                on_earlier = on_covered * joined[j] if j else torch.zeros_like(on_covered)
                grad_starts[rows, :, j] = (on_covered - on_earlier).sum(dim=1).unflatten(0, (-1, k))
                on_reach = pull + on_earlier
            # Every row has each coordinate at one rank: gather by coordinate, then add up the rows.
            rank = order[rows].argsort(dim=-1).permute(1, 2, 0)  # k, w, rows
            height = rank.shape[2]
            row = torch.arange(height, device=rank.device) * k + torch.arange(k, device=rank.device)[:, None, None]
            picked = pulls_on_ends.flatten(0, 1).index_select(0, (rank * (height * k) + row).flatten())
            grad_ends += picked.view(k * w, height, -1).sum(dim=1)
        return grad_starts, None, grad_ends.mT.unflatten(-1, (k, w))


def _advance(j: int, start: Tensor, places: Tensor, ends: Tensor, reach: Tensor, end: Tensor) -> None:
    """From E_{j-1} in `reach` to P_j in `reach` and E_j in `end`."""
    if j == 0:
        reach.copy_(start.expand_as(reach))
    else:
        torch.maximum(reach, start, out=reach)
    torch.index_select(ends, 0, places, out=end)
    torch.maximum(end, reach, out=end)


def _by_coordinate(y: Float[Tensor, "m k w"]) -> Float[Tensor, "k*w m"]:
    return y.flatten(1).mT.contiguous()


def _ranks(starts: Float[Tensor, "n k w"], order: Int[Tensor, "n k w"]) -> Iterator[tuple[Tensor, Tensor]]:
    """For each rank j, the starts (n*k, 1) and where the ends are among all coordinates (n*k)."""
    k, w = starts.shape[1:]
    places = order + w * torch.arange(k, device=order.device)[:, None]
    columns, indices = (t.flatten(0, 1).mT.contiguous() for t in (starts, places))
    return zip(columns.unsqueeze(-1), indices, strict=True)


def _chunks(n: int, floats_per_row: int) -> Iterator[slice]:
    height = max(1, CHUNK_FLOATS // max(1, floats_per_row))
    return (slice(i, i + height) for i in range(0, n, height))
