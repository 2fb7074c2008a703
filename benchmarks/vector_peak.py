"""The rate of the vector unit of this machine: subtractions and maxima on vectors that never leave the registers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from trimetric.kernels.machine_code import njit
from trimetric.kernels.vectors import LANES, Vectors

CHAINS = 12  # independent of each other, so that none waits for its last result


@intrinsic
def _run_chains(typing: Any, numbers: Any, count: Any) -> Any:  # noqa: ARG001
    """Replace vectors v by `max(v - c, d)`, `count` times."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers_, count_ = arguments
        emit = Vectors(context, builder, signature.args[0].dtype)
        data = emit.data(signature.args[0], numbers_)
        step, least = (emit.load(data, emit.whole(LANES * place)) for place in (CHAINS, CHAINS + 1))
        chains = [emit.variable(emit.load(data, emit.whole(LANES * place))) for place in range(CHAINS)]
        with cgutils.for_range(builder, count_):
            for chain in chains:
                builder.store(emit.if_larger(least, builder.fsub(builder.load(chain), step)), chain)
        for place, chain in enumerate(chains):
            emit.store(builder.load(chain), data, emit.whole(LANES * place))
        return context.get_dummy_value()

    return types.void(numbers, types.intp), generate


@njit(fastmath={"contract", "nsz"})
def _work(numbers: Any, count: int) -> None:
    _run_chains(numbers, count)  # type: ignore[call-arg]  # numba gives the first argument


def run_operations(count: int) -> int:
    """Run subtractions and maxima in single precision, in equal numbers.

    Args:
        count: rounds.

    Returns:
        How many operations on one number that were.
    """
    numbers = np.linspace(1, 2, LANES * (CHAINS + 2), dtype=np.float32)
    _work(numbers, count)
    return 2 * CHAINS * LANES * count
