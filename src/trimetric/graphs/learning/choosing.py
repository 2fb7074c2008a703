"""Choice of the landmarks whose potentials bound some trips best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimetric._support.progress import Shown, WorkProgress
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.learning.trips import Trips
from trimetric.graphs.paths.landmarks import choose_landmarks
from trimetric.graphs.paths.trees import distances_from, distances_to

CANDIDATES = 4  # times as many as are wanted
LEAST_CANDIDATES = 400


def choose_potentials_for(
    graph: Graph,
    count: int,
    trips: Trips,
    *,
    directed: bool,
    candidates: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    progress: Shown = "silent",
) -> tuple[Nodes, NDArray[np.bool_]]:
    """Choose landmarks, and for each the distances from it or to it, one after the other, whichever helps most.

    Each is the one that raises the mean of bound / length over the trips most.  Only the ends of trips are looked at,
    so memory does not grow with the graph.

    Args:
        graph: a strongly connected graph.
        count: number of potentials.
        trips: what they are chosen for.
        directed: whether distances from and to a landmark are different potentials.
        candidates: number of nodes to choose from, at most all; half of them are far from each other.
        seed: for the candidates.
        jobs: how many trees at a time, see `in_parallel`.
        progress: "auto" shows a progress bar, "silent" shows nothing.

    Returns:
        `(count,)` nodes, and whether the potential is the distance *to* each of them.

    Examples:
        >>> from trimetric.graphs.learning.trips import draw_trips
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=False)
        >>> nodes, to = choose_potentials_for(graph, 2, draw_trips(graph, 20, trees=4), directed=False)
        >>> len(nodes), to.tolist()
        (2, [False, False])
    """
    wanted = max(LEAST_CANDIDATES, CANDIDATES * count) if candidates is None else candidates
    wanted = min(graph.num_nodes, max(wanted, -(-count // (2 if directed else 1))))
    random = np.random.default_rng(seed)
    # All of a small graph; landmarks far from each other are good for long trips, others for short ones.
    far = choose_landmarks(graph, max(1, min(wanted // 4, count)), seed=seed, dtype=np.float32).nodes
    others = np.setdiff1d(random.permutation(graph.num_nodes)[:wanted], far)
    nodes = np.concatenate([far, random.permutation(others)])[:wanted]
    x, y = trips.starts, trips.ends
    shares = np.empty((len(nodes) * (2 if directed else 1), len(trips)), np.float32)
    with WorkProgress("candidates", len(shares), progress) as shown:
        for i, there in enumerate(distances_from(graph, nodes, jobs=jobs)):
            difference = there[y] - there[x]
            shares[i] = np.maximum(difference, 0) if directed else np.abs(difference)
            shown.advance(1)
        for i, here in enumerate(distances_to(graph, nodes, jobs=jobs) if directed else ()):
            shares[len(nodes) + i] = np.maximum(here[x] - here[y], 0)
            shown.advance(1)
    shares /= trips.lengths
    # A small graph has fewer potentials than that; training finds a use for the others.
    rows = np.resize(greedy_rows(shares, min(count, len(shares))), count)
    return nodes[rows % len(nodes)], rows >= len(nodes)


def greedy_rows(shares: NDArray[np.float32], count: int) -> list[int]:
    """Choose rows so that the mean of their maximum is large: each is the one that raises it most.

    What a row adds can only shrink as others are chosen, so an old value is an upper bound of it: a row whose value is
    up to date and still the largest is chosen without looking at the rest.

    Args:
        shares: `(rows, trips)` numbers >= 0.
        count: how many rows to choose; at most as many as there are.

    Examples:
        >>> greedy_rows(np.array([[1, 0, 0], [0.9, 0.9, 0], [0, 0, 0.5]], np.float32), 2)
        [1, 2]
    """
    if count > len(shares):
        raise ValueError(f"count: expected at most the {len(shares):,} rows, got {count:,}")
    best = np.zeros(shares.shape[1], np.float32)
    gains = shares.mean(axis=1, dtype=np.float64)
    chosen: list[int] = []
    while len(chosen) < count:
        fresh: set[int] = set()
        while (row := int(gains.argmax())) not in fresh:
            gains[row] = np.maximum(shares[row] - best, 0).mean(dtype=np.float64)
            fresh.add(row)
        chosen.append(row)
        best = np.maximum(best, shares[row])
        gains[row] = -1.0
    return chosen


def potentials_at(graph: Graph, nodes: Nodes, to: NDArray[np.bool_], *, jobs: int | None = None) -> NDArray[np.float64]:
    """Compute the potentials of landmarks: distances from them, or minus the distances to them.

    Args:
        graph: the graph.
        nodes: the landmarks.
        to: for each, whether the distances to it are wanted.
        jobs: how many trees at a time, see `in_parallel`.

    Returns:
        `(n, landmarks)` potentials.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> potentials_at(graph, np.array([0, 0]), np.array([False, True]))[1]
        array([ 1., -9.])
    """
    found = np.empty((graph.num_nodes, len(nodes)))
    ahead, back = np.flatnonzero(~to), np.flatnonzero(to)
    for column, tree in zip(ahead, distances_from(graph, nodes[ahead], jobs=jobs), strict=True):
        found[:, column] = tree
    for column, tree in zip(back, distances_to(graph, nodes[back], jobs=jobs), strict=True):
        found[:, column] = -tree
    return found
