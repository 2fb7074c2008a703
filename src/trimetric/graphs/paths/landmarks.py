"""Landmarks: nodes whose distances to and from all others are known."""

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
        from_landmarks: `(n, landmarks)`, the distance $D(l, v)$ from landmark l to node v.
        to_landmarks: $D(v, l)$; the same array where the graph is undirected.
    """

    nodes: Nodes
    from_landmarks: NDArray[np.floating]
    to_landmarks: NDArray[np.floating]

    @property
    def directed(self) -> bool:
        return self.to_landmarks is not self.from_landmarks

    numbers_a_node = OldAttribute("numbers_per_node")

    @property
    def numbers_per_node(self) -> int:
        """How many are kept for a node."""
        return len(self.nodes) * (2 if self.directed else 1)

    def table(self) -> NDArray[np.floating]:
        """One row a node: distances to, then from, the landmarks; once where the graph is undirected.

        What `trimetric.LandmarkBound` reads.
        """
        if not self.directed:
            return self.from_landmarks
        return np.concatenate([self.to_landmarks, self.from_landmarks], axis=1)

    def first(self, count: int) -> Landmarks:
        """The first few landmarks; those that farthest-point choice took first."""
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
        graph: strongly connected.
        count: of landmarks.
        choice: "farthest" takes the node that is farthest from those taken already (in the nearer direction),
            beginning at the one farthest from a random node; "random" is the paper's text.
        seed: of what is random.
        dtype: of the tables; float32 halves them.
        jobs: trees at a time, see `in_parallel`; farthest ones are chosen one by one.
        progress: "silent" shows nothing.
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
    """The distances to and from the given nodes."""
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
