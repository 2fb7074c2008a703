"""Differences of paired points and the tolls at their ends, from one table whose last columns are the tolls."""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from trimetric.kernels.rows import fused

LINEAR_FROM = 20  # softplus is the identity above this, as in torch


def differences_and_tolls(
    points: Float[Tensor, "n dim"],
    start: Int[Tensor, " pairs"],
    end: Int[Tensor, " pairs"],
    *,
    seen: int,
    shared: bool,
    softplus: bool,
) -> tuple[Float[Tensor, "pairs seen"], Float[Tensor, "pairs t"]] | None:
    """Compute the differences of the first columns, and the toll to leave the start plus that to arrive at the end.

    Args:
        points: the rows.
        start: the row where each pair starts.
        end: the row where each pair ends.
        seen: the number of columns before the tolls.
        shared: whether the same columns are the tolls of both ends; otherwise the first half is that of starts.
        softplus: whether a column becomes a toll by softplus; otherwise by its absolute value.

    Returns:
        The differences and the sums of tolls; None where plain torch has to compute them.
    """
    if not fused.applies(points):
        return None
    return _DifferencesAndTolls.apply(points, start, end, seen, shared, softplus)  # type: ignore[return-value]


def _definition(
    points: Tensor, start: Tensor, end: Tensor, seen: int, shared: bool, softplus: bool
) -> tuple[Tensor, Tensor]:
    tolls = F.softplus(points[:, seen:]) if softplus else points[:, seen:].abs()
    departure, arrival = (tolls, tolls) if shared else tolls.chunk(2, dim=-1)
    return points[end, :seen] - points[start, :seen], departure[start] + arrival[end]


def _side_by_side(*arguments: Any) -> Tensor:
    return torch.cat(_definition(*arguments), dim=-1)


class _DifferencesAndTolls(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, points: Tensor, start: Tensor, end: Tensor, seen: int, shared: bool, softplus: bool
    ) -> tuple[Tensor, Tensor]:
        table, start, end = points.contiguous(), start.contiguous(), end.contiguous()
        free = points.shape[1] - seen
        tolls = free if shared else free // 2
        difference, total = table.new_empty(len(start), seen), table.new_empty(len(start), tolls)
        _write(table, start, end, seen + free - tolls, softplus, difference, total)
        ctx.save_for_backward(points, start, end)
        ctx.settings = seen, shared, softplus
        return difference, total

    @staticmethod
    def backward(ctx: Any, on_difference: Tensor, on_total: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        points, start, end = ctx.saved_tensors
        seen, shared, softplus = ctx.settings
        if fused.needs_definition(on_difference) or fused.needs_definition(on_total):
            both = torch.cat([on_difference, on_total], dim=-1)
            return fused.gradients_of_definition(_side_by_side, (points, start, end, seen, shared, softplus), both)
        out = torch.zeros_like(points, memory_format=torch.contiguous_format)
        arrival = points.shape[1] - on_total.shape[1]
        on_difference, on_total = on_difference.contiguous(), on_total.contiguous()
        _add(points.contiguous(), start, end, arrival, softplus, on_difference, on_total, out)
        return out, None, None, None, None, None


@fused.machine_code
def _write(table: Any, start: Any, end: Any, arrival: Any, softplus: Any, difference: Any, total: Any) -> None:
    seen, tolls = difference.shape[1], total.shape[1]
    for p in range(len(start)):
        one, other, row = table[start[p]], table[end[p]], difference[p]
        for q in range(seen):
            row[q] = other[q] - one[q]
        for t in range(tolls):
            a, b = one[seen + t], other[arrival + t]
            if softplus:
                a = a if a > LINEAR_FROM else math.log1p(math.exp(a))
                b = b if b > LINEAR_FROM else math.log1p(math.exp(b))
            else:
                a, b = abs(a), abs(b)
            total[p, t] = a + b


@fused.machine_code
def _add(
    table: Any, start: Any, end: Any, arrival: Any, softplus: Any, on_difference: Any, on_total: Any, out: Any
) -> None:
    seen, tolls = on_difference.shape[1], on_total.shape[1]
    kind = out.dtype.type
    zero, unit = kind(0), kind(1)
    for p in range(len(start)):
        one, other, row, pull = table[start[p]], table[end[p]], on_difference[p], on_total[p]
        on_one, on_other = out[start[p]], out[end[p]]
        for q in range(seen):
            on_other[q] += row[q]
        for q in range(seen):
            on_one[q] -= row[q]
        for t in range(tolls):
            a, b = one[seen + t], other[arrival + t]
            if softplus:
                left = unit if a > LINEAR_FROM else unit / (unit + math.exp(-a))
                right = unit if b > LINEAR_FROM else unit / (unit + math.exp(-b))
            else:
                left = unit if a > zero else (-unit if a < zero else a)
                right = unit if b > zero else (-unit if b < zero else b)
            on_one[seen + t] += left * pull[t]
            on_other[arrival + t] += right * pull[t]
