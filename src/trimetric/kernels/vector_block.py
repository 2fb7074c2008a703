"""The innermost loop of rectified lengths, in vector instructions: four rows against 32 columns.

The compiler vectorizes a loop over columns, but then the sums of all columns go through the cache once per coordinate.
Here the loop over coordinates is the inner one, and the sums of a block stay in registers.  Imported on first use,
because it imports numba.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ROWS, COLUMNS, LANES = 4, 32, 16


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
    """Write `||relu(b - a)||_2` of four rows and 32 columns; arrays are contiguous, and places count from their start.

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
        number = context.get_data_type(signature.args[0].dtype)
        vector = ir.VectorType(number, LANES)
        data = [
            context.make_array(signature.args[place])(context, builder, value).data
            for place, value in ((0, a_), (3, b_), (7, out_))
        ]
        zero = ir.Constant(vector, [0.0] * LANES)
        blocks = [(row, column) for row in range(ROWS) for column in range(0, COLUMNS, LANES)]
        sums = {block: cgutils.alloca_once_value(builder, zero) for block in blocks}

        def place(base: Any, start: Any, count: Any, step: Any, more: int = 0) -> Any:
            offset = builder.add(start, builder.mul(count, step))
            return builder.gep(base, [builder.add(offset, ir.Constant(offset.type, more))])

        def as_vector(pointer: Any) -> Any:
            return builder.bitcast(pointer, vector.as_pointer())

        align = 4 if number == ir.FloatType() else 8
        with cgutils.for_range(builder, size_) as loop:
            columns = {
                column: builder.load(as_vector(place(data[1], b_at_, loop.index, b_step_, column)), align=align)
                for column in range(0, COLUMNS, LANES)
            }
            for row in range(ROWS):
                start = builder.add(a_at_, builder.mul(ir.Constant(a_step_.type, row), a_step_))
                own = builder.load(builder.gep(data[0], [builder.add(start, loop.index)]))
                first = builder.insert_element(ir.Constant(vector, ir.Undefined), own, ir.Constant(ir.IntType(32), 0))
                mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
                own = builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), mask)
                for column, values in columns.items():
                    excess = builder.fsub(values, own)
                    # So that a NaN stays one.
                    excess = builder.select(builder.fcmp_ordered("<", excess, zero), zero, excess)
                    square = builder.fmul(excess, excess, flags=("contract",))
                    total = builder.load(sums[row, column])
                    builder.store(builder.fadd(total, square, flags=("contract",)), sums[row, column])
        name = f"llvm.sqrt.v{LANES}f{8 * align}"
        root = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector]), name)
        for (row, column), total in sums.items():
            target = place(data[2], out_at_, ir.Constant(b_step_.type, row), b_step_, column)
            builder.store(builder.call(root, [builder.load(total)]), as_vector(target), align=align)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(a, whole, whole, b, whole, whole, whole, out, whole), generate
