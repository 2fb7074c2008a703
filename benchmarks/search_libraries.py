"""Search beside other libraries, exact and approximate ones, on a head that they can search too."""

from __future__ import annotations

import copy
import importlib.util
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import trimetric as tm

K = 10
EXPANSIONS = (16, 64, 256, 1024)  # of usearch: how many candidates a query keeps


@dataclass(frozen=True)
class Answer:
    """What one library takes for the same queries."""

    data: str
    library: str
    build_seconds: float
    microseconds: float
    """per query, processor time of one thread"""
    recall: float
    """the share of the right neighbors, as distances tell"""


def run(*, quick: bool = False) -> list[Answer]:
    """Search with a Mahalanobis distance, which is the Euclidean one after a linear map, on one thread.

    Args:
        quick: use few points and queries.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [answer for name, points in _data(quick).items() for answer in _compare(name, points, quick)]
    finally:
        torch.set_num_threads(threads)


def _data(quick: bool) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    n = 5000 if quick else 50_000
    bend = torch.randn(2, 16, generator=generator)
    surface = torch.sin(3 * torch.rand(n, 2, generator=generator) @ bend)
    return {"curved surface": surface, "random, 16 dimensions": torch.randn(n, 16, generator=generator)}


def _compare(name: str, points: Tensor, quick: bool) -> Iterator[Answer]:
    from sklearn.neighbors import NearestNeighbors

    torch.manual_seed(0)
    distance = tm.NormInduced(tm.Mahalanobis(16)).requires_grad_(False)
    queries = 200 if quick else 500
    points, asked = points[:-queries], points[-queries:]
    vectors, metric = tm.search.plain_vectors(distance, points)
    wanted, _ = tm.search.plain_vectors(distance, asked)
    warm = tm.search.Index(distance, points[:20_000])
    warm.nearest(points[-200:], k=K)  # compiles
    build, index = _timed(lambda: tm.search.Index(distance, points))
    seconds, exact = _timed(lambda: index.nearest(asked, k=K))
    definition = copy.deepcopy(distance).double()
    farthest = exact.distances[:, -1:].double() * (1 + 1e-6)

    def answer(library: str, build: float, seconds: float, ids: np.ndarray) -> Answer:
        found = definition(asked.double().unsqueeze(1), points.double()[torch.from_numpy(ids)])
        return Answer(name, library, build, seconds / queries * 1e6, float((found <= farthest).double().mean()))

    yield answer("tm.search.Index, exact", build, seconds, exact.ids.numpy())
    for recall in (0.99, 0.9):
        leaves = tm.search.leaves_for_recall(index, recall, k=K, sample=50)
        seconds, found = _timed(lambda leaves=leaves: index.nearest(asked, k=K, most_leaves=leaves))
        yield answer(f"tm.search.Index, {leaves} leaves", build, seconds, found.ids.numpy())
    for algorithm in ("brute", "ball_tree"):
        make = NearestNeighbors(n_neighbors=K, algorithm=algorithm, n_jobs=1)
        build, other = _timed(lambda make=make: make.fit(vectors.numpy()))
        seconds, found = _timed(lambda other=other: other.kneighbors(wanted.numpy(), return_distance=False))
        yield answer(f"scikit-learn, {algorithm.replace('_', ' ')}", build, seconds, found)
    if metric == "l2" and importlib.util.find_spec("usearch") is not None:
        yield from _usearch(vectors, wanted, answer)


def _usearch(vectors: Tensor, wanted: Tensor, answer: Callable[..., Answer]) -> Iterator[Answer]:
    from usearch.index import Index  # optional: only this benchmark uses it  # pyright: ignore[reportMissingImports]

    index: Any = Index(ndim=vectors.shape[1], metric="l2sq", dtype="f32")
    keys = np.arange(len(vectors))
    build, _ = _timed(lambda: index.add(keys, vectors.numpy(), threads=1))
    for expansion in EXPANSIONS:
        index.expansion_search = expansion
        seconds, found = _timed(lambda: index.search(wanted.numpy(), K, threads=1))
        yield answer(f"usearch, expansion {expansion}", build, seconds, found.keys.astype(np.int64))


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def show(answers: list[Answer], console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(title=f"The {K} nearest by a Mahalanobis distance, one thread")
    for heading in ("points", "library", "build", "us per query", "recall"):
        table.add_column(heading, justify="left" if heading in ("points", "library") else "right")
    for row in answers:
        table.add_row(
            row.data, row.library, f"{row.build_seconds:.2f} s", f"{row.microseconds:,.0f}", f"{row.recall:.4f}"
        )
    console.print(table)
    if not any(row.library.startswith("usearch") for row in answers):
        console.print("usearch is not installed: pip install usearch")
