"""Exact lengths of shortest paths, by the engine that suits the graph."""

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
from trimetric.graphs.paths.engines import Engine, EngineName, is_road_like, make_engine, work
from trimetric.graphs.paths.parallel import in_parallel
from trimetric.graphs.paths.trees import distances_from, distances_to

CHUNK = 1000  # pairs a call: seconds of work at most, and one file of the cache
TRIED = 16  # pairs, to choose an engine by
FEW = 500  # pairs that are not worth landmarks

Distances = NDArray[np.float64]


class ShortestPaths:
    """Distances of a graph: of pairs, from one node to many, and from and to some nodes.

    With engine="auto" road networks (`is_road_like`) get a contraction hierarchy; for other graphs bidirectional
    Dijkstra and the same guided by landmarks are both tried on a few pairs, and the one with less work is taken (by the
    number of nodes, so that every run takes the same).  Without numba and RoutingKit there is SciPy.  All of them are
    exact, up to the rounding of sums.

    >>> from trimetric.graphs import ShortestPaths, torus3d
    >>> paths = ShortestPaths(torus3d(seed=0, side=5), progress="silent")
    >>> bool(paths.pairs([0, 1], [7, 8])[0] == paths.one_to_many(0, [7])[0])
    True

    Args:
        graph: the graph; the distance of a pair that no path joins is infinite.
        engine: "hierarchy", "landmarks", "bidirectional", "scipy" or "auto".
        jobs: how many at a time, by default one for each core; see `trimetric.graphs.paths.parallel` for clusters.
        cache: a folder to keep distances in by a hash of the graph and the pairs; a run that was stopped goes on there.
        progress: "silent" shows nothing.
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
        """What a pair costs each engine that was tried, in nodes of an unguided search."""
        self._engines: dict[EngineName, Engine] = {}

    def pairs(self, sources: ArrayLike, targets: ArrayLike) -> Distances:
        """The distance from each source to the target at its place."""
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
            engine = self.engine(len(starts))  # not of what is missing: a run that resumes must take the same one
            calls = [(*engine.arrays, starts[part], ends[part]) for part in missing]
            results = in_parallel(engine.function, calls, jobs=self.jobs if engine.portable else 1)
            for part, result in zip(missing, results, strict=True):
                found[part] = result
                if self.cache is not None:
                    self.cache.write(self._key(starts[part], ends[part]), {"distances": found[part]})
                shown.advance(len(result))
        return found

    def _known(self, starts: Nodes, ends: Nodes) -> Distances | None:
        """What the cache has; None where it has nothing, or something else than a distance for each pair."""
        kept = None if self.cache is None else self.cache.read(self._key(starts, ends))
        distances = None if kept is None else kept.get("distances")
        if distances is None or distances.shape != starts.shape or distances.dtype != np.float64:
            return None
        return distances if bool((distances >= 0).all()) else None  # type: ignore[operator]

    def one_to_many(self, source: int, targets: ArrayLike | None = None, *, reverse: bool = False) -> Distances:
        """From a node to each of the targets (to all unless given); with `reverse` from each of them to the node."""
        tree = next((distances_to if reverse else distances_from)(self.graph, [source], jobs=1))
        return tree if targets is None else tree[node_numbers("targets", targets, self.graph)]

    def from_nodes(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """`(nodes, n)`: from each of some nodes to all."""
        return np.array(list(distances_from(self.graph, nodes, jobs=self.jobs)))

    def to_nodes(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """`(nodes, n)`: to each of some nodes from all."""
        return np.array(list(distances_to(self.graph, nodes, jobs=self.jobs)))

    def engine(self, count: int) -> Engine:
        """The engine for so many pairs, prepared."""
        if self.wanted != "auto":
            return self._engine(self.wanted)
        if is_road_like(self.graph) and installed("routingkit_cch") and count > FEW:
            try:
                return self._engine("hierarchy")
            except ValueError:  # weights of many digits
                pass
        if not installed("numba"):
            return self._engine("scipy")
        if count <= FEW:
            return self._engine("bidirectional")
        if not self.work:
            tried = np.random.default_rng(0).integers(self.graph.num_nodes, size=(2, TRIED))
            self.work = {name: work(self._engine(name), *tried) for name in ("bidirectional", "landmarks")}
        return self._engine(min(("bidirectional", "landmarks"), key=lambda name: self.work[name]))

    def _engine(self, name: EngineName) -> Engine:
        if name not in self._engines:
            self._engines[name] = make_engine(name, self.graph)
        return self._engines[name]

    def _key(self, sources: Nodes, targets: Nodes) -> str:
        return content_key("pairs", self.graph.digest, sources, targets)
