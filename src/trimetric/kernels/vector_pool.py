"""The maximum and the sum of all components of a pair, in vector instructions: four rows against 32 columns.

Arrays are contiguous, and places count from their start.  Imported on first use, because it imports numba.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from trimetric.kernels.vectors import COLUMNS, LANES, ROWS, Vectors

BLOCKS = [(row, column) for row in range(ROWS) for column in range(0, COLUMNS, LANES)]


@intrinsic
def write_pool(
    typing: Any,  # noqa: ARG001
    components: Any,
    at: Any,  # noqa: ARG001
    step: Any,  # noqa: ARG001
    width: Any,  # noqa: ARG001
    k: Any,  # noqa: ARG001
    slope: Any,
    offset: Any,
    units: Any,  # noqa: ARG001
    out: Any,
    top_at: Any,  # noqa: ARG001
    total_at: Any,  # noqa: ARG001
) -> Any:
    """Write the largest component and the sum of four rows and 32 columns, each component below its lines.

    Args:
        typing: given by numba.
        components: with the columns of one row next to each other.
        at: the first row and column of the first component.
        step: from a component to the next.
        width: from a row to the next, also in `out`.
        k: number of components.
        slope: of the lines, with those of one component next to each other.
        offset: like `slope`.
        units: number of lines of a component; 0 where components are pooled as they are.
        out: where to write.
        top_at: the first row and column of the maximum.
        total_at: the first row and column of the sum.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        components_, at_, step_, width_, k_, slope_, offset_, units_, out_, top_at_, total_at_ = arguments
        emit = Vectors(context, builder, signature.args[0].dtype)
        read, slopes, offsets, written = (
            emit.data(signature.args[at], array)
            for at, array in ((0, components_), (5, slope_), (6, offset_), (8, out_))
        )
        top = {block: emit.variable(emit.constant(float("-inf"))) for block in BLOCKS}
        total = {block: emit.variable(emit.constant(0.0)) for block in BLOCKS}

        def pool(block: tuple[int, int], value: Any) -> None:
            builder.store(emit.if_larger(value, builder.load(top[block])), top[block])
            builder.store(builder.fadd(builder.load(total[block]), value), total[block])

        def component(c: Any, block: tuple[int, int]) -> Any:
            row, column = block
            start = emit.place(at_, c, step_)
            return emit.load(read, emit.place(start, emit.whole(row), width_, column))

        with builder.if_else(builder.icmp_signed("==", units_, emit.whole(0))) as (plain, below_lines):
            with plain, cgutils.for_range(builder, k_) as loop:
                for block in BLOCKS:
                    pool(block, component(loop.index, block))
            with below_lines, cgutils.for_range(builder, k_) as loop:
                lines = builder.mul(loop.index, units_)
                for half in (BLOCKS[: len(BLOCKS) // 2], BLOCKS[len(BLOCKS) // 2 :]):
                    values = {block: component(loop.index, block) for block in half}
                    first, start = (emit.spread(emit.one(part, lines)) for part in (slopes, offsets))
                    low = {block: emit.variable(emit.multiply_add(first, values[block], start)) for block in half}
                    with cgutils.for_range(builder, builder.sub(units_, emit.whole(1))) as others:
                        line = builder.add(builder.add(lines, others.index), emit.whole(1))
                        factor, more = (emit.spread(emit.one(part, line)) for part in (slopes, offsets))
                        for block in half:
                            value = emit.multiply_add(factor, values[block], more)
                            builder.store(emit.if_smaller(value, builder.load(low[block])), low[block])
                    for block in half:
                        pool(block, builder.load(low[block]))
        for row, column in BLOCKS:
            for values, start in ((top, top_at_), (total, total_at_)):
                target = emit.place(start, emit.whole(row), width_, column)
                emit.store(builder.load(values[row, column]), written, target)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(components, whole, whole, whole, whole, slope, offset, whole, out, whole, whole), generate
