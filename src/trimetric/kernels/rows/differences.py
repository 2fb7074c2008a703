"""Differences of paired rows of a table, with a gradient that is added up row by row."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from trimetric.kernels.rows import fused
from trimetric.kernels.uncompiled import uncompiled


def row_differences(
    table: Float[Tensor, "n w"], start: Int[Tensor, " pairs"], end: Int[Tensor, " pairs"]
) -> Float[Tensor, "pairs w"]:
    """Compute `table[end] - table[start]`.

    Args:
        table: the rows.
        start: the row to subtract, for each pair.
        end: the row to subtract from.
    """
    if fused.applies(table):
        return _RowDifferences.apply(table, start, end)  # type: ignore[return-value]
    return _differences(table, start, end)  # type: ignore[call-arg]


def rows_differ(
    table: Float[Tensor, "n w"], start: Int[Tensor, " pairs"], end: Int[Tensor, " pairs"]
) -> Bool[Tensor, " pairs"]:
    """Find out whether `table[end]` and `table[start]` differ anywhere.

    Args:
        table: the rows.
        start: one row of each pair.
        end: the other.
    """
    if not fused.applies(table):
        return (table[start] != table[end]).any(dim=-1)
    out = torch.empty(len(start), dtype=torch.bool, device=start.device)
    _write_unequal(table.detach().contiguous(), start.contiguous(), end.contiguous(), out)
    return out


# Embedding, because its gradient adds rows up faster than that of indexing.  Compiled, it would do so number by number.
@uncompiled
def _differences(table: Tensor, start: Tensor, end: Tensor) -> Tensor:
    return F.embedding(end, table) - F.embedding(start, table)


class _RowDifferences(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, start: Tensor, end: Tensor) -> Tensor:  # type: ignore[override]
        start, end = start.contiguous(), end.contiguous()
        out = table.new_empty(len(start), table.shape[1])
        write_differences(table.contiguous(), start, end, out)
        ctx.save_for_backward(start, end)
        ctx.shape = table.shape
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        start, end = ctx.saved_tensors
        if fused.needs_definition(grad):
            zeros = grad.new_zeros(ctx.shape)
            return zeros.index_add(0, end, grad).index_add(0, start, -grad), None, None
        out = grad.new_zeros(ctx.shape)
        add_differences(grad.contiguous(), start, end, out)
        return out, None, None


@fused.machine_code
def write_differences(table: Any, start: Any, end: Any, out: Any) -> None:
    """Write `table[end] - table[start]` to `out`; all are contiguous."""
    for p in range(len(start)):
        one, other, row = table[start[p]], table[end[p]], out[p]
        for q in range(len(row)):
            row[q] = other[q] - one[q]


@fused.machine_code
def add_differences(grad: Any, start: Any, end: Any, out: Any) -> None:
    """Add each row of `grad` to the row `end` of `out` and subtract it from the row `start`."""
    for p in range(len(start)):
        row, one, other = grad[p], out[start[p]], out[end[p]]
        for q in range(len(row)):
            other[q] += row[q]
        for q in range(len(row)):
            one[q] -= row[q]


@fused.machine_code
def _write_unequal(table: Any, start: Any, end: Any, out: Any) -> None:
    for p in range(len(start)):
        one, other = table[start[p]], table[end[p]]
        out[p] = False
        for q in range(len(one)):
            if one[q] != other[q]:
                out[p] = True
                break
