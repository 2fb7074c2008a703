"""What one core of this machine can do at most, measured in the run that uses it: its vector unit and `torch.mm`.

The loops do nothing else: all numbers stay in registers or in the first cache, and many chains are open at once.  A
share of 1 means that not even the instructions themselves could be faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from trimetric.kernels.machine_code import HAS_NUMBA, njit
from trimetric.kernels.products import times_transposed, uses_onednn

Operation = Literal["multiply and add", "add and minimum", "maximum", "torch.mm"]

LANES = 256
"""numbers that a loop holds: few enough for the first cache, many more than a vector"""
REPEATS = 2000
ROUNDS = 15
MATRIX = 512


@dataclass(frozen=True)
class Limit:
    """The most that was measured of one operation."""

    operation: Operation
    dtype: str
    per_second: float
    """of one core; "multiply and add" and "torch.mm" count a product and its sum as one, as does "add and minimum" """


@cache
def limits() -> tuple[Limit, ...]:
    """Measure all limits, once per process, on one thread in processor time.

    Returns:
        One limit for each operation and dtype; those of the vector unit only where numba is installed.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return tuple(_measure())
    finally:
        torch.set_num_threads(threads)


def share_of_limit(operation: Operation, dtype: str, count: float, seconds: float) -> float | None:
    """Say which part of the limit some work reaches.

    Args:
        operation: of which the work mostly consists.
        dtype: "float32" or "float64".
        count: how many of them the work needs.
        seconds: of processor time, on one thread.

    Returns:
        A part of 1, or None where the limit cannot be measured.

    Examples:
        >>> share_of_limit("torch.mm", "float16", 512**3, 0.01) is None
        True
    """
    for limit in limits():
        if (limit.operation, limit.dtype) == (operation, dtype):
            return count / seconds / limit.per_second
    return None


def show(found: tuple[Limit, ...], console: Console) -> None:
    """Print what `limits` has returned."""
    table = Table(title="Limits of one core, in billions per second (processor time)")
    dtypes = list(dict.fromkeys(limit.dtype for limit in found))
    for heading in ("", *dtypes):
        table.add_column(heading, justify="right" if heading else "left")
    for operation in dict.fromkeys(limit.operation for limit in found):
        values = {limit.dtype: limit.per_second for limit in found if limit.operation == operation}
        table.add_row(operation, *(f"{values[dtype] / 1e9:.1f}" for dtype in dtypes))
    console.print(table)


def _measure() -> list[Limit]:
    found = []
    loops: dict[Operation, Callable[..., None]] = {
        "multiply and add": _multiply_and_add,
        "add and minimum": _add_and_minimum,
        "maximum": _maximum,
    }
    for dtype in (np.float32, np.float64):
        name = np.dtype(dtype).name
        generator = np.random.default_rng(0)
        values, others = generator.random(LANES).astype(dtype), generator.random((2, LANES)).astype(dtype)
        factors = generator.random(8).astype(dtype)
        for operation, loop in loops.items() if HAS_NUMBA else ():
            loop(values.copy(), others, factors, 1)  # compiles
            seconds = _shortest(partial(loop, values.copy(), others, factors, REPEATS))
            count = 18 if operation == "maximum" else 16
            found.append(Limit(operation, name, LANES * count * REPEATS / seconds))
        a = torch.rand(MATRIX, MATRIX, dtype=getattr(torch, name))
        seconds = _shortest(partial(torch.mm, a, a, out=torch.empty_like(a)))
        found.append(Limit("torch.mm", name, MATRIX**3 / seconds))
        if uses_onednn(a, a):  # it may come closer to the limit than the loop
            by_onednn = MATRIX**3 / _shortest(partial(times_transposed, a, a))
            found = [_at_least(limit, "multiply and add", name, by_onednn) for limit in found]
    return sorted(found, key=lambda limit: limit.operation == "torch.mm")


def _at_least(limit: Limit, operation: Operation, dtype: str, per_second: float) -> Limit:
    same = (limit.operation, limit.dtype) == (operation, dtype)
    return replace(limit, per_second=max(limit.per_second, per_second)) if same else limit


def _shortest(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


@njit(fastmath={"contract"})
def _multiply_and_add(values, others, factors, repeats):
    f0, f1, f2, f3, f4, f5, f6, f7 = (
        factors[0],
        factors[1],
        factors[2],
        factors[3],
        factors[4],
        factors[5],
        factors[6],
        factors[7],
    )
    for _ in range(repeats):
        for j in range(values.shape[0]):
            v = values[j]
            for half in range(2):
                w = others[half, j]
                v = v * f0 + w
                v = v * f1 + w
                v = v * f2 + w
                v = v * f3 + w
                v = v * f4 + w
                v = v * f5 + w
                v = v * f6 + w
                v = v * f7 + w
            values[j] = v


@njit
def _add_and_minimum(values, others, factors, repeats):
    f0, f1, f2, f3, f4, f5, f6, f7 = (
        factors[0],
        factors[1],
        factors[2],
        factors[3],
        factors[4],
        factors[5],
        factors[6],
        factors[7],
    )
    for _ in range(repeats):
        for j in range(values.shape[0]):
            v = values[j]
            for half in range(2):
                w = others[half, j]
                t = f0 + w
                v = t if t < v else v
                t = f1 + w
                v = t if t < v else v
                t = f2 + w
                v = t if t < v else v
                t = f3 + w
                v = t if t < v else v
                t = f4 + w
                v = t if t < v else v
                t = f5 + w
                v = t if t < v else v
                t = f6 + w
                v = t if t < v else v
                t = f7 + w
                v = t if t < v else v
            values[j] = v


@njit
def _maximum(values, others, factors, repeats):
    f0, f1, f2, f3, f4, f5, f6, f7 = (
        factors[0],
        factors[1],
        factors[2],
        factors[3],
        factors[4],
        factors[5],
        factors[6],
        factors[7],
    )
    for _ in range(repeats):
        for j in range(values.shape[0]):
            v = values[j]
            for half in range(2):
                w = others[half, j]
                v = f0 if f0 > v else v
                v = f1 if f1 > v else v
                v = f2 if f2 > v else v
                v = f3 if f3 > v else v
                v = f4 if f4 > v else v
                v = f5 if f5 > v else v
                v = f6 if f6 > v else v
                v = f7 if f7 > v else v
                v = w if w > v else v
            values[j] = v
