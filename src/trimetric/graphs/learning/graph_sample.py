"""What both recipes of a graph start from: a sample of pairs with exact distances, and landmarks."""

from __future__ import annotations

import numpy as np

from trimetric._support import checks
from trimetric._support.memory import as_gib, available_memory
from trimetric._support.progress import Shown
from trimetric.graphs.graph import Graph
from trimetric.graphs.paths.landmarks import Landmarks, choose_landmarks
from trimetric.graphs.paths.pair_sampling import PairSample, sample_pairs
from trimetric.graphs.paths.shortest_paths import ShortestPaths

HELD_OUT = 10_000
FOR_FULL_TESTS = 4 * HELD_OUT  # smaller samples hold out shares, or too few pairs would be left to learn from
SHARE = 10
FEWEST_NODES = 4  # 12 pairs, of which one is for testing and one for validation
BYTES_PER_PAIR = 64


def draw_pairs(graph: Graph, paths: ShortestPaths, sample: int | None, *, usual: int, seed: int) -> PairSample:
    """Sample pairs of different nodes: `sample` of them, or `usual` if that is None, at most all."""
    if graph.num_nodes < FEWEST_NODES:
        raise ValueError(f"graph: expected at least {FEWEST_NODES} nodes to sample pairs from, got {graph.num_nodes}")
    possible = graph.num_pairs
    count = min(usual, possible) if sample is None else checks.positive_int("sample", sample)
    if not 3 <= count <= possible:
        raise ValueError(
            f"sample: expected at least 3 pairs, one each for training, validation and testing, and at most the "
            f"{possible:,} of the graph, got {count:,}"
        )
    check_memory("sample", f"{count:,} pairs", BYTES_PER_PAIR * count)
    held = HELD_OUT if count >= FOR_FULL_TESTS else max(1, count // SHARE)
    return sample_pairs(graph, count, test=held, validation=held, seed=seed, paths=paths)


def landmarks_of_size(graph: Graph, wanted: int | None, dim: int, seed: int, progress: Shown) -> Landmarks:
    """By default as many as take the memory of a point per node, so that bounds and model can be compared."""
    same_memory = max(1, checks.positive_int("dim", dim) // (2 if graph.directed else 1))
    if wanted is not None and checks.positive_int("landmarks", wanted) > graph.num_nodes:
        raise ValueError(f"landmarks: expected at most the {graph.num_nodes:,} nodes, got {wanted:,}")
    count = wanted or min(same_memory, graph.num_nodes)
    # Their table, and the features that are made of it.
    numbers = 2 * count * graph.num_nodes * (2 if graph.directed else 1)
    check_memory("landmarks" if wanted else "dim", f"{count:,} landmarks", 4 * numbers)
    return choose_landmarks(graph, count, seed=seed, dtype=np.float32, progress=progress)


def check_memory(argument: str, asked: str, needed: int) -> None:
    """Refuse what needs more memory than is available, before it is allocated."""
    available = available_memory()
    if needed > available:
        raise ValueError(
            f"{argument}: expected what fits in the {as_gib(available)} of available memory, got {asked}, which need "
            f"{as_gib(needed)}"
        )
