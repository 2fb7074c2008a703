r"""Lengths of unions of intervals for paired rows, without sorting.

With $e_j = \max(x_j, y_j)$, and $k$ before $j$ where $x_k < x_j$ (or $x_k = x_j$ and $k < j$), the part of $[x_j, e_j]$
that no interval before it covers is

$$E_j - P_j, \qquad P_j = \max(x_j, \max_{k \text{ before } j} e_k), \qquad E_j = \max(P_j, e_j),$$

and the parts add up to the length of the union.  That takes $w^2$ comparisons for a group of $w$ intervals; they are
done for `LANES` pairs at once, which is far faster than to sort.  Where a part is positive its gradient is 1 at $y_j$
and -1 at what $P_j$ is: $x_j$, or the $y_k$ whose interval reaches farthest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric.kernels.rows import fused

LANES = 64
WIDEST = 256  # comparisons grow with the square of the width


def row_intervals(
    points: Float[Tensor, "n k*w"], start: Int[Tensor, " pairs"], end: Int[Tensor, " pairs"], groups: int
) -> Float[Tensor, "pairs k"] | None:
    """Compute the covered lengths of each group for pairs of rows.

    Args:
        points: a table of points, in groups of equal width.
        start: the row of x, for each pair.
        end: the row of y.
        groups: their number.

    Returns:
        The lengths; None if plain torch has to compute them.
    """
    if not fused.applies(points) or points.ndim != 2 or points.shape[1] > WIDEST * groups:
        return None
    return _RowIntervals.apply(points, start, end, groups)  # type: ignore[return-value]


def paired_intervals(
    x: Float[Tensor, "pairs k*w"], y: Float[Tensor, "pairs k*w"], groups: int
) -> Float[Tensor, "pairs k"] | None:
    """Compute the covered lengths of each group for paired points.

    Args:
        x: points, in groups of equal width.
        y: as many points.
        groups: their number.

    Returns:
        The lengths; None if plain torch has to compute them.
    """
    if not fused.applies(x, y) or x.ndim != 2 or x.shape != y.shape:
        return None
    rows = torch.arange(2 * len(x))
    return row_intervals(torch.cat([x, y]), rows[: len(x)], rows[len(x) :], groups)


def _definition(points: Tensor, start: Tensor, end: Tensor, groups: int) -> Tensor:
    x, y = (points[rows].unflatten(-1, (groups, -1)) for rows in (start, end))
    order = x.detach().argsort(dim=-1, stable=True)
    starts, ends = x.gather(-1, order), torch.maximum(x, y).gather(-1, order)
    reach = torch.cummax(ends, dim=-1).values
    covered = torch.cat([starts[..., :1], reach[..., :-1]], dim=-1)
    return (reach - torch.maximum(covered, starts)).sum(dim=-1)


class _RowIntervals(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, points: Tensor, start: Tensor, end: Tensor, groups: int) -> Tensor:  # type: ignore[override]
        points, start, end = points.contiguous(), start.contiguous(), end.contiguous()
        out = points.new_empty(len(start), groups)
        _write_lengths(points, start, end, out)
        ctx.save_for_backward(points, start, end)
        ctx.groups = groups
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        points, start, end = ctx.saved_tensors
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_definition, (points, start, end, ctx.groups), grad)
        out = torch.zeros_like(points)
        _add_gradients(points, start, end, grad.contiguous(), out)
        return out, None, None, None


@fused.machine_code
def _write_lengths(points: Any, start: Any, end: Any, out: Any) -> None:
    pairs, k = out.shape
    w = points.shape[1] // k
    kind = points.dtype.type
    x, e = np.empty((w, LANES), points.dtype), np.empty((w, LANES), points.dtype)
    covered, total = np.empty(LANES, points.dtype), np.empty(LANES, points.dtype)
    for first in range(0, pairs, LANES):
        count = min(LANES, pairs - first)
        for c in range(k):
            total[:] = kind(0)
            for lane in range(LANES):
                p = first + min(lane, count - 1)  # unused lanes repeat the last pair
                one, other = points[start[p]], points[end[p]]
                for j in range(w):
                    a, b = one[c * w + j], other[c * w + j]
                    x[j, lane] = a
                    e[j, lane] = b if b > a else a
                    if a != a or b != b:
                        total[lane] = kind(np.nan)
            for j in range(w):
                own, reach = x[j], e[j]
                for lane in range(LANES):
                    covered[lane] = own[lane]
                for before in range(j):
                    other, far = x[before], e[before]
                    for lane in range(LANES):
                        reached = far[lane] if other[lane] <= own[lane] else own[lane]
                        covered[lane] = reached if reached > covered[lane] else covered[lane]
                for after in range(j + 1, w):
                    other, far = x[after], e[after]
                    for lane in range(LANES):
                        reached = far[lane] if other[lane] < own[lane] else own[lane]
                        covered[lane] = reached if reached > covered[lane] else covered[lane]
                for lane in range(LANES):
                    total[lane] += (reach[lane] if reach[lane] > covered[lane] else covered[lane]) - covered[lane]
            for lane in range(count):
                out[first + lane, c] = total[lane]


@fused.machine_code
def _add_gradients(points: Any, start: Any, end: Any, grad: Any, out: Any) -> None:
    pairs, k = grad.shape
    w = points.shape[1] // k
    kind = points.dtype.type
    x, e = np.empty((w, LANES), points.dtype), np.empty((w, LANES), points.dtype)
    on_x, on_y = np.empty((w, LANES), points.dtype), np.empty((w, LANES), points.dtype)
    covered, by = np.empty(LANES, points.dtype), np.empty(LANES, np.int32)
    pull, part = np.empty(LANES, points.dtype), np.empty(LANES, points.dtype)
    for first in range(0, pairs, LANES):
        count = min(LANES, pairs - first)
        for c in range(k):
            for lane in range(LANES):
                p = first + min(lane, count - 1)
                one, other = points[start[p]], points[end[p]]
                pull[lane] = grad[p, c]
                for j in range(w):
                    a, b = one[c * w + j], other[c * w + j]
                    x[j, lane] = a
                    e[j, lane] = b if b > a else a
            on_y[:] = kind(0)
            for j in range(w):
                own, reach, to_x, to_y = x[j], e[j], on_x[j], on_y[j]
                for lane in range(LANES):
                    covered[lane] = own[lane]
                    by[lane] = j
                for before in range(j):
                    other, far = x[before], e[before]
                    for lane in range(LANES):
                        reached = far[lane] if other[lane] <= own[lane] else own[lane]
                        by[lane] = before if reached > covered[lane] else by[lane]
                        covered[lane] = reached if reached > covered[lane] else covered[lane]
                for after in range(j + 1, w):
                    other, far = x[after], e[after]
                    for lane in range(LANES):
                        reached = far[lane] if other[lane] < own[lane] else own[lane]
                        by[lane] = after if reached > covered[lane] else by[lane]
                        covered[lane] = reached if reached > covered[lane] else covered[lane]
                for lane in range(LANES):
                    own_pull = pull[lane] if reach[lane] > covered[lane] else kind(0)
                    own_pull = own_pull if pull[lane] == pull[lane] else pull[lane]  # a NaN must not get lost
                    to_y[lane] += own_pull
                    to_x[lane] = -own_pull if by[lane] == j else kind(0)
                    part[lane] = kind(0) if by[lane] == j else own_pull
                for lane in range(LANES):
                    on_y[by[lane], lane] -= part[lane]
            for lane in range(count):
                to_start, to_end = out[start[first + lane]], out[end[first + lane]]
                for j in range(w):
                    to_start[c * w + j] += on_x[j, lane]
                    to_end[c * w + j] += on_y[j, lane]
