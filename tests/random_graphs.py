"""Random graphs that are strongly connected."""

from __future__ import annotations

import numpy as np

from trimetric.graphs import Graph


def random_graph(seed: int, *, n: int = 60, directed: bool = True, zeros: bool = False) -> Graph:
    """A ring, so that it is connected, and random arcs."""
    random = np.random.default_rng(seed)
    tails = np.concatenate([np.arange(n), random.integers(n, size=3 * n)])
    heads = np.concatenate([(np.arange(n) + 1) % n, random.integers(n, size=3 * n)])
    weights = random.integers(0 if zeros else 1, 200, len(tails)) / 100
    return Graph.from_arcs(n, tails, heads, weights, directed=directed, coordinates=random.random((n, 2)))
