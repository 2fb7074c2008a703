"""Differences of paired points and the tolls at their ends, from one table whose last columns are the tolls."""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
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
        The differences and the sums of tolls; None if plain torch has to compute them.
    """
    if not fused.applies(points):
        return None
    return _DifferencesAndTolls.apply(points, start, end, seen, shared, softplus)  # type: ignore[return-value]


def add_tolls(
    components: Float[Tensor, "pairs k"], tolls: Float[Tensor, "pairs t"], differ: Bool[Tensor, " pairs"]
) -> Float[Tensor, "pairs k"]:
    """Add tolls to the components of pairs whose ends differ; those of the others are 0.

    Args:
        components: a row per pair.
        tolls: one for all components of a pair, or one for each.
        differ: whether the ends of a pair differ.
    """
    if fused.applies(components, tolls) and tolls.shape[1] in (1, components.shape[1]):
        return _AddTolls.apply(components, tolls, differ)  # type: ignore[return-value]
    return _sums(components, tolls, differ)


def _sums(components: Tensor, tolls: Tensor, differ: Tensor) -> Tensor:
    return torch.where(differ.unsqueeze(-1), components + tolls, 0)


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


class _AddTolls(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, components: Tensor, tolls: Tensor, differ: Tensor) -> Tensor:  # type: ignore[override]
        out = torch.empty_like(components, memory_format=torch.contiguous_format)
        _write_sums(components.contiguous(), tolls.contiguous(), differ, out)
        ctx.save_for_backward(components, tolls, differ)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        components, tolls, differ = ctx.saved_tensors
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_sums, (components, tolls, differ), grad)
        on_components, on_tolls = torch.empty_like(grad, memory_format=torch.contiguous_format), torch.empty_like(tolls)
        _write_shares(grad.contiguous(), differ, on_components, on_tolls)
        return on_components, on_tolls, None


@fused.machine_code
def _write_sums(components: Any, tolls: Any, differ: Any, out: Any) -> None:
    n, k = out.shape
    zero, shared = out.dtype.type(0), tolls.shape[1] == 1
    for p in range(n):
        row, to = components[p], out[p]
        if not differ[p]:
            to[:] = zero
        elif shared:
            toll = tolls[p, 0]
            for c in range(k):
                to[c] = row[c] + toll
        else:
            own = tolls[p]
            for c in range(k):
                to[c] = row[c] + own[c]


@fused.machine_code
def _write_shares(grad: Any, differ: Any, on_components: Any, on_tolls: Any) -> None:
    n, k = grad.shape
    zero, shared = grad.dtype.type(0), on_tolls.shape[1] == 1
    for p in range(n):
        row, to = grad[p], on_components[p]
        total = zero
        if differ[p]:
            to[:] = row
            for c in range(k):  # a loop that also writes adds up in another order where arrays lie side by side
                total += row[c]
        else:
            to[:] = zero
        if shared:
            on_tolls[p, 0] = total
        else:
            on_tolls[p] = to


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
