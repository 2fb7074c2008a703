"""Matrices of distances of roads: exact ones, against SciPy's trees and pairs one by one, and those of a map model."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from scipy.sparse.csgraph import dijkstra

from benchmarks.worth import street_grid
from trimetric import LandmarkBound, all_pairs
from trimetric.graphs import Graph, ShortestPaths, choose_landmarks, read_graph
from trimetric.graphs.graph import Nodes

SIDE = 100  # of a street grid, where no map is given
FACILITIES, PLACES = 50, 1000
FEW = 4  # trees of SciPy's that are timed
PAIRS = 20_000
NUMBERS = 64  # per node, of a map model


@dataclass(frozen=True)
class MatrixTime:
    """One matrix."""

    name: str
    sources: int
    targets: int
    seconds: float
    """processor time of `many_to_many` on one thread, after the preparation"""
    tree_seconds: float
    """of as many of SciPy's trees as the shorter side has nodes, estimated from a few of them"""
    pair_seconds: float
    """of the same distances pair by pair through the hierarchy, estimated from some of them"""
    error: float
    """the largest relative error against SciPy's trees"""
    model_seconds: float
    """of `all_pairs` of a distance of the form of a map model, 64 numbers per node; it is not exact"""


@dataclass(frozen=True)
class Matrices:
    """The matrices of one graph."""

    graph: str
    preparation_seconds: float
    matrices: list[MatrixTime]


def run(*, quick: bool = False, map_file: Path | None = None) -> Matrices:
    """Measure a square matrix, and all nodes from and to some facilities.

    Args:
        quick: use a small street grid where no map is given.
        map_file: a road map.
    """
    graph = street_grid(30 if quick else SIDE) if map_file is None else read_graph(map_file)
    paths = ShortestPaths(graph, engine="hierarchy", jobs=1, progress="silent")
    preparation = _seconds(lambda: paths.many_to_many([0], [1]))
    random = np.random.default_rng(0)
    places = random.integers(graph.num_nodes, size=(2, PLACES))
    facilities, every = places[0, :FACILITIES], np.arange(graph.num_nodes)
    cases = {"places": (places[0], places[1]), "to facilities": (every, facilities), "from": (facilities, every)}
    torch.set_num_threads(1)
    points = _points(graph)
    found = [_measure(name, graph, paths, points, *ends) for name, ends in cases.items()]
    return Matrices(str(graph), preparation, found)


def _points(graph: Graph) -> torch.Tensor:
    """What a map model keeps of each node; a trained one has other numbers of the same kind."""
    landmarks = choose_landmarks(graph, NUMBERS // (2 if graph.directed else 1), dtype=np.float32)
    return torch.from_numpy(landmarks.table())


def _measure(
    name: str, graph: Graph, paths: ShortestPaths, points: torch.Tensor, sources: Nodes, targets: Nodes
) -> MatrixTime:
    bound, ends_of = LandmarkBound(NUMBERS, directed=graph.directed), (points[sources], points[targets])
    all_pairs(bound, points[:1000])  # compiles
    model_seconds = min(_seconds(lambda: all_pairs(bound, *ends_of)) for _ in range(3))
    matrix = paths.many_to_many(sources, targets)
    seconds = min(_seconds(lambda: paths.many_to_many(sources, targets)) for _ in range(3))
    backward = len(targets) < len(sources)
    weights = (graph.reverse if backward else graph).to_scipy()
    starts, ends = (targets, sources) if backward else (sources, targets)
    trees: list[np.ndarray] = []
    tree_seconds = _seconds(lambda: trees.append(dijkstra(weights, indices=starts[:FEW])[:, ends])) / FEW
    truth, ours = trees[0], (matrix.T if backward else matrix)[:FEW]
    some = np.random.default_rng(1).integers([len(sources), len(targets)], size=(PAIRS, 2))
    pair_seconds = _seconds(lambda: paths.pairs(sources[some[:, 0]], targets[some[:, 1]])) / PAIRS
    return MatrixTime(
        name,
        len(sources),
        len(targets),
        seconds,
        tree_seconds * len(starts),
        pair_seconds * matrix.size,
        float((np.abs(ours - truth) / np.maximum(truth, 1e-9)).max()),
        model_seconds,
    )


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def show(measured: Matrices, console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(title=f"Exact matrices, {measured.graph}, prepared in {measured.preparation_seconds:.1f} s")
    for heading in (
        "",
        "matrix",
        "seconds",
        "SciPy's trees / ours",
        "pair by pair / ours",
        "error",
        "ours / model",
        "model, ns per pair",
    ):
        table.add_column(heading, justify="right" if heading else "left")
    for row in measured.matrices:
        ratios = (f"{other / row.seconds:.1f}" for other in (row.tree_seconds, row.pair_seconds))
        size = f"{row.sources:,} x {row.targets:,}"
        nanoseconds = 1e9 * row.model_seconds / (row.sources * row.targets)
        model = f"{row.seconds / row.model_seconds:.0f}", f"{nanoseconds:.1f}"
        table.add_row(row.name, size, f"{row.seconds:.3g}", *ratios, f"{row.error:.0e}", *model)
    console.print(table)
