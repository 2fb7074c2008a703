"""Lower bounds of distances for search, from potentials of landmarks or learned ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support.renamed import OldAttribute
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.paths.engines import landmark_potentials
from trimetric.graphs.paths.landmarks import Landmarks

ROUNDING = 1e-9  # relative to the largest potential


@dataclass(frozen=True)
class Certificate:
    r"""The result of checking a heuristic on all arcs of a graph.

    If no arc is too steep, $h(u, t) \le w(u, v) + h(v, t)$ for all arcs and targets: the bound is consistent, hence
    admissible, and search with it finds shortest paths.

    Attributes:
        arcs: number of arcs checked, which is all of them.
        steep: number of arcs whose potentials differ by more than their weight.
        excess: the largest difference beyond the weight; 0 where there is none.
        tolerance: the excess that rounding may cause.

    Examples:
        >>> Certificate(arcs=4, steep=1, excess=0.5, tolerance=1e-9).holds
        False
    """

    arcs: int
    steep: int
    excess: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the heuristic is admissible and consistent."""
        return self.excess <= self.tolerance


@dataclass(frozen=True, eq=False)
class PotentialHeuristic:
    r"""$h(x, t) = \max_k (g_k(t) - g_k(x))^+$, or the maximum of $|g_k(t) - g_k(x)|$ where undirected.

    This is a quasimetric for any numbers $g$: relu of a difference keeps the triangle inequality, and so does a
    maximum.  It never exceeds the distance iff $g_k(v) - g_k(u) \le w(u, v)$ on every *arc*: sum this inequality along
    a shortest path.  `certify` checks the condition in $O(|E|)$; `closed` makes it true.

    Args:
        potentials: `(n, k)` numbers $g_k$ in float64.
        directed: whether the graph is directed; otherwise both signs of a potential are used.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> heuristic = PotentialHeuristic(np.array([[0.0], [1.0], [3.0], [6.0]]), directed=True)
        >>> heuristic(np.array([0, 3]), np.array([2, 0]))  # lower bounds of the distances 3 and 4
        array([3., 0.])
        >>> heuristic.certify(graph).holds
        True
    """

    potentials: NDArray[np.float64]
    directed: bool

    @classmethod
    def of_landmarks(cls, landmarks: Landmarks) -> PotentialHeuristic:
        """Make the ALT heuristic: distances from landmarks, and minus the distances to them.

        Args:
            landmarks: their distances.
        """
        return cls(landmark_potentials(landmarks), landmarks.directed)

    @classmethod
    def closed(cls, potentials: ArrayLike, graph: Graph) -> PotentialHeuristic:
        r"""Lower potentials just enough to make them admissible: the largest ones below them that are.

        $\bar g(v) = \min_u g(u) + d(u, v)$: a shortest-path tree that may start at any node u, at a cost of $g(u)$.  So
        *any* numbers, learned in any way, become an admissible and consistent heuristic; potentials that are admissible
        do not change.  For an undirected graph both signs hold at once, as d is symmetric.

        Args:
            potentials: `(n, k)` finite numbers.
            graph: the graph with n nodes.
        """
        from trimetric.graphs.paths.dijkstra_kernels import dijkstra_tree

        given = np.asarray(potentials, np.float64)
        if given.ndim != 2 or len(given) != graph.num_nodes:
            raise ValueError(
                f"potentials: expected a row for each of the {graph.num_nodes:,} nodes, got shape {given.shape}"
            )
        if not np.isfinite(given).all():
            raise ValueError("potentials: expected finite numbers, got NaN or infinity")
        arrays = graph.indptr, graph.indices, graph.weights
        columns = [dijkstra_tree(*arrays, np.ascontiguousarray(column)) for column in given.T]
        return cls(np.ascontiguousarray(np.stack(columns, axis=1)), graph.directed)

    bytes_a_node = OldAttribute("bytes_per_node")

    @property
    def bytes_per_node(self) -> int:
        """The memory that the potentials of a node take."""
        return self.potentials.shape[1] * self.potentials.itemsize

    def __call__(self, sources: Nodes, targets: Nodes) -> NDArray[np.float64]:
        """Compute the lower bounds of the distances of pairs."""
        difference = self.potentials[targets] - self.potentials[sources]
        return (np.maximum(difference, 0) if self.directed else np.abs(difference)).max(axis=1, initial=0.0)

    def certify(self, graph: Graph) -> Certificate:
        """Check every potential on every arc of a graph.

        Args:
            graph: the graph with a node for each row of `potentials`.
        """
        if len(self.potentials) != graph.num_nodes:
            raise ValueError(
                f"graph: expected the {len(self.potentials):,} nodes of this heuristic, got {graph.num_nodes:,}"
            )
        steepest = np.zeros(graph.num_arcs)
        tails, heads = graph.tails, graph.indices
        for column in self.potentials.T:
            difference = column[heads] - column[tails]
            # A heuristic that uses both signs must hold for both, also on a directed graph.
            np.maximum(steepest, difference if self.directed else np.abs(difference), out=steepest)
        excess = steepest - graph.weights
        tolerance = ROUNDING * float(np.abs(self.potentials).max(initial=0.0))
        return Certificate(
            arcs=graph.num_arcs,
            steep=int((excess > tolerance).sum()),
            excess=max(0.0, float(excess.max(initial=0.0))),
            tolerance=tolerance,
        )
