"""Random pairs of nodes with their distances, from which a model of a graph learns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric._support.pair_splits import unordered_keys
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.paths.shortest_paths import ShortestPaths

PAIRS = 150_000
MEAN = 50.0


@dataclass(frozen=True, eq=False, kw_only=True)
class PairSample:
    """Pairs of different nodes in random order, none of them twice, with exact distances.

    If distances are symmetric, no pair occurs in both directions.

    Attributes:
        ends: `(pairs, 2)` nodes, from and to.
        lengths: `(pairs,)` shortest-path lengths, in the units of the graph.
        test: number of pairs for testing, which come first.
        validation: number of pairs for validation, which come next; the rest is for training.

    Examples:
        >>> ends, lengths = np.array([[0, 1], [1, 2], [2, 0]]), np.array([1.0, 2.0, 3.0])
        >>> sample = PairSample(ends=ends, lengths=lengths, test=1, validation=1)
        >>> sample.distances  # scaled to mean 50
        array([25., 50., 75.])
        >>> sample.ends[sample.training_rows()]
        array([[2, 0]])
    """

    ends: Nodes
    lengths: NDArray[np.float64]
    test: int
    validation: int

    @cached_property
    def scale(self) -> float:
        """The factor that scales the lengths to mean 50."""
        return MEAN / float(self.lengths.mean())

    @property
    def distances(self) -> NDArray[np.float64]:
        """The lengths, scaled to mean 50."""
        return self.lengths * self.scale

    @property
    def sigma(self) -> float:
        """The standard deviation of the scaled distances."""
        return float(self.distances.std())

    @property
    def largest(self) -> float:
        """The largest scaled distance."""
        return float(self.distances.max())

    @property
    def test_rows(self) -> slice:
        """The rows for testing."""
        return slice(0, self.test)

    @property
    def validation_rows(self) -> slice:
        """The rows for validation."""
        return slice(self.test, self.test + self.validation)

    def training_rows(self, count: int | None = None) -> slice:
        """The rows for training.

        Args:
            count: only the first `count` of them; smaller sets are subsets of larger ones.
        """
        first = self.test + self.validation
        left = len(self.ends) - first
        if count is not None and not 1 <= count <= left:
            raise ValueError(f"count: expected 1 to {left:,} pairs for training, got {count:,}")
        return slice(first, first + (left if count is None else count))


def random_pairs(num_nodes: int, count: int, *, seed: int, unordered: bool = False) -> Nodes:
    """Draw pairs of different nodes uniformly at random, none of them twice.

    Args:
        num_nodes: number of nodes of the graph.
        count: number of pairs.
        seed: for the pairs.
        unordered: whether a pair and its reverse are the same pair; the one drawn first is kept.

    Returns:
        `(count, 2)` nodes, from and to.

    Examples:
        >>> random_pairs(3, 3, seed=0, unordered=True).tolist()
        [[1, 2], [1, 0], [2, 0]]
    """
    checks.positive_int("count", count)
    possible = num_nodes * (num_nodes - 1)
    most = possible // 2 if unordered else possible
    if count > most:
        kind = "unordered pairs" if unordered else "pairs"
        raise ValueError(f"count: expected at most the {most:,} {kind} of {num_nodes:,} nodes, got {count:,}")
    random = np.random.default_rng(seed)
    if 4 * count >= possible:
        drawn = _fresh(_ends(random.permutation(possible), num_nodes), unordered)
    else:
        drawn = np.empty((0, 2), np.int64)
        while len(drawn) < count:
            more = _ends(random.integers(possible, size=count), num_nodes)
            drawn = _fresh(np.concatenate([drawn, more]), unordered)
    return drawn[:count]


def _ends(codes: NDArray[np.int64], num_nodes: int) -> Nodes:
    """Decode numbers of ordered pairs of different nodes."""
    source, other = np.divmod(codes, num_nodes - 1)
    return np.stack([source, other + (other >= source)], axis=1)


def _fresh(ends: Nodes, unordered: bool) -> Nodes:
    """Keep each pair once, in order of first appearance: sorted pairs would begin with small node numbers."""
    keys = unordered_keys(ends) if unordered else ends[:, 0] * (ends.max() + 1) + ends[:, 1]
    return ends[np.sort(np.unique(keys, return_index=True)[1])]


def sample_pairs(
    graph: Graph,
    count: int = PAIRS,
    *,
    test: int = 10_000,
    validation: int = 10_000,
    seed: int = 0,
    paths: ShortestPaths | None = None,
) -> PairSample:
    """Draw random pairs and compute their distances, as in the paper: 150,000, of which 10,000 are for testing.

    If distances are symmetric, no pair is drawn in both directions, because the reverse of a test pair would reveal its
    distance.

    Args:
        graph: a strongly connected graph.
        count: number of pairs in total.
        test: number of pairs for testing.
        validation: number of pairs for validation.  The paper has none; ours are taken from the pairs that are not for
            testing.
        seed: for the pairs.
        paths: how to compute the distances; by default with all cores and without a cache.

    Examples:
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> paths = ShortestPaths(graph, engine="scipy", progress="silent")
        >>> sample_pairs(graph, 12, test=2, validation=2, paths=paths).lengths.mean()
        np.float64(5.0)
    """
    if test < 0 or validation < 0 or test + validation >= count:
        raise ValueError(f"count: expected more than the {test + validation:,} held out, got {count:,}")
    ends = random_pairs(graph.num_nodes, count, seed=seed, unordered=graph.symmetric)
    lengths = (paths or ShortestPaths(graph)).pairs(ends[:, 0], ends[:, 1])
    endless = np.isinf(lengths)
    if endless.any():
        raise ValueError(
            f"graph: expected every node to reach every other one, got no path for {int(endless.sum()):,} of "
            f"{count:,} pairs; graph.connected(largest=True) takes the largest part"
        )
    return PairSample(ends=ends, lengths=lengths, test=test, validation=validation)
