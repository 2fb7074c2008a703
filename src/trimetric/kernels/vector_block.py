"""The innermost loops of components in vector instructions: four rows against 32 columns, in registers.

Arrays are contiguous, and places count from their start.  Imported on first use, because it imports numba.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from trimetric.kernels.vectors import COLUMNS, LANES, ROWS, Vectors

BLOCKS = [(row, column) for row in range(ROWS) for column in range(0, COLUMNS, LANES)]


@intrinsic
def write_lengths(
    typing: Any,  # noqa: ARG001
    a: Any,
    a_at: Any,  # noqa: ARG001
    a_step: Any,  # noqa: ARG001
    b: Any,
    b_at: Any,  # noqa: ARG001
    b_step: Any,  # noqa: ARG001
    size: Any,  # noqa: ARG001
    out: Any,
    out_at: Any,  # noqa: ARG001
) -> Any:
    """Write `||relu(b - a)||_2` of four rows and 32 columns.

    Args:
        typing: given by numba.
        a: the rows, with the coordinates of one next to each other.
        a_at: the first coordinate of the first row.
        a_step: from a row to the next.
        b: the columns, with the columns of one coordinate next to each other.
        b_at: the first coordinate of the first column.
        b_step: from a coordinate to the next, and in `out` from a row to the next.
        size: number of coordinates.
        out: where to write.
        out_at: the first row and column.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a_, a_at_, a_step_, b_, b_at_, b_step_, size_, out_, out_at_ = arguments
        emit = Vectors(context, builder, signature.args[0].dtype)
        rows, columns, written = (emit.data(signature.args[at], array) for at, array in ((0, a_), (3, b_), (7, out_)))
        zero = emit.constant(0.0)
        sums = {block: emit.variable(zero) for block in BLOCKS}
        with cgutils.for_range(builder, size_) as loop:
            values = {
                column: emit.load(columns, emit.place(b_at_, loop.index, b_step_, column))
                for column in range(0, COLUMNS, LANES)
            }
            own = {
                row: emit.spread(emit.one(rows, builder.add(emit.place(a_at_, emit.whole(row), a_step_), loop.index)))
                for row in range(ROWS)
            }
            for (row, column), total in sums.items():
                excess = emit.if_larger(zero, builder.fsub(values[column], own[row]))
                builder.store(emit.multiply_add(excess, excess, builder.load(total)), total)
        for (row, column), total in sums.items():
            target = emit.place(out_at_, emit.whole(row), b_step_, column)
            emit.store(emit.root(builder.load(total)), written, target)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(a, whole, whole, b, whole, whole, whole, out, whole), generate


@intrinsic
def write_unions(
    typing: Any,  # noqa: ARG001
    starts: Any,
    order: Any,
    at: Any,  # noqa: ARG001
    step: Any,  # noqa: ARG001
    size: Any,  # noqa: ARG001
    ends: Any,
    ends_at: Any,  # noqa: ARG001
    width: Any,  # noqa: ARG001
    out: Any,
    out_at: Any,  # noqa: ARG001
) -> Any:
    """Write the lengths of the unions of intervals `[starts, ends[order]]` of four rows and 32 columns.

    Args:
        typing: given by numba.
        starts: sorted, those of one row next to each other.
        order: like `starts`, the coordinate of each.
        at: the first start of the first row.
        step: from a row to the next.
        size: number of intervals.
        ends: with the columns of one coordinate next to each other.
        ends_at: the first column, of coordinate 0.
        width: from a coordinate to the next, and in `out` from a row to the next.
        out: where to write.
        out_at: the first row and column.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        starts_, order_, at_, step_, size_, ends_, ends_at_, width_, out_, out_at_ = arguments
        emit = Vectors(context, builder, signature.args[0].dtype)
        first, place, end, written = (
            emit.data(signature.args[at], array) for at, array in ((0, starts_), (1, order_), (5, ends_), (8, out_))
        )
        zero = ir.Constant(emit.number, 0.0)
        reach, total, row_at = {}, {}, {}
        for row in range(ROWS):
            row_at[row] = emit.place(at_, emit.whole(row), step_)
            last = emit.one(first, builder.add(row_at[row], builder.sub(size_, emit.whole(1))))
            # The last one is a NaN if any is.
            nothing = emit.spread(builder.select(builder.fcmp_unordered("uno", last, last), last, zero))
            lowest = emit.spread(emit.one(first, row_at[row]))
            for column in range(0, COLUMNS, LANES):
                reach[row, column], total[row, column] = emit.variable(lowest), emit.variable(nothing)
        with cgutils.for_range(builder, size_) as loop:
            for row in range(ROWS):
                rank = builder.add(row_at[row], loop.index)
                own, coordinate = (
                    emit.spread(emit.one(first, rank)),
                    builder.sext(emit.one(place, rank), ir.IntType(64)),
                )
                for column in range(0, COLUMNS, LANES):
                    covered = emit.if_larger(own, builder.load(reach[row, column]))
                    value = emit.load(end, emit.place(ends_at_, coordinate, width_, column))
                    value = emit.if_larger(covered, value)
                    # In this order, so that an interval that is covered adds exactly 0.
                    more = builder.fsub(value, covered)
                    builder.store(builder.fadd(builder.load(total[row, column]), more), total[row, column])
                    builder.store(value, reach[row, column])
        for row, column in BLOCKS:
            target = emit.place(out_at_, emit.whole(row), width_, column)
            emit.store(builder.load(total[row, column]), written, target)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(starts, order, whole, whole, whole, ends, whole, whole, out, whole), generate
