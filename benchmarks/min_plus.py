"""The min-plus product, of which the audit and the nearest metric consist, against the limit of the vector unit.

All times are processor time on one thread, the shortest of several turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.limits import share_of_limit
from trimetric._audit.measure import min_plus_square_by_torch
from trimetric.kernels.min_plus import min_plus, shortest_detours

SIZES = (500, 1000, 2000)
TURNS = 5


@dataclass(frozen=True)
class Product:
    """One size and dtype."""

    n: int
    dtype: str
    milliseconds: float
    share: float | None
    """of the limit of additions and minima"""
    middles_ratio: float
    """how many times that takes which also finds the middles of all detours that are shorter"""
    torch_ratio: float
    """how many times the loop over torch's operations takes, which other devices use"""


def run(*, sizes: tuple[int, ...] = SIZES) -> list[Product]:
    """Measure the products of random matrices of each size, in float32 and float64."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [_measure(n, dtype) for n in sizes for dtype in ("float32", "float64")]
    finally:
        torch.set_num_threads(threads)


def show(products: list[Product], console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(title="Min-plus products, one thread, processor time")
    headings = ("", "n", "ms", "share of the limit", "with middles, x the time", "loop over torch, x the time")
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    for row in products:
        table.add_row(
            row.dtype,
            str(row.n),
            f"{row.milliseconds:.1f}",
            "-" if row.share is None else f"{row.share:.2f}",
            f"{row.middles_ratio:.2f}",
            f"{row.torch_ratio:.1f}",
        )
    console.print(table)


def _measure(n: int, dtype: str) -> Product:
    matrix = np.random.default_rng(0).random((n, n)).astype(dtype)
    np.fill_diagonal(matrix, 0.0)
    ways: dict[str, Callable[[], object]] = {
        "product": lambda: min_plus(matrix),
        "middles": lambda: shortest_detours(matrix, 0.0),
        "torch": lambda: min_plus_square_by_torch(torch.from_numpy(matrix)),
    }
    best = dict.fromkeys(ways, float("inf"))
    for turn in range(TURNS + 1):  # the first one compiles
        for name, way in ways.items():
            start = time.process_time()
            way()
            seconds = time.process_time() - start
            best[name] = min(best[name], seconds) if turn else best[name]
    return Product(
        n=n,
        dtype=dtype,
        milliseconds=1e3 * best["product"],
        share=share_of_limit("add and minimum", dtype, n**3, best["product"]),
        middles_ratio=best["middles"] / best["product"],
        torch_ratio=best["torch"] / best["product"],
    )
