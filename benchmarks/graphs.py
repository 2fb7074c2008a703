"""Graphs: milliseconds per pair by engine, against SciPy and NetworkX; nodes expanded by search, at equal memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import networkx
import numpy as np
from rich.console import Console
from rich.table import Table

from trimetric.graphs import (
    Graph,
    PotentialHeuristic,
    ShortestPaths,
    choose_landmarks,
    learn_heuristic,
    push,
    random_pairs,
    read_graph,
    sample_pairs,
    shortest_path,
    taxi,
    to_networkx,
    torus3d,
    torus3d_directed,
    torus3d_pruned,
)
from trimetric.graphs.paths.engines import EngineName, is_road_like, make_engine

PAPER_PAIRS = 150_000
CORES = 2
SLOW_PAIRS = 4  # SciPy computes a whole tree per pair, and NetworkX takes seconds
QUERIES = 1000
LANDMARKS = 64  # from which the learned heuristic is made
NUMBERS = 16  # per node, of every heuristic

GRAPHS: dict[str, Callable[..., Graph]] = {
    "3d": torus3d,
    "3dd": torus3d_directed,
    "3dr": torus3d_pruned,
    "taxi": taxi,
    "push": push,
}


@dataclass(frozen=True)
class Engines:
    """The engines on one graph."""

    graph: str
    nodes: int
    edges: int
    milliseconds: dict[str, float]
    """per pair on one thread, by engine"""
    preparation_seconds: dict[str, float]
    largest_error: float
    """relative, against SciPy"""

    @property
    def minutes(self) -> float:
        """Time for the paper's pairs on two cores by the fastest engine, including its preparation."""
        return min(
            (self.preparation_seconds[name] + PAPER_PAIRS * ms / 1e3 / CORES) / 60
            for name, ms in self.milliseconds.items()
            if name in self.preparation_seconds
        )


@dataclass(frozen=True)
class Search:
    """Nodes that A* expanded on the same random queries."""

    graph: str
    queries: int
    expanded: dict[str, float]
    """on average, by heuristic"""
    bytes_per_node: int
    certified: bool
    """whether the learned heuristic is consistent on every arc"""
    wrong: int
    """queries for which the learned heuristic found a longer path than Dijkstra's algorithm"""


@dataclass(frozen=True)
class Measured:
    """Everything that was measured."""

    engines: list[Engines]
    search: list[Search]


def run(*, quick: bool = False, map_file: Path | None = None) -> Measured:
    """Measure the engines on every graph, and the search on one.

    Args:
        quick: use small graphs and few queries.
        map_file: a road map, added to the graphs and used for the search.
    """
    side = {"side": 8} if quick else {}
    graphs = {name: make(seed=0, **side) for name, make in GRAPHS.items()}
    if map_file is not None:
        graphs["map"] = read_graph(map_file)
    engines = [_engines(name, graph, pairs=16 if quick else 200) for name, graph in graphs.items()]
    searched = "map" if map_file is not None else "3d"
    return Measured(engines, [_search(searched, graphs[searched], queries=20 if quick else QUERIES, quick=quick)])


def _engines(name: str, graph: Graph, *, pairs: int) -> Engines:
    ends = random_pairs(graph.num_nodes, pairs, seed=0)
    names: list[EngineName] = ["bidirectional", "landmarks", *(["hierarchy"] if is_road_like(graph) else [])]  # type: ignore[list-item]
    milliseconds, preparation, answers = {}, {}, {}
    for engine_name in names:
        make_engine(engine_name, _tiny()).distances(np.array([0]), np.array([1]))  # compiles
        start = time.perf_counter()
        engine = make_engine(engine_name, graph)
        preparation[engine_name] = time.perf_counter() - start
        start = time.perf_counter()
        answers[engine_name] = engine.distances(*ends.T)
        milliseconds[engine_name] = (time.perf_counter() - start) / pairs * 1e3
    few = ends[:SLOW_PAIRS]
    start = time.perf_counter()
    truth = make_engine("scipy", graph).distances(*few.T)
    milliseconds["scipy"] = (time.perf_counter() - start) / len(few) * 1e3
    other = to_networkx(graph)
    start = time.perf_counter()
    for source, target in few[:2].tolist():
        networkx.bidirectional_dijkstra(other, source, target)
    milliseconds["networkx"] = (time.perf_counter() - start) / 2 * 1e3
    error = max(float(np.abs(found[: len(few)] / truth - 1).max()) for found in answers.values())
    return Engines(name, graph.num_nodes, graph.num_edges, milliseconds, preparation, error)


def _tiny() -> Graph:
    return Graph.from_arcs(2, [0, 1], [1, 0], [1.0, 1.0], directed=True, coordinates=[[0.0, 0.0], [1.0, 1.0]])


def _search(name: str, graph: Graph, *, queries: int, quick: bool) -> Search:
    landmarks = choose_landmarks(graph, LANDMARKS)
    paths = ShortestPaths(graph, progress="silent")
    sample = sample_pairs(graph, 2000 if quick else 100_000, test=100, validation=0, paths=paths)
    alt = PotentialHeuristic.of_landmarks(landmarks.first(NUMBERS // (2 if graph.directed else 1)))
    steps = 20 if quick else 1500
    ways = {
        "Dijkstra": None,
        "ALT": alt,
        "selected": learn_heuristic(graph, landmarks, sample, count=NUMBERS, steps=0),
        "learned": learn_heuristic(graph, landmarks, sample, count=NUMBERS, steps=steps),
    }
    pairs = random_pairs(graph.num_nodes, queries, seed=1).tolist()
    found = {way: [shortest_path(graph, x, y, heuristic) for x, y in pairs] for way, heuristic in ways.items()}
    exact, learned = (np.array([path.length for path in found[way]]) for way in ("Dijkstra", "learned"))
    return Search(
        graph=name,
        queries=queries,
        expanded={way: float(np.mean([path.expanded for path in paths])) for way, paths in found.items()},
        bytes_per_node=alt.bytes_per_node,
        certified=ways["learned"].certify(graph).holds,  # type: ignore[union-attr]
        wrong=int((learned > exact * (1 + 1e-9)).sum()),
    )


def show(measured: Measured, console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(title="Shortest paths of random pairs: milliseconds per pair, one thread")
    names = ["hierarchy", "landmarks", "bidirectional", "scipy", "networkx"]
    for heading in ("", "nodes", "edges", *names, f"minutes for {PAPER_PAIRS:,}", "error"):
        table.add_column(heading, justify="right" if heading else "left")
    for row in measured.engines:
        cells = [f"{row.milliseconds[name]:.3g}" if name in row.milliseconds else "-" for name in names]
        sizes = (f"{row.nodes:,}", f"{row.edges:,}")
        table.add_row(row.graph, *sizes, *cells, f"{row.minutes:.1f}", f"{row.largest_error:.0e}")
    console.print(table)
    total = sum(row.minutes for row in measured.engines)
    console.print(f"All of them: {total:.0f} minutes on {CORES} cores, with the faster engine for each")
    for found in measured.search:
        counts = ", ".join(f"{way} {count:,.0f}" for way, count in found.expanded.items())
        console.print(
            f"Nodes expanded on {found.graph}, {found.queries} queries, {found.bytes_per_node} bytes per node: "
            f"{counts}; certified: {found.certified}, not shortest: {found.wrong}"
        )
