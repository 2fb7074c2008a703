"""The graphs of the paper with their pairs, landmarks and features, computed once and cached on disk."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reproduction.experiments.graphs.structure import taxi_lengths, torus_lengths
from trimetric.graphs import (
    Graph,
    Landmarks,
    PairSample,
    ShortestPaths,
    choose_landmarks,
    landmark_features,
    push,
    read_graph,
    taxi,
    torus3d,
    torus3d_directed,
    torus3d_pruned,
)
from trimetric.graphs.files.cache import ArrayCache, content_key, default_folder
from trimetric.graphs.graph import Nodes
from trimetric.graphs.paths.landmarks import Choice
from trimetric.graphs.paths.pair_sampling import random_pairs

GENERATED: dict[str, Callable[..., Graph]] = {
    "3d": torus3d,
    "taxi": taxi,
    "push": push,
    "3dr": torus3d_pruned,
    "3dd": torus3d_directed,
}
ROADS = {"to": True, "to directed": False}
"""whether every street is made two-way"""
SYMMETRIC = ("to", "3d", "taxi")
ASYMMETRIC = ("push", "3dr", "3dd", "to directed")
NAMES = (*SYMMETRIC, *ASYMMETRIC)

MAP = "TRIMETRIC_MAP"
"""environment variable with the path of a map"""
LANDMARKS = 32
HELD_OUT = 10_000
SEED = 0
"""seed of graph, pairs, landmarks and noise: as in the paper, a graph is drawn once"""
STRUCTURED = {"taxi": taxi_lengths, "3dd": torus_lengths}
"""graphs whose structure gives most distances; the engine computes the others"""
RECIPE = 2
"""part of the cache key: raise it when the computation changes, so that cached data are no longer used"""


@dataclass(frozen=True)
class Source:
    """The settings of a cell that determine its data."""

    graph: str
    map: str
    """name of the file, if the graph is a map"""
    side: int
    """side of the grid; 0 for the paper's"""
    sample: int
    """total number of pairs"""
    landmarks: Choice


@dataclass(frozen=True, eq=False)
class Data:
    """The data on which the models of a graph are trained and tested."""

    edges: int
    sample: PairSample
    landmarks: Landmarks
    seconds: float
    """time that computing them took"""
    engine: str
    """engine of the shortest paths"""

    @cached_property
    def features(self) -> Tensor:
        """The paper's features: noisy distances to and from landmarks, and 96 distractors."""
        return torch.from_numpy(landmark_features(self.landmarks, seed=SEED))

    def pairs(self, rows: slice) -> tuple[Tensor, Tensor]:
        """Pairs of nodes, and their distances scaled to mean 50."""
        ends = torch.from_numpy(self.sample.ends[rows])
        return ends, torch.tensor(self.sample.lengths[rows] * self.sample.scale, dtype=torch.float32)


def map_file() -> Path | None:
    """The map that the environment variable names, if it exists."""
    text = os.environ.get(MAP)
    return Path(text) if text and Path(text).is_file() else None


@lru_cache(maxsize=1)
def load(source: Source) -> Data:
    """Read the data from the cache, or compute and cache them; a second process waits for the first."""
    folder = default_folder() / "reproduction"
    cache, key = ArrayCache(folder), _key(source)
    with _locked(folder / f"{key}.lock"):
        known = cache.read(key)
        if known is None:
            known = _compute(source, folder)
            cache.write(key, known)
    return _data(known, source)


def held_out(sample: int) -> int:
    """Number of test pairs, and of validation pairs, in a sample of this size."""
    return min(HELD_OUT, sample // 8)


def _key(source: Source) -> str:
    parts = [source.graph, source.side, source.sample, source.landmarks, LANDMARKS, SEED, RECIPE]
    if source.graph in ROADS:
        parts.append(hashlib.sha256(_map_of(source).read_bytes()).hexdigest())
    return content_key("graph experiment", *parts)


def _map_of(source: Source) -> Path:
    file = map_file()
    if file is None or file.name != source.map:
        raise FileNotFoundError(f"{MAP}: expected the path of the map {source.map!r}, got {str(file or '')!r}")
    return file


def make_graph(source: Source) -> Graph:
    """Read or generate the graph, which takes seconds."""
    if source.graph in ROADS:
        return read_graph(_map_of(source), symmetrize=ROADS[source.graph], largest=True)
    make = GENERATED[source.graph]
    return make(seed=SEED, side=source.side) if source.side else make(seed=SEED)


def _compute(source: Source, folder: Path) -> dict[str, NDArray[np.generic]]:
    start = time.perf_counter()
    graph = make_graph(source)
    ends = random_pairs(graph.num_nodes, source.sample, seed=SEED, unordered=graph.symmetric)
    lengths, engine = _lengths(graph, ends, source.graph, folder)
    landmarks = choose_landmarks(graph, LANDMARKS, choice=source.landmarks, seed=SEED, dtype=np.float32)
    arrays: dict[str, NDArray[np.generic]] = {
        "ends": ends,
        "lengths": lengths,
        "landmarks": landmarks.nodes,
        "from_landmarks": landmarks.from_landmarks,
        "edges": np.array([graph.num_edges]),
        "seconds": np.array([time.perf_counter() - start]),
        "engine": np.frombuffer(engine.encode(), np.uint8).copy(),
    }
    if landmarks.directed:
        arrays["to_landmarks"] = landmarks.to_landmarks
    return arrays


def _lengths(graph: Graph, ends: Nodes, name: str, folder: Path) -> tuple[NDArray[np.float64], str]:
    """Compute the distances of pairs, and say by which engine."""
    paths = ShortestPaths(graph, cache=folder, progress="silent")  # cached by the thousand, so that it can resume
    sources, targets = ends.T
    if name not in STRUCTURED:
        return paths.pairs(sources, targets), paths.engine(len(ends)).name
    lengths = STRUCTURED[name](graph, sources, targets)
    rest = np.isnan(lengths)
    if rest.any():
        lengths[rest] = paths.pairs(sources[rest], targets[rest])
    return lengths, "structure"


def _data(arrays: dict[str, NDArray[np.generic]], source: Source) -> Data:
    count = held_out(source.sample)
    ahead = arrays["from_landmarks"]
    return Data(
        edges=int(arrays["edges"][0]),
        sample=PairSample(ends=arrays["ends"], lengths=arrays["lengths"], test=count, validation=count),  # type: ignore[arg-type]
        landmarks=Landmarks(
            nodes=arrays["landmarks"],  # type: ignore[arg-type]
            from_landmarks=ahead,  # type: ignore[arg-type]
            to_landmarks=arrays.get("to_landmarks", ahead),  # type: ignore[arg-type]
        ),
        seconds=float(arrays["seconds"][0]),
        engine=arrays["engine"].tobytes().decode(),
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
