"""Landmarks: nodes whose distances to and from all other nodes are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from trimetric._support import checks
from trimetric._support.progress import Shown, WorkProgress
from trimetric._support.renamed import OldAttribute
from trimetric.graphs.graph import Graph, Nodes, node_numbers
from trimetric.graphs.paths.trees import distances_from, distances_to

Choice = Literal["farthest", "random"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Landmarks:
    r"""Distances of all nodes to and from landmarks.

    Attributes:
        nodes: the landmarks.
        from_landmarks: `(n, landmarks)`, the distance $d(l, v)$ from landmark l to node v.
        to_landmarks: `(n, landmarks)`, the distance $d(v, l)$; the same array where the graph is undirected.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> landmarks = landmarks_at(graph, [0, 2])
        >>> landmarks.table()[1]  # from node 1: to landmarks 0 and 2, then from them
        array([9., 2., 1., 8.])
        >>> landmarks.numbers_per_node
        4
    """

    nodes: Nodes
    from_landmarks: NDArray[np.floating]
    to_landmarks: NDArray[np.floating]

    @property
    def directed(self) -> bool:
        """Whether distances to and from the landmarks differ."""
        return self.to_landmarks is not self.from_landmarks

    numbers_a_node = OldAttribute("numbers_per_node")

    @property
    def numbers_per_node(self) -> int:
        """How many distances are kept for each node."""
        return len(self.nodes) * (2 if self.directed else 1)

    def table(self) -> NDArray[np.floating]:
        """Return one row per node: the distances to, then from, the landmarks; only one of them where they are equal.

        This is what `trimetric.LandmarkBound` reads.
        """
        if not self.directed:
            return self.from_landmarks
        return np.concatenate([self.to_landmarks, self.from_landmarks], axis=1)

    def first(self, count: int) -> Landmarks:
        """Keep the first few landmarks, which the farthest-point rule chose first.

        Args:
            count: how many to keep.
        """
        ahead = self.from_landmarks[:, :count]
        return Landmarks(
            nodes=self.nodes[:count],
            from_landmarks=ahead,
            to_landmarks=self.to_landmarks[:, :count] if self.directed else ahead,
        )


def choose_landmarks(
    graph: Graph,
    count: int = 32,
    *,
    choice: Choice = "farthest",
    seed: int = 0,
    dtype: DTypeLike = np.float64,
    jobs: int | None = None,
    progress: Shown = "silent",
) -> Landmarks:
    """Choose landmarks and compute their distances by Dijkstra's algorithm.

    Args:
        graph: a strongly connected graph.
        count: number of landmarks.
        choice: "farthest" repeatedly takes the node farthest from the landmarks so far (in the nearer direction),
            starting with the node farthest from a random node; "random" is the choice described in the paper.
        seed: for the random choices.
        dtype: of the tables; float32 halves their size.
        jobs: how many trees at a time, see `in_parallel`; only for choice="random".
        progress: "auto" shows a progress bar, "silent" shows nothing.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=False)
        >>> choose_landmarks(graph, 2).from_landmarks.shape
        (4, 2)
    """
    checks.positive_int("count", count)
    checks.one_of("choice", choice, ("farthest", "random"))
    if count > graph.num_nodes:
        raise ValueError(f"count: expected at most the {graph.num_nodes:,} nodes of the graph, got {count}")
    random = np.random.default_rng(seed)
    if choice == "random":
        nodes = random.choice(graph.num_nodes, count, replace=False)
        return landmarks_at(graph, nodes, dtype=dtype, jobs=jobs, progress=progress)
    ahead, back = _tables(graph, count, dtype)
    nodes = np.empty(count, np.int64)
    nearest = np.full(graph.num_nodes, np.inf)
    start = next(distances_from(graph, [random.integers(graph.num_nodes)], jobs=1))
    node = int(np.where(np.isfinite(start), start, -1).argmax())
    with WorkProgress("landmarks", count, progress) as shown:
        for i in range(count):
            nodes[i] = node
            there = next(distances_from(graph, [node], jobs=1))
            ahead[:, i] = there
            nearest = np.minimum(nearest, there)
            if graph.directed:
                here = next(distances_to(graph, [node], jobs=1))
                back[:, i] = here
                nearest = np.minimum(nearest, here)
            node = int(np.where(np.isfinite(nearest), nearest, -1).argmax())
            shown.advance(1)
    return Landmarks(nodes=nodes, from_landmarks=ahead, to_landmarks=back)


def landmarks_at(
    graph: Graph,
    nodes: ArrayLike,
    *,
    dtype: DTypeLike = np.float64,
    jobs: int | None = None,
    progress: Shown = "silent",
) -> Landmarks:
    """Compute the distances to and from given nodes.

    Args:
        graph: the graph.
        nodes: the landmarks.
        dtype: of the tables; float32 halves their size.
        jobs: how many trees at a time, see `in_parallel`.
        progress: "auto" shows a progress bar, "silent" shows nothing.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> landmarks_at(graph, [0]).from_landmarks.ravel()
        array([0., 1., 3., 6.])
        >>> landmarks_at(graph, [0]).to_landmarks.ravel()
        array([0., 9., 7., 4.])
    """
    numbers = node_numbers("nodes", nodes, graph)
    ahead, back = _tables(graph, len(numbers), dtype)
    with WorkProgress("landmarks", len(numbers) * (2 if graph.directed else 1), progress) as shown:
        for i, there in enumerate(distances_from(graph, numbers, jobs=jobs)):
            ahead[:, i] = there
            shown.advance(1)
        for i, here in enumerate(distances_to(graph, numbers, jobs=jobs) if graph.directed else ()):
            back[:, i] = here
            shown.advance(1)
    return Landmarks(nodes=numbers, from_landmarks=ahead, to_landmarks=back)


def _tables(graph: Graph, count: int, dtype: DTypeLike) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    ahead = np.empty((graph.num_nodes, count), dtype)
    return ahead, np.empty_like(ahead) if graph.directed else ahead
