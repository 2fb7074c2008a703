"""Exact shortest-path lengths, by the engine that suits the graph."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support import checks
from trimetric._support.optional import installed
from trimetric._support.progress import Shown, WorkProgress
from trimetric.graphs.files.cache import ArrayCache, content_key
from trimetric.graphs.graph import Graph, Nodes, node_numbers
from trimetric.graphs.paths.engines import Engine, EngineName, count_work, is_road_like, make_engine
from trimetric.graphs.paths.parallel import in_parallel
from trimetric.graphs.paths.trees import distances_from, distances_to

CHUNK = 1000  # pairs per call: seconds of work at most, and one file of the cache
TRIED = 16  # pairs to choose an engine by
FEW = 500  # for up to this many pairs, landmarks do not pay off

Distances = NDArray[np.float64]


class ShortestPaths:
    """Exact distances of a graph: of pairs, from one node to many, and from and to some nodes.

    With engine="auto", road networks (`is_road_like`) get a contraction hierarchy.  For other graphs, bidirectional
    Dijkstra with and without the guidance of landmarks is tried on a few pairs, and the one with less work is used
    (counted in nodes, so that every run makes the same choice).  Without numba and RoutingKit, SciPy is used.  All
    engines are exact, up to the rounding of sums.

    Args:
        graph: the graph; the distance of a pair that no path joins is infinite.
        engine: "hierarchy", "landmarks", "bidirectional", "scipy" or "auto".
        jobs: how many calls at a time, by default one per core; see `trimetric.graphs.paths.parallel` for clusters.
        cache: a folder to keep distances in, by a hash of the graph and the pairs; an interrupted run resumes from it.
        progress: "auto" shows a progress bar, "silent" shows nothing.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> paths = ShortestPaths(graph, engine="scipy", progress="silent")
        >>> paths.pairs([0, 2], [2, 1])
        array([3., 8.])
        >>> paths.one_to_many(0)
        array([0., 1., 3., 6.])
    """

    def __init__(
        self,
        graph: Graph,
        *,
        engine: EngineName | Literal["auto"] = "auto",
        jobs: int | None = None,
        cache: Path | str | None = None,
        progress: Shown = "auto",
    ) -> None:
        checks.one_of("engine", engine, ("auto", "hierarchy", "landmarks", "bidirectional", "scipy"))
        checks.one_of("progress", progress, ("auto", "silent"))
        self.graph, self.jobs = graph, jobs
        self.progress: Shown = progress
        self.wanted: EngineName | Literal["auto"] = engine
        self.cache = None if cache is None else ArrayCache(cache)
        self.work: dict[str, float] = {}
        """The cost of a pair for each engine that was tried, in nodes of an unguided search."""
        self._engines: dict[EngineName, Engine] = {}

    def pairs(self, sources: ArrayLike, targets: ArrayLike) -> Distances:
        """Compute the distance of each pair.

        Args:
            sources: `(pairs,)` nodes where the paths start.
            targets: `(pairs,)` nodes where the paths end.
        """
        starts, ends = node_numbers("sources", sources, self.graph), node_numbers("targets", targets, self.graph)
        if starts.shape != ends.shape or starts.ndim != 1:
            raise ValueError(f"targets: expected as many as sources, got shapes {ends.shape} and {starts.shape}")
        found = np.empty(len(starts))
        parts = [slice(first, first + CHUNK) for first in range(0, len(starts), CHUNK)]
        with WorkProgress("shortest paths", len(starts), self.progress) as shown:
            missing = []
            for part in parts:
                known = self._known(starts[part], ends[part])
                if known is None:
                    missing.append(part)
                else:
                    found[part] = known
                    shown.advance(len(found[part]), known=True)
            if not missing:
                return found
            engine = self.engine(len(starts))  # not for those missing: a run that resumes must use the same engine
            calls = [(*engine.arrays, starts[part], ends[part]) for part in missing]
            results = in_parallel(engine.function, calls, jobs=self.jobs if engine.portable else 1)
            for part, result in zip(missing, results, strict=True):
                found[part] = result
                if self.cache is not None:
                    self.cache.write(self._key(starts[part], ends[part]), {"distances": found[part]})
                shown.advance(len(result))
        return found

    def _known(self, starts: Nodes, ends: Nodes) -> Distances | None:
        """Look pairs up in the cache; None unless it has a distance for each of them."""
        kept = None if self.cache is None else self.cache.read(self._key(starts, ends))
        distances = None if kept is None else kept.get("distances")
        if distances is None or distances.shape != starts.shape or distances.dtype != np.float64:
            return None
        return distances if bool((distances >= 0).all()) else None  # type: ignore[operator]

    def one_to_many(self, source: int, targets: ArrayLike | None = None, *, reverse: bool = False) -> Distances:
        """Compute the distances from one node to many.

        Args:
            source: the node where the paths start.
            targets: the nodes where they end; by default all nodes.
            reverse: whether to compute the distances from `targets` to `source` instead.
        """
        tree = next((distances_to if reverse else distances_from)(self.graph, [source], jobs=1))
        return tree if targets is None else tree[node_numbers("targets", targets, self.graph)]

    def from_nodes(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """Compute the distances from each of some nodes to all nodes.

        Args:
            nodes: where the paths start.

        Returns:
            `(nodes, n)` distances.
        """
        return np.array(list(distances_from(self.graph, nodes, jobs=self.jobs)))

    def to_nodes(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """Compute the distances from all nodes to each of some nodes.

        Args:
            nodes: where the paths end.

        Returns:
            `(nodes, n)` distances.
        """
        return np.array(list(distances_to(self.graph, nodes, jobs=self.jobs)))

    def engine(self, count: int) -> Engine:
        """Prepare the engine that suits the graph and the number of pairs.

        Args:
            count: number of pairs.
        """
        if self.wanted != "auto":
            return self._engine(self.wanted)
        if is_road_like(self.graph) and installed("routingkit_cch") and count > FEW:
            try:
                return self._engine("hierarchy")
            except ValueError:  # the weights have too many digits
                pass
        if not installed("numba"):
            return self._engine("scipy")
        if count <= FEW:
            return self._engine("bidirectional")
        if not self.work:
            tried = np.random.default_rng(0).integers(self.graph.num_nodes, size=(2, TRIED))
            self.work = {name: count_work(self._engine(name), *tried) for name in ("bidirectional", "landmarks")}
        return self._engine(min(("bidirectional", "landmarks"), key=lambda name: self.work[name]))

    def _engine(self, name: EngineName) -> Engine:
        if name not in self._engines:
            self._engines[name] = make_engine(name, self.graph)
        return self._engines[name]

    def _key(self, sources: Nodes, targets: Nodes) -> str:
        return content_key("pairs", self.graph.digest, sources, targets)
