"""Training of potentials: numbers per node whose largest difference is close to the distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric._support.progress import Shown, WorkProgress
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.learning.potential_kernels import largest_differences, relax_arcs, step_pairs
from trimetric.graphs.learning.trips import Trips
from trimetric.graphs.paths.dijkstra_kernels import dijkstra_tree
from trimetric.graphs.paths.parallel import in_parallel

Points = NDArray[np.float32]
RATE = 0.05  # of the mean distance: the first step of a trip of mean length
PAIRS_PER_ARC = 2  # between two sweeps over all arcs
FEWEST_PAIRS = 1 << 16
CLOSING_SWEEPS = 20


def train_potentials(
    graph: Graph,
    start: NDArray[np.floating],
    trips: Trips,
    *,
    slack: float = 0.0,
    passes: int = 1,
    rate: float = RATE,
    directed: bool | None = None,
    jobs: int | None = None,
    progress: Shown = "silent",
) -> Points:
    r"""Train potentials $g$ so that their largest difference fits the lengths of trips.

    The largest difference is $\max_k |g_k(y) - g_k(x)|$ or, where directed, $\max_k (g_k(y) - g_k(x))^+$.

    Stochastic gradient descent on the mean relative error, one trip at a time: only the coordinate that decides has a
    gradient.  After every few trips, arcs on which a potential grows by more than $(1 + \text{slack})\,w$ are
    relaxed, and at the end all potentials are closed, so that $d(x, y) \le (1 + \text{slack})\,D(x, y)$ for *all*
    pairs up to rounding.  Without that, free numbers learn the trips and are far off between them.

    Args:
        graph: a strongly connected graph.
        start: `(n, k)` potentials to start from, such as those of landmarks.
        trips: what to fit.
        slack: how much too far a prediction may be, relative to the distance; infinite for no limit.
        passes: how many times to go through the trips.
        rate: the first step of a trip of mean length, relative to that length; it falls to 0 along a cosine.
        directed: whether differences count in one direction only; by default, if the graph is directed.
        jobs: how many potentials to close at a time, see `in_parallel`.
        progress: "auto" shows a progress bar, "silent" shows nothing.

    Returns:
        `(n, k)` potentials.

    Examples:
        >>> from trimetric.graphs import landmarks_at
        >>> from trimetric.graphs.learning.trips import draw_trips
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=False)
        >>> start = landmarks_at(graph, [0]).from_landmarks
        >>> train_potentials(graph, start, draw_trips(graph, 100, trees=4)).shape
        (4, 1)
    """
    checks.finite_number("rate", rate, above=0)
    one_way = graph.directed if directed is None else directed
    points = np.ascontiguousarray(start, np.float32).copy()
    limits = ((1 + slack) * graph.weights).astype(np.float32)
    tails, heads = graph.tails, graph.indices
    # A step is rate / length, and `rate` times the mean for a trip of mean length.
    first = rate * float(np.mean(trips.lengths, dtype=np.float64)) ** 2
    size = max(FEWEST_PAIRS, PAIRS_PER_ARC * graph.num_arcs)
    total, done = checks.positive_int("passes", passes) * len(trips), 0
    with WorkProgress("potentials", total, progress) as shown:
        for _ in range(passes):
            for low in range(0, len(trips), size):
                part = trips[slice(low, low + size)]
                now, then = (first * 0.5 * (1 + np.cos(np.pi * at / total)) for at in (done, done + len(part)))
                step_pairs(points, part.starts, part.ends, part.lengths, now, then, one_way)
                if np.isfinite(slack):
                    relax_arcs(points, tails, heads, limits, one_way, 1)
                done += len(part)
                shown.advance(len(part))
    if not np.isfinite(slack):
        return points
    relax_arcs(points, tails, heads, limits, one_way, CLOSING_SWEEPS)
    return close_potentials(graph, points, slack=slack, directed=one_way, jobs=jobs)


def close_potentials(
    graph: Graph,
    potentials: NDArray[np.floating],
    *,
    slack: float = 0.0,
    directed: bool | None = None,
    jobs: int | None = None,
) -> Points:
    r"""Change potentials until none grows by more than $(1 + \text{slack})\,w$ on any arc, up to rounding.

    The largest such potentials below the given ones, $\min_u g(u) + (1 + \text{slack})\,d(u, v)$, and the smallest
    above them are both such; so is their mean, which changes the given ones least in general.  Where the graph is
    directed and differences count both ways (`directed=False`), the weight of an arc and of its reverse must both
    be an upper bound, so the graph must be symmetric.

    Args:
        graph: a strongly connected graph.
        potentials: `(n, k)` finite numbers.
        slack: how much steeper than its weight an arc may be, relative to that.
        directed: whether differences count in one direction only; by default, if the graph is directed.
        jobs: how many potentials at a time, see `in_parallel`.

    Examples:
        >>> graph = Graph.from_arcs(3, [0, 1], [1, 2], [1.0, 2.0], directed=False)
        >>> close_potentials(graph, np.array([[0.0], [5.0], [3.0]])).ravel()
        array([2., 3., 3.], dtype=float32)
    """
    one_way = graph.directed if directed is None else directed
    if not one_way and not graph.symmetric:
        raise ValueError("directed: expected True for a graph whose arcs have no reverse of the same weight, got False")
    return extend_potentials(graph, np.arange(graph.num_nodes), potentials, slack=slack, jobs=jobs)


def extend_potentials(
    graph: Graph,
    nodes: Nodes,
    potentials: NDArray[np.floating],
    *,
    slack: float = 0.0,
    jobs: int | None = None,
) -> Points:
    r"""Extend potentials of some nodes to all nodes, with no growth by more than $(1 + \text{slack})\,w$ on any arc.

    The extension is the mean of the largest and the smallest one that are possible.  Potentials of the given nodes do
    not change where that is possible at all; otherwise they are closed.

    Args:
        graph: a strongly connected graph.
        nodes: those whose potentials are given.
        potentials: `(nodes, k)` finite numbers.
        slack: how much steeper than its weight an arc may be, relative to that.
        jobs: how many potentials at a time, see `in_parallel`.

    Examples:
        >>> graph = Graph.from_arcs(3, [0, 1], [1, 2], [1.0, 2.0], directed=False)
        >>> extend_potentials(graph, np.array([0, 2]), np.array([[0.0], [3.0]])).ravel()
        array([0., 1., 3.], dtype=float32)
    """
    back = graph.reverse
    weights, back_weights = (1 + slack) * graph.weights, (1 + slack) * back.weights
    given = np.asarray(potentials)
    extended = np.empty((graph.num_nodes, given.shape[1]), np.float32)
    calls = [
        (graph.indptr, graph.indices, weights, back.indptr, back.indices, back_weights, nodes, given[:, k])
        for k in range(given.shape[1])
    ]
    for k, column in enumerate(in_parallel(_extend_one, calls, jobs=jobs)):
        extended[:, k] = column
    return extended


def _extend_one(indptr, indices, weights, back_indptr, back_indices, back_weights, nodes, values):
    start = np.full(len(indptr) - 1, np.inf)
    start[nodes] = values
    below = dijkstra_tree(indptr, indices, weights, start)
    start[nodes] = -values.astype(np.float64)
    return 0.5 * (below - dijkstra_tree(back_indptr, back_indices, back_weights, start))


def predict_trips(points: Points, trips: Trips, *, directed: bool) -> NDArray[np.float64]:
    """Compute the largest differences of potentials of trips.

    Args:
        points: `(n, k)` potentials.
        trips: their ends.
        directed: whether differences count in one direction only.
    """
    return largest_differences(points, trips.starts, trips.ends, directed).astype(np.float64)
