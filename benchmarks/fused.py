"""Fused kernels of all pairs against the kernels of torch that they replace, and against the limits of the machine.

All on one thread, in processor time, in turns within one run; the best of all rounds counts.  Limits: for rectified
lengths and intervals, the operations that the formula needs (3 and 4 per coordinate) at the rate at which this machine
subtracts and takes maxima in registers, measured by `benchmarks/vector_peak.py`, which nothing can exceed; for
Euclidean distances `torch.cdist`, which is wrong for close points and can be exceeded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from unittest.mock import patch

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

import trimetric as tm
from benchmarks.vector_peak import run_operations
from trimetric.distances import fusing
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
    """the share of the speed of the limit that is reached"""


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


def operations_per_second() -> float:
    """Measure the rate of subtractions and maxima in registers, in single precision."""
    rounds = 100_000
    seconds = _best_processor_seconds({"peak": lambda: run_operations(rounds)}, budget=0.5)["peak"]
    return run_operations(rounds) / seconds


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
        limit_ratio=seconds["limit"] / seconds["fused"] if "limit" in seconds else None,
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
    for heading in (
        "",
        "pass",
        "points",
        "ms",
        "ns per pair",
        "x faster than torch's kernel",
        "of the limit",
    ):
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
