"""Lower bounds of distances for search, from potentials: learned ones and those of landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support.renamed import OldAttribute
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.paths.engines import landmark_potentials
from trimetric.graphs.paths.landmarks import Landmarks

ROUNDING = 1e-9  # of the largest potential, for sums of floating-point numbers


@dataclass(frozen=True)
class Certificate:
    r"""What was found on all arcs of a graph.

    Where no arc is too steep, $h(u, t) \le w(u, v) + h(v, t)$ for all arcs and targets: the bound is consistent, hence
    admissible, and search with it finds shortest paths.

    Attributes:
        arcs: how many were checked, all of them.
        steep: how many had a larger difference than their weight.
        excess: the largest excess over the weight, 0 where there is none.
        tolerance: what rounding may do.
    """

    arcs: int
    steep: int
    excess: float
    tolerance: float

    @property
    def holds(self) -> bool:
        return self.excess <= self.tolerance


@dataclass(frozen=True, eq=False)
class PotentialHeuristic:
    r"""$h(x, t) = \max_k (g_k(t) - g_k(x))^+$, or the maximum of $|g_k(t) - g_k(x)|$ where undirected.

    A quasimetric for any numbers $g$: relu of a difference keeps the triangle inequality, and so does a maximum.  It is
    at most the distance iff $g_k(v) - g_k(u) \le w(u, v)$ on every *arc*: sum that along a shortest path.
    `certify` checks it in $O(|E|)$; `closed` makes it so.

    Args:
        potentials: `(n, k)`, float64.
        directed: whether the graph is; otherwise both signs of a potential are used.
    """

    potentials: NDArray[np.float64]
    directed: bool

    @classmethod
    def of_landmarks(cls, landmarks: Landmarks) -> PotentialHeuristic:
        """ALT: distances from landmarks, and minus those to them."""
        return cls(landmark_potentials(landmarks), landmarks.directed)

    @classmethod
    def closed(cls, potentials: ArrayLike, graph: Graph) -> PotentialHeuristic:
        r"""The largest potentials below the given ones that no arc of the graph is too short for.

        $\bar g(v) = \min_u g(u) + D(u, v)$: a shortest-path tree that may start anywhere, at a cost of $g(u)$.  So
        *any* numbers, learned in any way, become an admissible and consistent heuristic; where they were one
        already nothing changes.  For an undirected graph both signs hold at once, as D is symmetric.
        """
        from trimetric.graphs.paths.dijkstra_kernels import dijkstra_tree

        given = np.asarray(potentials, np.float64)
        if given.ndim != 2 or len(given) != graph.num_nodes:
            raise ValueError(
                f"potentials: expected a row for each of the {graph.num_nodes:,} nodes, got shape {given.shape}"
            )
        if not np.isfinite(given).all():
            raise ValueError("potentials: expected finite numbers, got others")
        arrays = graph.indptr, graph.indices, graph.weights
        columns = [dijkstra_tree(*arrays, np.ascontiguousarray(column)) for column in given.T]
        return cls(np.ascontiguousarray(np.stack(columns, axis=1)), graph.directed)

    bytes_a_node = OldAttribute("bytes_per_node")

    @property
    def bytes_per_node(self) -> int:
        return self.potentials.shape[1] * self.potentials.itemsize

    def __call__(self, sources: Nodes, targets: Nodes) -> NDArray[np.float64]:
        """The bounds of pairs."""
        difference = self.potentials[targets] - self.potentials[sources]
        return (np.maximum(difference, 0) if self.directed else np.abs(difference)).max(axis=1, initial=0.0)

    def certify(self, graph: Graph) -> Certificate:
        """Check every arc of the graph, for every potential."""
        if len(self.potentials) != graph.num_nodes:
            raise ValueError(
                f"graph: expected the {len(self.potentials):,} nodes of this heuristic, got {graph.num_nodes:,}"
            )
        steepest = np.zeros(graph.num_arcs)
        tails, heads = graph.tails, graph.indices
        for column in self.potentials.T:
            difference = column[heads] - column[tails]
            # An undirected graph has both arcs of an edge; a heuristic of both signs on a directed one must hold both.
            np.maximum(steepest, difference if self.directed else np.abs(difference), out=steepest)
        excess = steepest - graph.weights
        tolerance = ROUNDING * float(np.abs(self.potentials).max(initial=0.0))
        return Certificate(
            arcs=graph.num_arcs,
            steep=int((excess > tolerance).sum()),
            excess=max(0.0, float(excess.max(initial=0.0))),
            tolerance=tolerance,
        )
