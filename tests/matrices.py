"""Matrices of made-up distances, and whether one is a metric."""

from __future__ import annotations

import numpy as np


def random_matrix(n: int, seed: int, *, symmetric: bool) -> np.ndarray:
    generator = np.random.default_rng(seed)
    d = generator.uniform(0, 1, (n, n)) ** 3
    if seed % 3 == 1:
        d *= generator.random((n, n)) < 0.6  # many zeros
    d = np.triu(d, 1) + np.triu(d, 1).T if symmetric else d
    np.fill_diagonal(d, 0.0)
    return d


def triangles_hold(x: np.ndarray) -> bool:
    """By the definition, one addition and one comparison for each triple, without a tolerance."""
    return bool((x >= 0).all()) and all((x <= x[:, [k]] + x[[k], :]).all() for k in range(len(x)))
