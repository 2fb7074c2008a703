"""Matrix products of training steps by the two libraries of torch: MKL, which `torch.mm` calls, and oneDNN.

`trimetric.kernels.products` takes oneDNN on processors on which it expects it to be faster; the table tells whether it
should.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.limits import share_of_limit
from trimetric.kernels.products import has_onednn, uses_onednn

# Rows, inputs and outputs: layers of encoders, and the projections of Wide Norms.
SHAPES = ((256, 128, 128), (1024, 128, 128), (256, 128, 1024), (1024, 128, 1024), (1024, 256, 1024), (16, 16, 16))
TURNS = 60


@dataclass(frozen=True)
class Product:
    """One product `x @ weight.mT` in float32."""

    rows: int
    inputs: int
    outputs: int
    mkl_ms: float
    onednn_ms: float
    takes_onednn: bool
    """whether the library does"""
    share: float | None
    """of the vector unit, by the faster one"""


def run(*, turns: int = TURNS) -> list[Product]:
    """Measure each shape on one thread, in processor time, both libraries in turn; the best of all turns counts.

    Args:
        turns: of each library.

    Returns:
        One entry for each shape; none where this torch has no oneDNN.
    """
    if not has_onednn():
        return []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [_measure(*shape, turns) for shape in SHAPES]
    finally:
        torch.set_num_threads(threads)


def show(found: list[Product], console: Console) -> None:
    """Print what `run` has returned, or that there is nothing to compare."""
    if not found:
        console.print("products: this build of torch has no oneDNN, so there is nothing to compare", highlight=False)
        return
    table = Table(title="Matrix products of training steps, float32, one thread, processor time")
    for heading in (
        "rows x inputs x outputs",
        "MKL, ms",
        "oneDNN, ms",
        "oneDNN is faster by",
        "we take",
        "of the limit",
    ):
        table.add_column(heading, justify="right")
    for row in found:
        table.add_row(
            f"{row.rows} x {row.inputs} x {row.outputs}",
            f"{row.mkl_ms:.3g}",
            f"{row.onednn_ms:.3g}",
            f"{row.mkl_ms / row.onednn_ms:.2f}",
            "oneDNN" if row.takes_onednn else "MKL",
            "-" if row.share is None else f"{row.share:.2f}",
        )
    console.print(table)


def _measure(rows: int, inputs: int, outputs: int, turns: int) -> Product:
    torch.manual_seed(0)
    x, weight = torch.randn(rows, inputs), torch.randn(outputs, inputs)
    ways: dict[str, Callable[[], object]] = {
        "mkl": lambda: torch.mm(x, weight.mT),
        "onednn": lambda: torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], ""),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(turns):
        for name, way in ways.items():
            start = time.process_time()
            way()
            best[name] = min(best[name], time.process_time() - start)
    return Product(
        rows=rows,
        inputs=inputs,
        outputs=outputs,
        mkl_ms=1e3 * best["mkl"],
        onednn_ms=1e3 * best["onednn"],
        takes_onednn=uses_onednn(x, weight),
        share=share_of_limit("multiply and add", "float32", rows * inputs * outputs, min(best.values())),
    )
