"""Vector instructions for loops whose values have to stay in registers, written with LLVM's own words.

The compiler vectorizes a loop over columns, but then what a loop carries from one coordinate to the next goes through
the cache.  The loops of `trimetric.kernels.vector_block` and `trimetric.kernels.vector_pool` carry it in variables
that the compiler keeps in registers.  Imported on first use, because it imports numba.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

ROWS, COLUMNS, LANES = 4, 32, 16


class Vectors:
    """Emits instructions on vectors of 16 numbers.

    Args:
        context: given by numba.
        builder: given by numba.
        number: numba's type of one number.
    """

    def __init__(self, context: Any, builder: Any, number: Any) -> None:
        self.context, self.builder = context, builder
        self.number = context.get_data_type(number)
        self.bytes = 4 if self.number == ir.FloatType() else 8
        self.type = ir.VectorType(self.number, LANES)

    def data(self, array_type: Any, array: Any) -> Any:
        """The pointer to the first number of a contiguous array."""
        return self.context.make_array(array_type)(self.context, self.builder, array).data

    def constant(self, value: float) -> Any:
        """A vector of equal numbers."""
        return ir.Constant(self.type, [value] * LANES)

    def variable(self, value: Any) -> Any:
        """A vector that can be assigned to; the compiler keeps it in a register."""
        return cgutils.alloca_once_value(self.builder, value)

    def whole(self, value: int) -> Any:
        """A whole number, as numba counts places."""
        return ir.Constant(ir.IntType(64), value)

    def place(self, start: Any, count: Any, step: Any, more: int = 0) -> Any:
        """The place `start + count * step + more`."""
        place = self.builder.add(start, self.builder.mul(count, step))
        return self.builder.add(place, self.whole(more)) if more else place

    def load(self, base: Any, place: Any) -> Any:
        """Read 16 numbers that are next to each other."""
        return self.builder.load(self._pointer(base, place), align=self.bytes)

    def store(self, value: Any, base: Any, place: Any) -> None:
        """Write 16 numbers next to each other."""
        self.builder.store(value, self._pointer(base, place), align=self.bytes)

    def one(self, base: Any, place: Any) -> Any:
        """Read one number."""
        return self.builder.load(self.builder.gep(base, [place]))

    def spread(self, value: Any) -> Any:
        """A vector of copies of one number."""
        undefined = ir.Constant(self.type, ir.Undefined)
        first = self.builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return self.builder.shuffle_vector(first, undefined, mask)

    def if_larger(self, value: Any, other: Any) -> Any:
        """`value` where it is larger, else `other`: a NaN of `other` stays, one of `value` does not."""
        return self.builder.select(self.builder.fcmp_ordered(">", value, other), value, other)

    def if_smaller(self, value: Any, other: Any) -> Any:
        """`value` where it is smaller, else `other`: a NaN of `other` stays, one of `value` does not."""
        return self.builder.select(self.builder.fcmp_ordered("<", value, other), value, other)

    def multiply_add(self, factor: Any, value: Any, more: Any) -> Any:
        """`factor * value + more`, in one instruction where there is one."""
        product = self.builder.fmul(factor, value, flags=("contract",))
        return self.builder.fadd(product, more, flags=("contract",))

    def root(self, value: Any) -> Any:
        """Square roots."""
        kind = ir.FunctionType(self.type, [self.type])
        name = f"llvm.sqrt.v{LANES}f{8 * self.bytes}"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), [value])

    def _pointer(self, base: Any, place: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(base, [place]), self.type.as_pointer())
