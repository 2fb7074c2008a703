"""Matrices of exact distances, block by block: by a hierarchy, by shortest-path trees, or by pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric._support.progress import WorkProgress
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.paths.engines import Engine
from trimetric.graphs.paths.hierarchy import Hierarchy
from trimetric.graphs.paths.parallel import in_parallel
from trimetric.graphs.paths.trees import distances_from, distances_to

BLOCK = 1 << 24  # distances in memory beside the matrix: 128 MiB
PAIRS_AT_ONCE = 1 << 14
WORTH_PROCESSES = 1 << 25  # distances, seconds of work: a process takes a second to start

Matrix = NDArray[Any]  # of float64, or of float32 where the caller gave such an array


def matrix_to_fill(out: Matrix | None, rows: int, columns: int) -> Matrix:
    """Check the array that a caller wants filled, or make one.

    Args:
        out: the array, such as a `numpy.memmap`; None to make one.
        rows: the number of sources.
        columns: the number of targets.

    Raises:
        TypeError: if `out` is no array of float64 or float32.
        ValueError: if it has another shape, or cannot be written to.
    """
    if out is None:
        return np.empty((rows, columns))
    if not isinstance(out, np.ndarray) or out.dtype not in (np.float64, np.float32):
        got = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        raise TypeError(f"out: expected an array of float64 or float32, got {got}")
    if out.shape != (rows, columns):
        raise ValueError(f"out: expected shape {(rows, columns)}, one row per source, got {out.shape}")
    if not out.flags.writeable:
        raise ValueError("out: expected an array that can be written to, got a read-only one")
    return out


def fill_by_hierarchy(
    hierarchy: Hierarchy, sources: Nodes, targets: Nodes, out: Matrix, *, jobs: int | None, shown: WorkProgress
) -> None:
    """Fill a matrix from sources to targets by sweeps through a hierarchy.

    Large matrices are computed by several processes, because the library holds the interpreter's lock.

    Args:
        hierarchy: of the graph.
        sources: `(s,)` nodes where paths start.
        targets: `(t,)` nodes where they end.
        out: `(s, t)` distances to write.
        jobs: how many processes, see `in_parallel`.
        shown: told of each block that is done.
    """
    blocks = list(_blocks_of_rows(len(sources), len(targets)))
    calls = [(hierarchy, sources[rows], targets) for rows in blocks]
    jobs = jobs if out.size > WORTH_PROCESSES else 1
    found = in_parallel(Hierarchy.matrix, calls, jobs=jobs, processes=True)
    for rows, block in zip(blocks, found, strict=True):
        out[rows] = block
        shown.advance(block.size)


def _blocks_of_rows(rows: int, columns: int) -> Iterator[slice]:
    """Blocks as high as memory allows where they are pinned; low where the columns are, for progress."""
    height = BLOCK // columns
    if rows <= columns or height <= columns:
        height //= 8
    yield from _slices(rows, max(1, height))


def fill_by_trees(
    graph: Graph, sources: Nodes, targets: Nodes, out: Matrix, *, jobs: int | None, shown: WorkProgress
) -> None:
    """Fill a matrix from sources to targets by a shortest-path tree for each node of the shorter list.

    Args:
        graph: the graph.
        sources: `(s,)` nodes where paths start.
        targets: `(t,)` nodes where they end.
        out: `(s, t)` distances to write.
        jobs: how many trees at a time, see `in_parallel`.
        shown: told of each tree that is done.
    """
    if len(sources) <= len(targets):
        for row, tree in zip(out, distances_from(graph, sources, jobs=jobs), strict=True):
            row[...] = tree[targets]
            shown.advance(len(targets))
        return
    trees = distances_to(graph, targets, jobs=jobs)
    width = max(1, min(64, BLOCK // len(sources)))  # columns at a time, because they lie far apart in memory
    for columns in _slices(len(targets), width):
        block = np.empty((len(targets[columns]), len(sources)))
        for row, tree in zip(block, trees, strict=False):
            row[...] = tree[sources]
            shown.advance(len(sources))
        out[:, columns] = block.T


def fill_by_pairs(
    engine: Engine, sources: Nodes, targets: Nodes, out: Matrix, *, jobs: int | None, shown: WorkProgress
) -> None:
    """Fill a matrix from sources to targets by a search for each pair.

    Args:
        engine: the engine for pairs.
        sources: `(s,)` nodes where paths start.
        targets: `(t,)` nodes where they end.
        out: `(s, t)` distances to write.
        jobs: how many searches at a time, see `in_parallel`.
        shown: told of each block that is done.
    """
    blocks = list(_slices(len(sources), max(1, PAIRS_AT_ONCE // len(targets))))
    calls = [
        (*engine.arrays, np.repeat(sources[rows], len(targets)), np.tile(targets, len(sources[rows])))
        for rows in blocks
    ]
    found = in_parallel(engine.function, calls, jobs=jobs if engine.portable else 1)
    for rows, block in zip(blocks, found, strict=True):
        out[rows] = block.reshape(-1, len(targets))
        shown.advance(block.size)


def _slices(count: int, size: int) -> Iterator[slice]:
    for first in range(0, count, size):
        yield slice(first, first + size)
