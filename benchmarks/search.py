"""Search: an index against comparing with all points, in one run on one core; growth with the number of points."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import trimetric as tm

K = 10
QUERIES = 10_000
SINGLE = 50  # queries that are asked alone
COMPARED = 400  # queries for which the comparison with all is timed: so many at a time that their start costs little
BLOCK = 1 << 27  # distances: half a gibibyte
GROWTH = (10_000, 30_000, 100_000, 300_000, 1_000_000)


@dataclass(frozen=True)
class Case:
    """One set of points, one distance."""

    name: str
    points: int
    queries: int
    build_seconds: float
    bytes_per_point: float
    search_microseconds: float
    """per query, everything but the build"""
    compare_microseconds: float
    """per query, all distances by `all_pairs` and the k least of them"""
    computed: float
    """distances per query"""
    single_microseconds: float
    """for a query alone, the median of some"""
    different: int
    """answers that are not those of the comparison, among the queries that were compared"""

    @property
    def speedup(self) -> float:
        """How many times faster the index is."""
        return self.compare_microseconds / self.search_microseconds


@dataclass(frozen=True)
class Measured:
    """Everything that was measured."""

    cases: list[Case]
    growth: list[Case]
    exponent: float
    """of the time per query, fitted to the growth"""


def run(
    *,
    quick: bool = False,
    map_file: Path | None = None,
    sizes: list[int] | None = None,
    picture: Path | None = None,
) -> Measured:
    """Measure everything on one thread.

    Args:
        quick: use few points and queries.
        map_file: a road map, whose learned distances are searched; or a model file that was learned from one.
        sizes: numbers of points for the growth.
        picture: a file to draw the growth in.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        cases = [_hard(quick)]
        if map_file is not None:
            cases.insert(0, _road_map(map_file, quick))
        growth = [_curved(n, quick) for n in sizes or (GROWTH[:2] if quick else GROWTH)]
        measured = Measured(cases, growth, _exponent(growth))
        if picture is not None:
            draw_growth(measured, picture)
        return measured
    finally:
        torch.set_num_threads(threads)


def _case(name: str, distance: tm.Distance, points: Tensor, queries: Tensor, *, rounds: int = 3) -> Case:
    distance.requires_grad_(False)
    warm = tm.search.Index(distance, points[:5000])
    warm.nearest(queries[:20], k=K)  # compiles
    tm.all_pairs(distance, queries[:COMPARED], points[:5000])
    build, index = _timed(lambda: tm.search.Index(distance, points))
    few = queries[:COMPARED]
    compared, searched = [], []
    for _ in range(rounds):  # in turn, so that both see the same machine
        searched.append(_timed(lambda: index.nearest(queries, k=K)))
        compared.append(_timed(lambda: _nearest_of_all(distance, few, points)))
    search, found = min(searched, key=lambda each: each[0])
    compare, right = min(compared, key=lambda each: each[0])
    close = torch.isclose(found.distances[: len(few)], right, rtol=1e-5, atol=1e-6 * float(right.max()))
    return Case(
        name,
        len(points),
        len(queries),
        build,
        index.bytes_per_point,
        search / len(queries) * 1e6,
        compare / len(few) * 1e6,
        found.computed / len(queries),
        1e6 * statistics.median(_timed(lambda i=i: index.nearest(queries[i : i + 1], k=K))[0] for i in range(SINGLE)),
        int((~close).sum()),
    )


def _nearest_of_all(distance: tm.Distance, queries: Tensor, points: Tensor) -> Any:
    """The k nearest by comparing with all points, in as few blocks as fit in memory."""
    height = max(1, BLOCK // len(points))
    parts = [tm.all_pairs(distance, some, points).topk(K, largest=False).values for some in queries.split(height)]
    return torch.cat(parts)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def _road_map(map_file: Path, quick: bool) -> Case:
    if map_file.suffix == ".safetensors":
        model = tm.Model.load(map_file)
    else:
        graph = tm.graphs.read_graph(map_file, largest=True)
        sample, epochs = (20_000, 1) if quick else (100_000, 3)
        model = tm.graphs.learn_graph(graph, head="wide", sample=sample, epochs=epochs, progress="silent").model
    points = model.embed()
    rows = torch.randint(len(points), (500 if quick else QUERIES,), generator=torch.Generator().manual_seed(0))
    return _case(map_file.name.split(".")[0], model.network.head, points, points[rows], rounds=1)


def _hard(quick: bool) -> Case:
    """Random points in 64 dimensions, which no bound can tell apart."""
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(3000 if quick else 20_000, 64, generator=generator)
    torch.manual_seed(0)
    distance = tm.NormInduced(tm.WideNorm(64))
    return _case("random, 64 dimensions", distance, points, torch.randn(100 if quick else 400, 64, generator=generator))


def _curved(n: int, quick: bool) -> Case:
    """Points of a curved surface in 16 dimensions."""
    generator = torch.Generator().manual_seed(0)
    bend = torch.randn(2, 16, generator=generator)
    places = torch.rand(n + 1000, 2, generator=generator)
    points = torch.sin(3 * places @ bend)
    torch.manual_seed(0)
    distance = tm.NormInduced(tm.WideNorm(16, components=8, width=8))
    return _case("curved surface", distance, points[:n], points[n:][: 200 if quick else 1000])


def _exponent(growth: list[Case]) -> float:
    x = torch.tensor([math.log(case.points) for case in growth], dtype=torch.float64)
    y = torch.tensor([math.log(case.search_microseconds) for case in growth], dtype=torch.float64)
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x * x).sum())


def show(measured: Measured, console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(title=f"The {K} nearest points, one thread: microseconds per query")
    for heading in (
        "",
        "points",
        "build",
        "bytes per point",
        "index",
        "all pairs",
        "faster",
        "distances",
        "one query",
        "different",
    ):
        table.add_column(heading, justify="right" if heading else "left")
    for case in (*measured.cases, *measured.growth):
        table.add_row(
            case.name,
            f"{case.points:,}",
            f"{case.build_seconds:.1f} s",
            f"{case.bytes_per_point:.0f}",
            f"{case.search_microseconds:,.0f}",
            f"{case.compare_microseconds:,.0f}",
            f"{case.speedup:.3g} times",
            f"{case.computed:,.0f}",
            f"{case.single_microseconds:,.0f}",
            f"{case.different}",
        )
    console.print(table)
    console.print(f"Time per query grows with the number of points to the power of {measured.exponent:.2f}")


def draw_growth(measured: Measured, file: Path) -> None:
    """Draw the time per query against the number of points, with its exponent.

    Args:
        measured: what `run` has measured.
        file: to write, such as a .png.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    sizes = [case.points for case in measured.growth]
    axes.plot(sizes, [case.compare_microseconds for case in measured.growth], marker="s", label="all pairs")
    axes.plot(sizes, [case.search_microseconds for case in measured.growth], marker="o", label="index, exact")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="points",
        ylabel="microseconds per query",
        title=f"Curved surface: time of the index grows with n to the power of {measured.exponent:.2f}",
    )
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=150)
