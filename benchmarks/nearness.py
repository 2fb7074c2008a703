"""Metric nearness: the exact solver against triangle fixing at the same gap, against its own kernel, and as n grows.

All times are processor time on one thread: triangle fixing runs for minutes, and a ratio of wall times would depend on
what else the machine did in the meantime.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.memory import peak_bytes
from benchmarks.options import RESULTS
from trimetric.nearness import min_plus, nearest_metric

GAP = 1e-6
PRODUCTS = 20
SIZES = (200, 500, 1000, 2000)


@dataclass(frozen=True)
class Growth:
    """One matrix, solved once."""

    data: str
    n: int
    seconds: float
    rounds: int
    gap: float
    rows: int
    """inequalities in the list at the end"""
    product_seconds: float
    """time of one min-plus product of this size: the median of three before and three after"""
    peak_mib: float
    """beyond what was allocated before"""

    @property
    def products(self) -> float:
        """The time, in units of one min-plus product."""
        return self.seconds / self.product_seconds


@dataclass(frozen=True)
class Solved:
    """Everything that was measured."""

    n: int
    """objects at which triangle fixing was measured"""
    dykstra_seconds: dict[str, float]
    """by data: triangle fixing to the same gap"""
    active_set_seconds: dict[str, float]
    """by data: the exact solver"""
    growth: list[Growth]


def symmetric(n: int) -> np.ndarray:
    """The paper's symmetric recipe."""
    generator = np.random.default_rng(0)
    uniform, noise = generator.uniform(0, 5, (n, n)), generator.uniform(0, 1, (n, n))
    d = uniform + uniform.T + np.triu(noise, 1) + np.triu(noise, 1).T
    np.fill_diagonal(d, 0.0)
    return d


def noisy_plane(n: int) -> np.ndarray:
    """Asymmetric: distances of random points of a plane, uphill twice as long, plus noise."""
    generator = np.random.default_rng(0)
    points = generator.uniform(0, 1, (n, 2))
    difference = points[None] - points[:, None]
    d = np.linalg.norm(difference, axis=-1) + np.maximum(difference[..., 1], 0) + generator.uniform(0, 0.1, (n, n))
    np.fill_diagonal(d, 0.0)
    return d


DATA = {"the paper's symmetric": (symmetric, True), "noisy plane, asymmetric": (noisy_plane, False)}


