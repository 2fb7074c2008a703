"""Exact shortest-path lengths, by the engine that suits the graph."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support import checks
from trimetric._support.optional import installed
from trimetric._support.progress import Shown, WorkProgress
from trimetric.graphs.checked_arcs import list_of_nodes
from trimetric.graphs.files.cache import ArrayCache, content_key
from trimetric.graphs.graph import Graph, Nodes, node_numbers
from trimetric.graphs.paths.engines import Engine, EngineName, count_work, is_road_like, make_engine
from trimetric.graphs.paths.hierarchy import Hierarchy
from trimetric.graphs.paths.matrices import Matrix, fill_by_hierarchy, fill_by_pairs, fill_by_trees, matrix_to_fill
from trimetric.graphs.paths.parallel import check_jobs, in_parallel

CHUNK = 1000  # pairs per call: seconds of work at most, and one file of the cache
TRIED = 16  # pairs to choose an engine by
FEW = 500  # for up to this many pairs, landmarks do not pay off
TREES_OF_A_HIERARCHY = 64  # take as long as to prepare a hierarchy: 7 s on a map of 270,000 nodes

Distances = NDArray[np.float64]


class ShortestPaths:
    """Exact distances of a graph: of pairs, from one node to many, and from many nodes to many.

    With engine="auto", a contraction hierarchy is used for road networks (`is_road_like`).  For other graphs,
    bidirectional Dijkstra with and without the guidance of landmarks is tried on a few pairs, and the variant with less
    work is used (counted in nodes, so that every run makes the same choice).  Without numba and RoutingKit, SciPy is
    used.  All engines are exact, up to the rounding of sums.

    Args:
        graph: the graph; the distance of a pair that no path joins is infinite.
        engine: "hierarchy", "landmarks", "bidirectional", "scipy" or "auto".
        jobs: how many calls at a time, by default one per core; see `trimetric.graphs.paths.parallel` for clusters.
        cache: a folder in which distances are stored under a hash of the graph and the pairs; an interrupted run
            resumes from it.
        progress: "auto" shows a progress bar, "silent" shows nothing.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> paths = ShortestPaths(graph, engine="scipy", progress="silent")
        >>> paths.pairs([0, 2], [2, 1])
        array([3., 8.])
        >>> paths.one_to_many(0)
        array([0., 1., 3., 6.])
        >>> paths.many_to_many([0, 1], [2, 3])
        array([[3., 6.],
               [2., 5.]])
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
        checks.instance("graph", graph, Graph)
        check_jobs(jobs)
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

        Returns:
            A distance for each target; infinite where there is no path.
        """
        count = self.graph.num_nodes
        ends = self._every_node() if targets is None else list_of_nodes("targets", targets, count)
        start = node_numbers("source", [source], self.graph)
        if start.shape != (1,):
            raise TypeError(f"source: expected one node, got shape {start.shape[1:]}")
        return self._matrix(ends, start)[:, 0] if reverse else self._matrix(start, ends)[0]

    def many_to_many(self, sources: ArrayLike, targets: ArrayLike, *, out: Matrix | None = None) -> Matrix:
        """Compute the distances from every source to every target.

        For road networks, a contraction hierarchy is used if it costs less than a shortest-path tree for each node of
        the shorter list; it is then swept once for each of these nodes.  For other graphs, these trees are used, or a
        search for each pair if that is less work.  The matrix is computed block by block, so that only `out` must hold
        the whole matrix.

        Args:
            sources: `(s,)` nodes where the paths start; they may repeat.
            targets: `(t,)` nodes where they end; they may repeat.
            out: an `(s, t)` array to fill, such as a `numpy.memmap` larger than memory; of float64, or of float32,
                which rounds the distances.

        Returns:
            `(s, t)` distances from row to column, infinite where there is no path: `out`, or a new float64 array.

        Examples:
            >>> graph = Graph.from_arcs(3, [0, 1], [1, 2], [1.0, 2.0], directed=True)
            >>> ShortestPaths(graph, progress="silent").many_to_many([0, 2], [0, 1, 2])
            array([[ 0.,  1.,  3.],
                   [inf, inf,  0.]])
        """
        count = self.graph.num_nodes
        starts, ends = list_of_nodes("sources", sources, count), list_of_nodes("targets", targets, count)
        return self._matrix(starts, ends, out)

    def _matrix(self, starts: Nodes, ends: Nodes, out: Matrix | None = None) -> Matrix:
        matrix = matrix_to_fill(out, len(starts), len(ends))
        if not matrix.size:
            return matrix
        hierarchy = self._hierarchy(*matrix.shape)
        engine = self._engine_for_few(*matrix.shape) if hierarchy is None else None
        with WorkProgress("distances", matrix.size, self.progress) as shown:
            if hierarchy is not None:
                fill_by_hierarchy(hierarchy, starts, ends, matrix, jobs=self.jobs, shown=shown)
            elif engine is not None:
                fill_by_pairs(engine, starts, ends, matrix, jobs=self.jobs, shown=shown)
            else:
                fill_by_trees(self.graph, starts, ends, matrix, jobs=self.jobs, shown=shown)
        return matrix

    def _hierarchy(self, rows: int, columns: int) -> Hierarchy | None:
        """The hierarchy, where it is wanted, or costs less than a tree for each row or column."""
        if self.wanted != "hierarchy":
            trees, many = min(rows, columns), max(rows, columns)
            known = "hierarchy" in self._engines and (trees > 2 or 4 * many < self.graph.num_nodes)
            wanted = self.wanted == "auto" and trees > TREES_OF_A_HIERARCHY
            if not known and not (wanted and self._has_hierarchy):
                return None
        return self._engine("hierarchy").arrays[0]

    def _engine_for_few(self, rows: int, columns: int) -> Engine | None:
        """The engine for pairs, where a search for each pair is less work than trees; None if it is not."""
        if self.wanted == "scipy" or not installed("numba"):
            return None
        if rows == columns == 1:
            return self._engine("bidirectional" if self.wanted == "auto" else self.wanted)
        if min(rows, columns) < TRIED and not self.work:  # to find out is as much work as the trees
            return None
        engine = self._engine_of_least_work()
        return engine if self.work[engine.name] * max(rows, columns) < self.graph.num_nodes else None

    def _every_node(self) -> Nodes:
        return np.arange(self.graph.num_nodes)

    def from_nodes(self, nodes: ArrayLike) -> Distances:
        """Compute the distances from each of some nodes to all nodes.

        Args:
            nodes: where the paths start.

        Returns:
            `(nodes, n)` distances.
        """
        return self._matrix(list_of_nodes("nodes", nodes, self.graph.num_nodes), self._every_node())

    def to_nodes(self, nodes: ArrayLike) -> Distances:
        """Compute the distances from all nodes to each of some nodes.

        Args:
            nodes: where the paths end.

        Returns:
            `(nodes, n)` distances.
        """
        ends = list_of_nodes("nodes", nodes, self.graph.num_nodes)
        found = np.empty((len(ends), self.graph.num_nodes))
        self._matrix(self._every_node(), ends, found.T)
        return found

    def engine(self, count: int) -> Engine:
        """Prepare the engine that suits the graph and the number of pairs.

        Args:
            count: number of pairs.
        """
        if self.wanted != "auto":
            return self._engine(self.wanted)
        if count > FEW and self._has_hierarchy:
            return self._engine("hierarchy")
        if not installed("numba"):
            return self._engine("scipy")
        return self._engine("bidirectional") if count <= FEW else self._engine_of_least_work()

    def _engine_of_least_work(self) -> Engine:
        names: list[EngineName] = ["bidirectional", "landmarks"] if self.wanted == "auto" else [self.wanted]
        if not self.work:
            tried = np.random.default_rng(0).integers(self.graph.num_nodes, size=(2, TRIED))
            self.work = {name: count_work(self._engine(name), *tried) for name in names}
        return self._engine(min(names, key=lambda name: self.work[name]))

    @cached_property
    def _has_hierarchy(self) -> bool:
        """Whether the graph is one for a hierarchy, which is then made."""
        if not (is_road_like(self.graph) and installed("routingkit_cch")):
            return False
        try:
            self._engine("hierarchy")
        except ValueError:  # the weights have too many digits
            return False
        return True

    def _engine(self, name: EngineName) -> Engine:
        if name not in self._engines:
            self._engines[name] = make_engine(name, self.graph)
        return self._engines[name]

    def _key(self, sources: Nodes, targets: Nodes) -> str:
        return content_key("pairs", self.graph.digest, sources, targets)
