"""Generated road networks: the streets of a grid with bends, as maps have them."""

from __future__ import annotations

import numpy as np

from benchmarks.worth import street_grid
from trimetric.graphs import Graph


def bent_streets(side: int, *, bends: int = 2, seed: int = 0) -> Graph:
    """Make a grid of streets with bends between the crossings; on maps, three of four nodes are bends.

    Args:
        side: number of crossings in each direction.
        bends: nodes on each street.
        seed: of lengths and streets.

    Returns:
        A strongly connected graph whose one-way streets stay one-way.
    """
    grid = street_grid(side, seed=seed)
    tails, heads = grid.tails.astype(np.int64), grid.indices.astype(np.int64)
    # A street has one row of bends, whichever way it is used; `forward` arcs pass them in their order.
    forward = tails < heads
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    _, street = np.unique(low * grid.num_nodes + high, return_inverse=True)
    first = grid.num_nodes + bends * street[:, None] + np.arange(bends)
    between = np.where(forward[:, None], first, first[:, ::-1])
    stops = np.concatenate([tails[:, None], between, heads[:, None]], axis=1)
    shares = np.random.default_rng(seed + 1).dirichlet(np.full(bends + 1, 4.0), size=int(street.max()) + 1)[street]
    lengths = np.where(forward[:, None], shares, shares[:, ::-1]) * grid.weights[:, None]
    nodes = grid.num_nodes + bends * (int(street.max()) + 1)
    return Graph.from_arcs(nodes, stops[:, :-1].ravel(), stops[:, 1:].ravel(), lengths.ravel(), directed=True)