def run(
    *,
    quick: bool = False,
    sizes: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    picture: Path | None = None,
) -> Solved:
    """Solve each matrix; triangle fixing is measured at the smallest default size only, if that is among the sizes.

    Args:
        quick: use sizes of 50 and 100.
        sizes: numbers of objects; replaces the default.
        names: data to use, among `DATA`; all by default.
        picture: a file to draw the growth in, with saved numbers of sizes that are not measured.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        solved = _run(quick, sizes, {name: DATA[name] for name in names or () if name in DATA} or DATA)
    finally:
        torch.set_num_threads(threads)
    if picture is not None:
        saved = json.loads(RESULTS.read_text()).get("nearness") if RESULTS.exists() else None
        draw_growth([Growth(**row) for row in merge(saved, solved)["growth"]], picture)
    return solved


def _run(quick: bool, sizes: Sequence[int] | None, data: Mapping[str, Any]) -> Solved:
    n = 50 if quick else SIZES[0]
    sizes = sizes or ((50, 100) if quick else SIZES)
    for make, is_symmetric in data.values():  # compiles
        for method in ("active-set", "dykstra"):
            nearest_metric(make(20), symmetric=is_symmetric, method=method)
    slow, fast = {}, {}
    for name, (make, is_symmetric) in data.items() if n in sizes else ():
        d = make(n)
        slow[name] = _seconds(d, is_symmetric, "dykstra")
        fast[name] = min(_seconds(d, is_symmetric, "active-set") for _ in range(3))
    growth = []
    for size in sizes:
        for name, (make, is_symmetric) in data.items():
            growth.append(_growth(name, make(size), is_symmetric))
            print(growth[-1], file=sys.stderr, flush=True)  # large ones take minutes, and a run may be killed
    return Solved(n, slow, fast, growth)


def merge(before: dict[str, Any] | None, now: Solved) -> dict[str, Any]:
    """Combine the numbers of this run with saved ones of sizes that it did not measure.

    Args:
        before: the numbers that were saved, if any.
        now: what `run` has returned.
    """
    fresh = asdict(now)
    if before is None or before["n"] != now.n:
        return fresh
    measured = {(row.data, row.n) for row in now.growth}
    kept = [row for row in before["growth"] if (row["data"], row["n"]) not in measured]
    rows = sorted([*kept, *fresh["growth"]], key=lambda row: (list(DATA).index(row["data"]), row["n"]))
    ratios = fresh if now.dykstra_seconds else before
    return {**ratios, "growth": rows}


def _seconds(d: np.ndarray, symmetric: bool, method: str) -> float:
    start = time.process_time()
    result = nearest_metric(d, symmetric=symmetric, tolerance=GAP, method=method)  # type: ignore[arg-type]
    if not result.converged:
        raise RuntimeError(f"{method} ended at a gap of {result.gap:.1e}")
    return time.process_time() - start


def _product_seconds(d: np.ndarray) -> float:
    start = time.process_time()
    min_plus(d)
    return time.process_time() - start


def _growth(name: str, d: np.ndarray, symmetric: bool) -> Growth:
    products = [_product_seconds(d) for _ in range(3)]
    found = []

    def solve() -> None:
        start = time.process_time()
        result = nearest_metric(d, symmetric=symmetric, tolerance=GAP)
        found.append((result, time.process_time() - start))

    peak = peak_bytes(solve)
    result, seconds = found[0]
    products += [_product_seconds(d) for _ in range(3)]
    return Growth(
        data=name,
        n=len(d),
        seconds=seconds,
        rounds=result.rounds,
        gap=result.gap,
        rows=result.history[-1].rows,
        product_seconds=sorted(products)[len(products) // 2],
        peak_mib=peak / 2**20,
    )


def show(solved: Solved, console: Console) -> None:
    """Print what `run` has returned."""
    for name, slow in solved.dykstra_seconds.items():
        fast = solved.active_set_seconds[name]
        console.print(
            f"Nearest metric, {name}, n = {solved.n}, to a gap of {GAP:g}, one thread: {fast:.2f} s, "
            f"triangle fixing {slow:.2f} s: {slow / fast:.0f} x faster"
        )
    table = Table(title=f"Nearest metric to a relative duality gap of {GAP:g}, one thread, processor time")
    headings = (
        "",
        "n",
        "s",
        f"x {PRODUCTS} products",
        "rounds",
        "inequalities",
        "peak MiB",
        "matrices of n x n",
        "gap",
    )
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    for row in solved.growth:
        matrices = row.peak_mib * 2**20 / (8 * row.n**2)
        table.add_row(
            row.data,
            str(row.n),
            f"{row.seconds:.2f}",
            f"{row.products / PRODUCTS:.1f}",
            str(row.rounds),
            f"{row.rows:,}",
            f"{row.peak_mib:.0f}",
            f"{matrices:.0f}",
            f"{row.gap:.1e}",
        )
    console.print(table)
    _draw(solved.growth, console)


def draw_growth(growth: list[Growth], file: Path) -> None:
    """Draw seconds and memory against the number of objects, on logarithmic axes.

    Args:
        growth: what was measured.
        file: to write, such as a .png.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, marker in zip(DATA, "os", strict=True):
        rows = sorted((row for row in growth if row.data == name), key=lambda row: row.n)
        sizes, seconds = [row.n for row in rows], [row.seconds for row in rows]
        label = name
        if len(rows) > 1:
            label += f": n^{np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.1f}"
        left.plot(sizes, seconds, marker=marker, label=label)
        right.plot(sizes, [row.peak_mib for row in rows], marker=marker, label=name)
    products = {row.n: PRODUCTS * row.product_seconds for row in sorted(growth, key=lambda row: row.n)}
    left.plot(list(products), list(products.values()), ":", color="gray", label=f"{PRODUCTS} min-plus products")
    left.set(ylabel="processor seconds, one thread", title=f"to a gap of {GAP:g}")
    right.set(ylabel="peak memory, MiB", title="beyond the matrix itself")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="objects")
        axes.set_xticks(list(products), [str(n) for n in products])
        axes.set_xticks([], minor=True)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(file, dpi=150)


def _draw(growth: list[Growth], console: Console) -> None:
    """Print bars by the logarithm of the time, and the power of n between successive sizes."""
    shortest = min(row.seconds for row in growth)
    before: Growth | None = None
    for row in sorted(growth, key=lambda row: (row.data, row.n)):
        bar = "#" * (1 + round(8 * float(np.log10(row.seconds / shortest))))
        power = ""
        if before is not None and before.data == row.data:
            power = f"  n^{np.log(row.seconds / before.seconds) / np.log(row.n / before.n):.1f}"
        console.print(f"{row.data:>24} {row.n:5d} {bar} {row.seconds:.2f} s{power}", highlight=False)
        before = row
