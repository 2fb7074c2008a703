"""All pairs of an interval quasimetric (IQE) against the definition that sorts starts and ends for every pair.

128 dimensions in 8 groups of 16.  The definition is not run where it would need more than 4 GB; its memory grows with
the square of the mini-batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch import Tensor

import trimetric as tm
from benchmarks.memory import peak_bytes
from benchmarks.timing import best_seconds, timed_pass

DIM, GROUPS = 128, 8
BATCHES = (64, 128, 256, 512, 1024)
DEFINITION_BYTES = 4e9
# About what the definition holds per coordinate of a pair: the ends, their order (64 bits), coverage and its sums.
DEFINITION_FLOATS = 20


@dataclass(frozen=True)
class Row:
    """One mini-batch and pass."""

    batch: int
    backward: bool
    milliseconds: float
    sorting_ratio: float | None
    """how many times faster than sorting for every pair; None if that was not run"""
    broadcast_ratio: float | None
    """how many times faster than our own paired definition, broadcast"""
    extra_mib: float
    """peak memory beyond what was allocated before"""
    sorting_mib: float | None
    """the same of sorting for every pair"""


def sort_per_pair(x: Tensor, y: Tensor) -> Tensor:
    """Compute the mean covered length of the groups by sorting the starts and ends of all intervals of each pair.

    Between two neighbors in that order, the line is covered where more non-empty intervals have started than ended.
    """
    start, end = torch.broadcast_tensors(x.unflatten(-1, (GROUPS, -1)), y.unflatten(-1, (GROUPS, -1)))
    end = torch.maximum(start, end)
    places, order = torch.cat([start, end], dim=-1).sort(dim=-1, stable=True)
    steps = torch.where(order < start.shape[-1], 1, -1)
    covered = steps.cumsum(dim=-1)[..., :-1] > 0
    return (places.diff(dim=-1) * covered).sum(dim=-1).mean(dim=-1)


def measure(batch: int, *, backward: bool, budget: float) -> Row:
    """Measure one mini-batch.

    Args:
        batch: rows of x and of y.
        backward: whether to measure the gradients as well.
        budget: seconds to measure.
    """
    torch.manual_seed(0)
    distance = tm.IntervalQuasimetric(DIM, components=GROUPS, pool="mean")
    x, y = (torch.randn(batch, DIM, requires_grad=backward) for _ in range(2))
    run = timed_pass(x, y, backward=backward)

    ways = {"fast": run(lambda a, b: tm.all_pairs(distance, a, b))}
    if 4 * batch**2 * DIM * DEFINITION_FLOATS * (2 if backward else 1) < DEFINITION_BYTES:
        ways["sorting"] = run(lambda a, b: sort_per_pair(a.unsqueeze(1), b.unsqueeze(0)))
        ways["broadcast"] = run(lambda a, b: distance(a.unsqueeze(1), b.unsqueeze(0)))
    memory = {name: peak_bytes(way) / 2**20 for name, way in ways.items()}
    seconds = best_seconds(ways, budget=budget)
    return Row(
        batch=batch,
        backward=backward,
        milliseconds=1e3 * seconds["fast"],
        sorting_ratio=seconds["sorting"] / seconds["fast"] if "sorting" in seconds else None,
        broadcast_ratio=seconds["broadcast"] / seconds["fast"] if "broadcast" in seconds else None,
        extra_mib=memory["fast"],
        sorting_mib=memory.get("sorting"),
    )


def run(*, batches: tuple[int, ...] = BATCHES, budget: float = 3.0) -> list[Row]:
    """Measure all mini-batches, forward and with gradients.

    Args:
        batches: mini-batch sizes.
        budget: seconds to measure each.
    """
    cells = [(batch, backward) for backward in (False, True) for batch in batches]
    return [
        measure(batch, backward=backward, budget=budget)
        for batch, backward in track(cells, "intervals", console=Console(stderr=True))
    ]


def show(rows: list[Row], console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(title=f"All pairs of an interval quasimetric, {DIM} dimensions in {GROUPS} groups")
    for heading in (
        "",
        "points",
        "ms",
        "x faster than sorting",
        "than broadcasting ours",
        "MiB extra",
        "MiB of sorting",
    ):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            "forward + backward" if row.backward else "forward",
            str(row.batch),
            f"{row.milliseconds:.3g}",
            *("-" if ratio is None else f"{ratio:.3g}" for ratio in (row.sorting_ratio, row.broadcast_ratio)),
            f"{row.extra_mib:.0f}",
            "-" if row.sorting_mib is None else f"{row.sorting_mib:.0f}",
        )
    console.print(table)
