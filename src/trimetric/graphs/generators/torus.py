"""Three-dimensional grids that wrap around: `3d`, `3dd` and `3dr` of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric.graphs.graph import Graph

SIDE = 50
HUNDREDTHS = 100


def torus3d(*, seed: int, side: int = SIDE) -> Graph:
    """Make a cube of `side`^3 nodes, each joined to its six neighbors (the paper's `3d`).

    By default it has 125,000 nodes and 375,000 edges.  The weight of each edge is drawn from {.01, .02, ..., 1.00}.

    Args:
        seed: for the weights.
        side: nodes along each axis, at least 3.

    Examples:
        >>> print(torus3d(seed=0, side=3))
        27 nodes, 81 edges
    """
    _, forward, weights = _edges(side, np.random.default_rng(seed))
    return Graph.from_arcs(len(forward), *_arcs(forward, weights), directed=False)


def torus3d_directed(*, seed: int, side: int = SIDE) -> Graph:
    """Make the cube of `torus3d` with arcs in one direction along each axis only (the paper's `3dd`: 375,000 arcs).

    Args:
        seed: for the weights.
        side: nodes along each axis, at least 3.

    Examples:
        >>> print(torus3d_directed(seed=0, side=3))
        27 nodes, 81 arcs
    """
    _, forward, weights = _edges(side, np.random.default_rng(seed))
    return Graph.from_arcs(len(forward), *_arcs(forward, weights), directed=True)


def torus3d_pruned(*, seed: int, side: int = SIDE) -> Graph:
    """Make the cube of `torus3d` where each node keeps three of its six outgoing arcs at random (the paper's `3dr`).

    The result is the largest strongly connected component of this graph: by default about 122,600 nodes and 367,700
    arcs, depending on the seed.

    Args:
        seed: for the weights and for the arcs that are kept.
        side: nodes along each axis, at least 3.

    Examples:
        >>> print(torus3d_pruned(seed=0, side=3))
        27 nodes, 81 arcs
    """
    random = np.random.default_rng(seed)
    backward, forward, weights = _edges(side, random)
    heads = np.concatenate([forward, backward], axis=1)
    # The edge backward along an axis is the edge forward of the node where it ends.
    both = np.concatenate([weights, weights[backward, np.arange(3)]], axis=1)
    kept = random.random(heads.shape).argsort(axis=1)[:, :3]
    rows = np.arange(len(heads))[:, None]
    return Graph.from_arcs(len(heads), *_arcs(heads[rows, kept], both[rows, kept]), directed=True).connected(
        largest=True
    )


def random_weights(random: np.random.Generator, size: int | tuple[int, ...]) -> NDArray[np.float64]:
    """Draw uniformly from {.01, .02, ..., 1.00}."""
    return random.integers(1, HUNDREDTHS + 1, size) / HUNDREDTHS


def _edges(side: int, random: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """For each node and axis: the node before it, the node after it, and the weight of the edge to the latter."""
    if checks.positive_int("side", side) < 3:
        raise ValueError(f"side: expected at least 3, or neighbors would coincide, got {side}")
    cube = np.arange(side**3).reshape(side, side, side)
    before, after = (np.stack([np.roll(cube, by, axis).ravel() for axis in range(3)], axis=1) for by in (1, -1))
    return before, after, random_weights(random, after.shape)


def _arcs(
    heads: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Turn a row of heads for each node into lists of arcs."""
    return np.repeat(np.arange(len(heads)), heads.shape[1]), heads.ravel(), weights.ravel()
