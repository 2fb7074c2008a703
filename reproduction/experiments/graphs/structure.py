"""Exact distances of `taxi` and `3dd` from their structure, in seconds instead of minutes."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trimetric.graphs import Graph
from trimetric.graphs.graph import Nodes

Distances = NDArray[np.float64]
AXES = 3
ROUNDING = 1e-9
"""relative; the same weights added in another order differ by less"""


def taxi_lengths(graph: Graph, sources: Nodes, targets: Nodes) -> Distances:
    """Compute distances of `taxi` between states with different passenger cells.

    The way to another passenger cell leads to the passenger (a toll of the first state), with the passenger to the
    other cell, and from there alone to the last state (a toll).

    Args:
        graph: as `taxi` makes it.
        sources: `(pairs,)` nodes where the paths start.
        targets: `(pairs,)` nodes where the paths end.

    Returns:
        `(pairs,)` distances; NaN where a passenger waits in the same cell in both states.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    cells = round((np.sqrt(1 + 4 * graph.num_nodes) - 1) / 2)
    waiting = cells * cells
    on_board = np.arange(waiting, waiting + cells)
    rides = dijkstra(graph.subgraph(on_board).to_scipy())
    # Without the edges of rides, the only state on board that a state reaches is that of its passenger's cell.
    kept = (graph.tails < waiting) | (graph.indices < waiting)
    ends = graph.tails[kept], graph.indices[kept]
    alone = csr_array((graph.weights[kept], ends), shape=2 * [graph.num_nodes])
    tolls = dijkstra(alone, indices=on_board, min_only=True)
    first, last = sources % cells, targets % cells
    lengths = tolls[sources] + rides[first, last] + tolls[targets]
    return np.where((first == last) & (sources < waiting) & (targets < waiting), np.nan, lengths)


def torus_lengths(graph: Graph, sources: Nodes, targets: Nodes) -> Distances:
    """Compute distances of `3dd` where a shortest path provably does not go around the torus.

    All arcs lead forward along one of three axes.  Paths that do not go around stay in the box between the two ends,
    where a dynamic program finds the shortest.  All others have at least `side` steps more.  Their first half is at
    least as long as the shortest walk of so many steps from the source to anywhere, their second half as the shortest
    one from anywhere to the target.

    Args:
        graph: as `torus3d_directed` makes it.
        sources: `(pairs,)` nodes where the paths start.
        targets: `(pairs,)` nodes where the paths end.

    Returns:
        `(pairs,)` distances; NaN where a path around the torus might be shorter.
    """
    side = round(graph.num_nodes ** (1 / AXES))
    cube = np.arange(graph.num_nodes).reshape((side,) * AXES)
    ahead, behind = (np.stack([np.roll(cube, by, i).ravel() for i in range(AXES)], axis=1) for by in (-1, 1))
    weights = np.empty((graph.num_nodes, AXES))
    axis_of_arc = (ahead[graph.tails] == graph.indices[:, None]).argmax(axis=1)
    weights[graph.tails, axis_of_arc] = graph.weights
    steps = 2 * side
    arriving = weights[behind, np.arange(AXES)]
    from_source, to_target = _shortest_walks(ahead, weights, steps), _shortest_walks(behind, arriving, steps)
    lengths = _box_lengths(ahead, arriving, sources, targets, side)
    apart = np.stack(np.unravel_index(targets, cube.shape)) - np.stack(np.unravel_index(sources, cube.shape))
    around = (apart % side).sum(axis=0) + side
    bound = from_source[around // 2, sources] + to_target[around - around // 2, targets]
    return np.where(lengths <= bound * (1 - ROUNDING), lengths, np.nan)


def _shortest_walks(heads: Nodes, weights: Distances, steps: int) -> Distances:
    """The least weight of a walk of 0, 1, ..., `steps` steps from each node to anywhere."""
    least = np.zeros((steps + 1, len(heads)))
    for i in range(steps):
        least[i + 1] = (weights + least[i][heads]).min(axis=1)
    return least


@njit(cache=True)
def _box_lengths(ahead: Nodes, arriving: Distances, sources: Nodes, targets: Nodes, side: int) -> Distances:
    """The shortest path of each pair among those that stay in the box between its ends."""
    found = np.empty(len(sources))
    layer = np.empty((side, side))  # of the box, at the height that the paths have reached
    for pair in range(len(sources)):
        source, target = sources[pair], targets[pair]
        height = (target // (side * side) - source // (side * side)) % side
        depth = (target // side - source // side) % side
        width = (target - source) % side
        bottom = source
        for i in range(height + 1):
            row = bottom
            for j in range(depth + 1):
                node = row
                for k in range(width + 1):
                    best = 0.0 if node == source else np.inf
                    if i:
                        best = layer[j, k] + arriving[node, 0]
                    if j:
                        best = min(best, layer[j - 1, k] + arriving[node, 1])
                    if k:
                        best = min(best, layer[j, k - 1] + arriving[node, 2])
                    layer[j, k] = best
                    node = ahead[node, 2]
                row = ahead[row, 1]
            bottom = ahead[bottom, 0]
        found[pair] = layer[depth, width]
    return found
