"""The innermost loop of the gradients of rectified lengths, in vector instructions: four rows and two coordinates.

The gradients of the rows are summed in registers over all columns of a tile.  Arrays are contiguous, and places count
from their start.  Imported on first use, because it imports numba.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from trimetric.kernels.vectors import LANES, ROWS, Vectors

COORDINATES = 2


@intrinsic
def add_length_gradients(
    typing: Any,  # noqa: ARG001
    a: Any,
    a_at: Any,  # noqa: ARG001
    a_step: Any,  # noqa: ARG001
    b: Any,
    b_at: Any,  # noqa: ARG001
    width: Any,  # noqa: ARG001
    pulls: Any,
    pulls_at: Any,  # noqa: ARG001
    grad_a: Any,
    grad_b: Any,
) -> Any:
    """Add `relu(b - a) pulls` to `grad_b` and subtract its sum over columns from `grad_a`.

    Args:
        typing: given by numba.
        a: the rows, with the coordinates of one next to each other.
        a_at: the first coordinate of the first row.
        a_step: from a row to the next.
        b: the columns, with the columns of one coordinate next to each other.
        b_at: the first column of the first coordinate.
        width: number of columns: from a coordinate to the next, and in `pulls` from a row to the next.
        pulls: with the columns of one row next to each other.
        pulls_at: the first column of the first row.
        grad_a: like `a`.
        grad_b: like `b`.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a_, a_at_, a_step_, b_, b_at_, width_, pulls_, pulls_at_, grad_a_, grad_b_ = arguments
        emit = Vectors(context, builder, signature.args[0].dtype)
        rows, columns, pulled, to_rows, to_columns = (
            emit.data(signature.args[at], array)
            for at, array in ((0, a_), (3, b_), (6, pulls_), (8, grad_a_), (9, grad_b_))
        )
        zero, coordinates = emit.constant(0.0), range(COORDINATES)
        places = {(row, q): emit.place(a_at_, emit.whole(row), a_step_, q) for row in range(ROWS) for q in coordinates}
        own = {place: emit.spread(emit.one(rows, at)) for place, at in places.items()}
        sums = {place: emit.variable(zero) for place in places}
        with cgutils.for_range(builder, builder.sdiv(width_, emit.whole(LANES))) as loop:
            j = builder.mul(loop.index, emit.whole(LANES))
            shares = [
                emit.load(pulled, builder.add(emit.place(pulls_at_, emit.whole(row), width_), j)) for row in range(ROWS)
            ]
            for q in coordinates:
                at = builder.add(emit.place(b_at_, emit.whole(q), width_), j)
                values, total = emit.load(columns, at), emit.load(to_columns, at)
                for row, share in enumerate(shares):
                    excess = emit.if_larger(zero, builder.fsub(values, own[row, q]))
                    total = emit.multiply_add(excess, share, total)
                    more = emit.multiply_add(excess, share, builder.load(sums[row, q]))
                    builder.store(more, sums[row, q])
                emit.store(total, to_columns, at)
        for place, at in places.items():
            before = emit.one(to_rows, at)
            builder.store(builder.fsub(before, _sum(builder, builder.load(sums[place]))), builder.gep(to_rows, [at]))
        return context.get_dummy_value()

    whole = types.intp
    return types.void(a, whole, whole, b, whole, whole, pulls, whole, grad_a, grad_b), generate


def _sum(builder: Any, vector: Any) -> Any:
    """The sum of a vector, half by half."""
    lanes = LANES
    while lanes > 1:
        lanes //= 2
        halves = (
            builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(part)))
            for part in (range(lanes), range(lanes, 2 * lanes))
        )
        vector = builder.fadd(*halves)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))
