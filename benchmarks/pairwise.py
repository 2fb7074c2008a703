"""The paper's computation-time table (`table_computation`) on this machine.

For each architecture and mini-batch: the time of `all_pairs`, as a ratio to the broadcast definition
`distance(x[:, None], y[None])` and to the unavoidable matrix products, and the peak extra memory.
The definition is not run where it would need more than 10 GB.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch import Tensor

import trimetric as tm
from benchmarks.memory import peak_bytes
from benchmarks.timing import best_seconds, timed_pass

DIM = 128
BATCHES = (32, 128, 512, 2048)
DEFINITION_BYTES = 10e9
PRODUCT_ROWS = 4096


@dataclass(frozen=True)
class Row:
    """One architecture, mini-batch and pass."""

    architecture: str
    batch: int
    backward: bool
    milliseconds: float
    definition_ratio: float | None
    """how many times faster than the broadcast definition; None if that was not run"""
    product_ratio: float | None
    """how many times the time of the matrix products alone"""
    extra_mib: float
    """peak memory beyond what was allocated before"""


@dataclass(frozen=True)
class Architecture:
    """A distance, and the matrix products that its all pairs cannot avoid."""

    name: str
    distance: tm.Distance
    products: Callable[[Tensor, Tensor], None] | None
    definition_floats: int
    """about how many numbers the definition holds per pair, forward"""
    largest_batch: int = max(BATCHES)

    def definition(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distance(x.unsqueeze(1), y.unsqueeze(0))


def architectures(names: tuple[str, ...] | None = None) -> Iterator[Architecture]:
    """Build the architectures of the table: all, or those named."""
    for name, norm, products, floats in (
        ("Euclidean", tm.Euclidean(DIM), _gram(1, DIM, project=False), 2 * DIM),
        ("WN 3x600", _wide(3, 600, symmetric=True), _gram(3, 600), DIM + 1800),
        ("WN 64x64", _wide(64, 64, symmetric=True), _gram(64, 64), DIM + 4096),
        ("DN 2x400", tm.DeepNorm(DIM, widths=(400,) * 2, activation="relu"), _layers(400, 2), DIM + 5 * 400),
        ("DN 3x600", tm.DeepNorm(DIM, widths=(600,) * 3, activation="relu"), _layers(600, 3), DIM + 7 * 600),
        ("DN 3x600 MaxReLU", tm.DeepNorm(DIM, widths=(600,) * 3), _layers(600, 3), DIM + 11 * 600),
        ("rectified WN 32x32", _wide(32, 32), None, 2 * 1024),
        ("paper's asym. WN 32x32", _wide(32, 32, form="paper"), None, 4 * DIM + 1024),
    ):
        if names is None or name in names:
            largest = 512 if name.endswith("MaxReLU") else max(BATCHES)  # 2048 takes minutes; DN 3x600 shows it
            yield Architecture(name, tm.NormInduced(norm), products, floats, largest)


def _wide(components: int, width: int, **options: object) -> tm.WideNorm:
    return tm.WideNorm(DIM, components=components, width=width, **options)  # type: ignore[arg-type]


def _gram(k: int, w: int, *, project: bool = True) -> Callable[[Tensor, Tensor], None]:
    """The inner products of all pairs in each component; in blocks, as no path needs all of them at once."""
    weight = torch.randn(k * w, DIM)

    def products(x: Tensor, y: Tensor) -> None:
        px, py = (x @ weight.T, y @ weight.T) if project else (x, y)
        a, b = (p.unflatten(-1, (k, w)).movedim(1, 0) for p in (px, py))
        height = max(1, PRODUCT_ROWS * 400 // (k * len(y)))
        out = x.new_empty(k * min(height, len(x)) * len(y))
        for block in a.split(height, dim=1):
            shape = (k, block.shape[1], len(y))
            torch.bmm(block, b.mT, out=out[: math.prod(shape)].view(shape))

    return products


def _layers(width: int, depth: int) -> Callable[[Tensor, Tensor], None]:
    """The products W h of the hidden layers for all pairs, and U x once per point."""
    weight, skip = torch.rand(width, width), torch.randn(depth * width, DIM)
    unit, out = torch.rand(PRODUCT_ROWS, width), torch.empty(PRODUCT_ROWS, width)

    def products(x: Tensor, y: Tensor) -> None:
        _ = x @ skip.T, y @ skip.T
        left = len(x) * len(y) * (depth - 1)
        while left > 0:
            rows = min(left, PRODUCT_ROWS)
            torch.mm(unit[:rows], weight.T, out=out[:rows])
            left -= rows

    return products


def measure(architecture: Architecture, batch: int, *, backward: bool, budget: float) -> Row:
    """Measure one cell of the table.

    Args:
        architecture: what to measure.
        batch: rows of x and of y.
        backward: whether to measure the gradients as well.
        budget: seconds to measure.
    """
    torch.manual_seed(0)
    x, y = (torch.randn(batch, DIM, requires_grad=backward) for _ in range(2))
    run = timed_pass(x, y, backward=backward)

    def products() -> None:
        assert architecture.products is not None
        with torch.no_grad():
            for _ in range(3 if backward else 1):  # the gradients need each product twice more
                architecture.products(x, y)

    fast = run(lambda a, b: tm.all_pairs(architecture.distance, a, b))
    ways: dict[str, Callable[[], object]] = {"fast": fast}
    if architecture.products is not None:
        ways["products"] = products
    if 4 * batch**2 * architecture.definition_floats * (2 if backward else 1) < DEFINITION_BYTES:
        ways["definition"] = run(architecture.definition)
    start = time.perf_counter()
    memory = peak_bytes(fast)
    first = time.perf_counter() - start
    if first > 4 * budget:  # once is enough
        del ways["fast"]
        ways.pop("definition", None)
        seconds = {"fast": first, **best_seconds(ways, rounds=0)}
    else:
        seconds = best_seconds(ways, budget=budget)

    def ratio(name: str, *, inverse: bool = False) -> float | None:
        if name not in seconds:
            return None
        return seconds[name] / seconds["fast"] if inverse else seconds["fast"] / seconds[name]

    return Row(
        architecture=architecture.name,
        batch=batch,
        backward=backward,
        milliseconds=1e3 * seconds["fast"],
        definition_ratio=ratio("definition", inverse=True),
        product_ratio=ratio("products"),
        extra_mib=memory / 2**20,
    )


def run(*, batches: tuple[int, ...] = BATCHES, names: tuple[str, ...] | None = None, budget: float = 3.0) -> list[Row]:
    """Measure all architectures, forward and with gradients.

    Args:
        batches: mini-batch sizes.
        names: architectures to measure; all by default.
        budget: seconds to measure each cell.
    """
    cells = [
        (architecture, batch, backward)
        for architecture in architectures(names)
        for backward in (False, True)
        for batch in batches
        if batch <= architecture.largest_batch
    ]
    return [
        measure(architecture, batch, backward=backward, budget=budget)
        for architecture, batch, backward in track(cells, "all pairs", console=Console(stderr=True))
    ]


def run_rectified(budget: float = 40.0) -> float:
    """Compare all pairs of the rectified 32x32 Wide Norm, at 512, with the broadcast definition of the paper's
    asymmetric one of the same size.

    Args:
        budget: seconds to measure.

    Returns:
        How many times faster the rectified one is.
    """
    rectified, paper = architectures(("rectified WN 32x32", "paper's asym. WN 32x32"))
    x, y = torch.randn(2, 512, DIM)
    with torch.no_grad():
        seconds = best_seconds(
            {
                "rectified": lambda: tm.all_pairs(rectified.distance, x, y),
                "paper": lambda: paper.definition(x, y),
            },
            budget=budget,
        )
    return seconds["paper"] / seconds["rectified"]


def show_rectified(ratio: float, console: Console) -> None:
    """Print what `run_rectified` has returned."""
    console.print(
        f"Rectified Wide Norm 32x32, all pairs at 512: {ratio:.1f} x faster than the paper's asymmetric "
        "Wide Norm 32x32 by broadcasting"
    )


def show(rows: list[Row], console: Console) -> None:
    """Print what `run` has returned."""
    for backward in (False, True):
        title = "forward + backward" if backward else "forward"
        table = Table(title=f"All pairs, {title}: ms | x faster than broadcasting | x the products | MiB extra")
        table.add_column("")
        batches = sorted({row.batch for row in rows})
        for batch in batches:
            table.add_column(str(batch), justify="right")
        for name in dict.fromkeys(row.architecture for row in rows):
            cells = {r.batch: r for r in rows if r.architecture == name and r.backward == backward}
            table.add_row(name, *(_cell(cells[batch]) if batch in cells else "" for batch in batches))
        console.print(table)


def _cell(row: Row) -> str:
    ratios = " | ".join("-" if r is None else f"{r:.2g}" for r in (row.definition_ratio, row.product_ratio))
    return f"{row.milliseconds:.3g} | {ratios} | {row.extra_mib:.0f}"
