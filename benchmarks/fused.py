"""Fused kernels of all pairs against the kernels of torch that they replace, and against the limits of the machine.

All on one thread, in processor time, in turns within one run; the best of all rounds counts.  Limits: for rectified
lengths and intervals, the operations that the formula needs (3 and 4 per coordinate) at the rate at which this machine
subtracts, takes maxima and multiplies in registers, measured here; for Euclidean distances `torch.cdist`, which is
wrong for close points.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

import trimetric as tm
from trimetric.distances import fusing
from trimetric.kernels.machine_code import njit
from trimetric.models.networks import make_network

POINTS = (512, 2048)


@dataclass(frozen=True)
class Case:
    """A distance to measure."""

    name: str
    make: Callable[[], tm.Norm | tm.Distance]
    operations: int | None = None
    """per pair, forward; None where the limit is `torch.cdist`, 0 where none is known"""


@dataclass(frozen=True)
class Row:
    """One distance, number of points and pass."""

    case: str
    points: int
    backward: bool
    milliseconds: float
    nanoseconds_per_pair: float
    torch_ratio: float
    """how many times faster than the kernel of torch"""
    limit_ratio: float | None
    """how many times slower than the limit"""


CASES = (
    Case("IQE, 8 groups of 16", lambda: tm.IntervalQuasimetric(128), 4 * 128),
    Case("rectified WN 32x32", lambda: tm.WideNorm(128), 3 * 1024),
    Case(
        "query head: WN 32x32 on 64, concave units, scale",
        lambda: make_network("wide", objects=1, dim=64, concave_units=5).head,
        3 * 1024,
    ),
    Case("64 landmark bounds, max", lambda: tm.LandmarkBound(64), 0),
    Case("Euclidean, 128 dimensions", lambda: tm.Euclidean(128)),
)


@njit(fastmath={"contract", "nsz"})
def _rectify(values: Any, a: Any, sums: Any) -> None:
    a0, a1, a2, a3, a4, a5, a6, a7 = a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
    zero = a0 * 0
    for j in range(values.size):
        x, total = values[j], zero
        d0, d1, d2, d3, d4, d5, d6, d7 = x - a0, x - a1, x - a2, x - a3, x - a4, x - a5, x - a6, x - a7
        d0 = zero if d0 < zero else d0
        d1 = zero if d1 < zero else d1
        d2 = zero if d2 < zero else d2
        d3 = zero if d3 < zero else d3
        d4 = zero if d4 < zero else d4
        d5 = zero if d5 < zero else d5
        d6 = zero if d6 < zero else d6
        d7 = zero if d7 < zero else d7
        total = total + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        sums[j] = total + d4 * d4 + d5 * d5 + d6 * d6 + d7 * d7


def operations_per_second() -> float:
    """Measure the rate of subtractions, maxima and multiply-adds in registers, in single precision."""
    values, sums = np.linspace(0, 8, 2048, dtype=np.float32), np.empty(2048, dtype=np.float32)
    a = np.arange(8, dtype=np.float32)

    def work() -> None:
        for _ in range(200):
            _rectify(values, a, sums)

    return 200 * 2048 * 8 * 3 / _best_processor_seconds({"peak": work}, budget=0.5)["peak"]


def _best_processor_seconds(ways: Mapping[str, Callable[[], object]], *, budget: float) -> dict[str, float]:
    best = dict.fromkeys(ways, float("inf"))
    for way in ways.values():
        way()
    start, rounds = time.perf_counter(), 0
    while rounds < 2 or time.perf_counter() - start < budget:
        rounds += 1
        for name, way in ways.items():
            before = time.process_time()
            way()
            best[name] = min(best[name], time.process_time() - before)
    return best


def measure(case: Case, points: int, *, backward: bool, peak: float, budget: float) -> Row:
    """Measure one distance.

    Args:
        case: the distance.
        points: rows, and columns, of the matrix.
        backward: whether to measure the gradients as well.
        peak: operations per second of this machine.
        budget: seconds to measure.
    """
    torch.manual_seed(0)
    distance = case.make()
    x = torch.randn(points, distance.dim, requires_grad=backward)

    def once(function: Callable[[], torch.Tensor]) -> object:
        with torch.set_grad_enabled(backward):
            values = function()
            return values.sum().backward() if backward else values

    def unfused() -> object:
        with patch.object(fusing, "can_fuse", lambda *_: False):
            return once(lambda: tm.all_pairs(distance, x))

    ways: dict[str, Callable[[], object]] = {
        "fused": lambda: once(lambda: tm.all_pairs(distance, x)),
        "torch": unfused,
    }
    if case.operations is None:
        ways["limit"] = lambda: once(lambda: torch.cdist(x, x))
    seconds = _best_processor_seconds(ways, budget=budget)
    if case.operations and not backward:
        seconds["limit"] = case.operations * points**2 / peak
    return Row(
        case=case.name,
        points=points,
        backward=backward,
        milliseconds=1e3 * seconds["fused"],
        nanoseconds_per_pair=1e9 * seconds["fused"] / points**2,
        torch_ratio=seconds["torch"] / seconds["fused"],
        limit_ratio=seconds["fused"] / seconds["limit"] if "limit" in seconds else None,
    )


def run(*, points: tuple[int, ...] = POINTS, budget: float = 3.0) -> list[Row]:
    """Measure all distances, forward and with gradients.

    Args:
        points: numbers of points.
        budget: seconds to measure each.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        peak = operations_per_second()
        cells = [(case, n, backward) for backward in (False, True) for case in CASES for n in points]
        return [
            measure(case, n, backward=backward, peak=peak, budget=budget)
            for case, n, backward in track(cells, "fused", console=Console(stderr=True))
        ]
    finally:
        torch.set_num_threads(before)


def show(rows: list[Row], console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(title="Fused kernels of all pairs, one thread, processor time")
    for heading in ("", "pass", "points", "ms", "ns per pair", "x faster than torch's kernel", "x the limit"):
        table.add_column(heading, justify="left" if heading in ("", "pass") else "right")
    for row in rows:
        table.add_row(
            row.case,
            "forward + backward" if row.backward else "forward",
            str(row.points),
            f"{row.milliseconds:.3g}",
            f"{row.nanoseconds_per_pair:.3g}",
            f"{row.torch_ratio:.2f}",
            "-" if row.limit_ratio is None else f"{row.limit_ratio:.2f}",
        )
    console.print(table)
