"""When a learned distance is worth it: exact distances, landmark bounds and models of street grids, by size."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from trimetric.graphs import Graph, ShortestPaths, learn_graph, random_pairs

SIDES = (10, 32, 100, 316)  # 100 to 100,000 crossings, about a tenth of which are cut off
QUERIES = 10_000
SAMPLE = 200_000  # pairs to learn from, at most


@dataclass(frozen=True)
class Size:
    """One street grid."""

    nodes: int
    table_bytes: int
    """of the exact distances of all pairs, in float32"""
    table_seconds: float
    """for that table, on all cores, estimated from one shortest-path tree"""
    preparation_seconds: float
    """of the exact engine of single pairs"""
    exact_microseconds: float
    """per exact query, on one thread"""
    fit_seconds: float
    """for exact distances of sampled pairs, landmarks and training"""
    relative_errors: dict[str, float]
    """mean relative error on held-out pairs, by way to predict"""
    microseconds: dict[str, float]
    """per query, many at a time, on one thread, by way to predict"""
    bytes_per_node: int


def run(*, quick: bool = False) -> list[Size]:
    """Measure each size; `quick` measures the smallest alone."""
    torch.set_num_threads(1)
    _measure(street_grid(5))  # compiles
    return [_measure(street_grid(side)) for side in (SIDES[:1] if quick else SIDES)]


def street_grid(side: int, *, seed: int = 0) -> Graph:
    """Make a grid of streets with random lengths: a quarter is missing, and a fifth of the rest is one-way.

    Args:
        side: number of crossings in each direction.
        seed: of lengths and streets.

    Returns:
        The largest strongly connected part, with coordinates.
    """
    random = np.random.default_rng(seed)
    numbers = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([numbers[:, :-1].ravel(), numbers[:-1].ravel()])
    heads = np.concatenate([numbers[:, 1:].ravel(), numbers[1:].ravel()])
    kept = random.random(len(tails)) > 0.25
    tails, heads = tails[kept], heads[kept]
    lengths = random.integers(50, 200, len(tails)).astype(float)
    both = random.random(len(tails)) > 0.2
    places = np.stack(np.divmod(np.arange(side * side), side), axis=1) * 1e-3
    return Graph.from_arcs(
        side * side,
        np.concatenate([tails, heads[both]]),
        np.concatenate([heads, tails[both]]),
        np.concatenate([lengths, lengths[both]]),
        directed=True,
        coordinates=places,
    ).connected(largest=True)


def _measure(graph: Graph) -> Size:
    all_pairs = graph.num_nodes * (graph.num_nodes - 1)
    ends = random_pairs(graph.num_nodes, min(QUERIES, all_pairs), seed=1)
    paths = ShortestPaths(graph, jobs=1, progress="silent")
    first = _seconds(lambda: paths.pairs(ends[:, 0], ends[:, 1]))  # prepares the engine that suits so many pairs
    again = _seconds(lambda: paths.pairs(ends[:, 0], ends[:, 1]))
    start = time.perf_counter()
    learned = learn_graph(graph, head="wide", sample=min(SAMPLE, all_pairs), progress="silent")
    fit_seconds = time.perf_counter() - start
    model = learned.candidates[0]
    return Size(
        nodes=graph.num_nodes,
        table_bytes=learned.verdict.exact.bytes,
        table_seconds=learned.verdict.exact.seconds,
        preparation_seconds=max(first - again, 0.0),
        exact_microseconds=again / len(ends) * 1e6,
        fit_seconds=fit_seconds,
        relative_errors={each.name: each.accuracy.mean_relative_error for each in learned.candidates},
        microseconds={each.name: each.microseconds for each in learned.candidates},
        bytes_per_node=model.bytes_per_node,
    )


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def show(sizes: list[Size], console: Console) -> None:
    """Print what `run` has returned."""
    table = Table("nodes", "all exact pairs", "exact query", "model: fit", title="Street grids: exact or learned?")
    for column in ("its query", "its error", "bound: query", "its error"):
        table.add_column(column)
    for size in sizes:
        bound = "landmarks from below"
        table.add_row(
            f"{size.nodes:,}",
            f"{size.table_bytes / 2**20:,.2g} MiB, {size.table_seconds:.2g} s",
            f"{size.exact_microseconds:.3g} us after {size.preparation_seconds:.2g} s",
            f"{size.fit_seconds:.0f} s",
            f"{size.microseconds['model']:.3g} us",
            f"{size.relative_errors['model']:.2%}",
            f"{size.microseconds[bound]:.3g} us",
            f"{size.relative_errors[bound]:.2%}",
        )
    console.print(table)
