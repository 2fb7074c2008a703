"""The matrices of the metric nearness experiment, in each reading of the paper's recipe (appendix D; deviation D17)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

READINGS = ("S", "A", "S mirrored", "A open")
"""symmetric with noise on each entry, asymmetric on a one-way torus; then the other reading of each"""


def make_matrix(reading: str, n: int, seed: int) -> np.ndarray:
    """Draw a matrix that breaks the triangle inequality.

    Args:
        reading: one of `READINGS`; "S" itself is not quite symmetric, because its noise is not.
        n: number of objects.
        seed: of the matrix.
    """
    generator = np.random.default_rng([seed, READINGS.index(reading)])
    if reading.startswith("S"):
        return _symmetric(generator, n, mirrored=reading == "S mirrored")
    return _asymmetric(generator, n, one_way_torus=reading == "A")


def is_symmetric(reading: str) -> bool:
    """Whether the nearest symmetric metric is sought."""
    return reading.startswith("S")


def _symmetric(generator: np.random.Generator, n: int, *, mirrored: bool) -> np.ndarray:
    uniform = generator.uniform(0, 5, (n, n))
    noise = generator.uniform(0, 1, (n, n))
    if mirrored:
        noise = np.triu(noise, 1) + np.triu(noise, 1).T
    distances = uniform + uniform.T + noise
    np.fill_diagonal(distances, 0.0)
    return distances


def _asymmetric(generator: np.random.Generator, n: int, *, one_way_torus: bool) -> np.ndarray:
    """Shortest paths on a lattice with weights exp(U(-1, 1)), plus U(0, 4), modulo 10."""
    height = max(h for h in range(1, int(n**0.5) + 1) if n % h == 0)
    width = n // height
    nodes = np.arange(n).reshape(height, width)
    if one_way_torus:
        steps = [(nodes, np.roll(nodes, -1, axis=axis)) for axis in (0, 1)]
    else:
        down, right = (nodes[:-1], nodes[1:]), (nodes[:, :-1], nodes[:, 1:])
        steps = [down, down[::-1], right, right[::-1]]
    start = np.concatenate([a.ravel() for a, _ in steps])
    end = np.concatenate([b.ravel() for _, b in steps])
    lengths = np.exp(generator.uniform(-1, 1, len(start)))
    graph = csr_array((lengths, (start, end)), shape=(n, n))
    distances = (dijkstra(graph) + generator.uniform(0, 4, (n, n))) % 10
    np.fill_diagonal(distances, 0.0)
    return distances
