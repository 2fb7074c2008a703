"""Random pairs of nodes with their distances: what a model of a graph learns from."""

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

    Of a graph whose distances are symmetric no pair is there in both directions.

    Attributes:
        ends: `(pairs, 2)`, from and to.
        lengths: of the shortest paths, as the graph measures them.
        test: so many at the front are for testing.
        validation: so many after them are for choosing; the rest is for training.
    """

    ends: Nodes
    lengths: NDArray[np.float64]
    test: int
    validation: int

    @cached_property
    def scale(self) -> float:
        """The factor that makes the mean of all lengths 50."""
        return MEAN / float(self.lengths.mean())

    @property
    def distances(self) -> NDArray[np.float64]:
        """The lengths at mean 50."""
        return self.lengths * self.scale

    @property
    def sigma(self) -> float:
        """The standard deviation at mean 50."""
        return float(self.distances.std())

    @property
    def largest(self) -> float:
        """The largest distance at mean 50."""
        return float(self.distances.max())

    @property
    def test_rows(self) -> slice:
        return slice(0, self.test)

    @property
    def validation_rows(self) -> slice:
        return slice(self.test, self.test + self.validation)

    def training_rows(self, count: int | None = None) -> slice:
        """The first `count` pairs for training; smaller sets are parts of larger ones."""
        first = self.test + self.validation
        left = len(self.ends) - first
        if count is not None and not 1 <= count <= left:
            raise ValueError(f"count: expected 1 to {left:,} pairs for training, got {count:,}")
        return slice(first, first + (left if count is None else count))


def random_pairs(num_nodes: int, count: int, *, seed: int, unordered: bool = False) -> Nodes:
    """Draw pairs of different nodes uniformly at random, none of them twice.

    Args:
        num_nodes: of the graph.
        count: of the pairs.
        seed: of the pairs.
        unordered: whether a pair and its reverse count as the same, of which only the one drawn first is kept.

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
    """The ordered pairs of different nodes with these numbers."""
    source, other = np.divmod(codes, num_nodes - 1)
    return np.stack([source, other + (other >= source)], axis=1)


def _fresh(ends: Nodes, unordered: bool) -> Nodes:
    """Each pair once, in the order of their first appearance: sorted ones would begin with small numbers."""
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
    """Random pairs with their distances, as in the paper: 150,000, of which 10,000 for testing.

    Where the way back is as long as the way there, no pair is drawn in both directions: the reverse of a pair for
    testing would tell its distance.

    Args:
        graph: strongly connected.
        count: of pairs in all.
        test: for testing.
        validation: for choosing among models; the paper has none, ours come out of those that are not for testing.
        seed: of the pairs.
        paths: how to compute; by default with all cores and without a cache.
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
