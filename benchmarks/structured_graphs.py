"""Distances of `taxi` and `3dd` from their structure and by the engine of shortest paths: times and differences."""

from __future__ import annotations

import time

import numpy as np

from reproduction.experiments.graphs.data import GENERATED, SEED, STRUCTURED
from trimetric.graphs import ShortestPaths
from trimetric.graphs.paths.pair_sampling import random_pairs

PAIRS, COMPARED = 150_000, 600


def main() -> None:
    """Print a line for each graph."""
    for name, lengths_of in STRUCTURED.items():
        graph = GENERATED[name](seed=SEED)
        small = random_pairs(graph.num_nodes, 10, seed=1, unordered=graph.symmetric)
        lengths_of(graph, *small.T)  # so that machine code is there
        ends = random_pairs(graph.num_nodes, PAIRS, seed=SEED, unordered=graph.symmetric)
        start = time.process_time()
        found = lengths_of(graph, *ends.T)
        seconds = time.process_time() - start
        known = np.flatnonzero(~np.isnan(found))[:COMPARED]
        engine = ShortestPaths(graph, jobs=1, progress="silent")
        engine.pairs(*small.T)
        start = time.process_time()
        exact = engine.pairs(*ends[known].T)
        engine_seconds = (time.process_time() - start) * PAIRS / COMPARED
        share, difference = np.isfinite(found).mean(), np.abs(found[known] - exact).max()
        print(
            f"{name}: {share:.2%} of {PAIRS:,} pairs in {seconds:.2f} s; engine: {engine_seconds:.0f} s for all, "
            f"estimated from {COMPARED}; largest difference {difference:.1e}"
        )


if __name__ == "__main__":
    main()
