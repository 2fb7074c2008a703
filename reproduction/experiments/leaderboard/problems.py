"""The problems of the leaderboard: random digraphs, a city, unreachable pairs, matrices to repair, norms of the plane.

Distances are scaled to mean 1.  A tenth of the ordered pairs of a graph is for testing and a hundredth for validation;
they are the same for every training share, and the training pairs of a larger share contain those of a smaller one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import torch
from scipy.sparse.csgraph import shortest_path
from torch import Tensor

from reproduction.data.plane_norms import dataset
from trimetric.training.pairs import Pairs

NODES = 300
NEARNESS_NODES = 200
CITY = (15, 20)
GAMMA = 0.5
"""the discount of a pair at the mean distance, for graphs with unreachable pairs"""
TEST_SHARE, VALIDATION_SHARE = 0.1, 0.01

Labeled = tuple[Pairs, Tensor]
Matrix = np.ndarray


@dataclass(frozen=True)
class Problem:
    """A family of distances, a different one for each seed."""

    name: str
    about: str
    trainings: tuple[int, ...]
    """amounts of training data, in `unit`"""
    unit: Literal["%", "vectors"]
    nodes: int | None
    """None if the points are vectors of the plane"""
    matrix: Callable[[np.random.Generator], Matrix] | None = None
    repairs: bool = False
    """whether it trains on all pairs, and the error is the distance of the metric that was found from the matrix"""
    gamma: float | None = None
    """base of the discount that is learned instead of a distance"""

    def column(self, training: int) -> str:
        """The name of the column with this much training data."""
        return f"{self.name} {training} {self.unit}"


@dataclass(frozen=True)
class Examples:
    """Pairs with distances (with discounts, if the problem has a gamma)."""

    train: Labeled
    validation: Labeled
    test: Labeled
    unit: float
    """the mean squared error on the test pairs is divided by this"""


def dense(generator: np.random.Generator) -> Matrix:
    """A fifth of all arcs, weights in U(0.05, 1): most of a distance is leaving the start and reaching the end."""
    return _closed(_with_cycle(_arcs(generator, np.full((NODES, NODES), 0.2)), generator))


def sparse(generator: np.random.Generator) -> Matrix:
    """About four arcs per node."""
    return _closed(_with_cycle(_arcs(generator, np.full((NODES, NODES), 3 / NODES)), generator))


def block(generator: np.random.Generator) -> Matrix:
    """Six communities: a fifth of the possible arcs inside, one in 500 between."""
    community = _communities(generator)
    inside = community[:, None] == community
    return _closed(_with_cycle(_arcs(generator, np.where(inside, 0.2, 0.002)), generator))


def city(generator: np.random.Generator) -> Matrix:
    """A grid whose streets are one-way, each in a random direction, within a two-way ring road.

    Every street ends at the ring, which is strongly connected; so the whole grid is, too.
    """
    rows, columns = CITY
    crossings = np.arange(NODES).reshape(rows, columns)
    weights = np.zeros((NODES, NODES))
    streets = [(line, i in (0, rows - 1)) for i, line in enumerate(crossings)]
    streets += [(line, i in (0, columns - 1)) for i, line in enumerate(crossings.T)]
    for street, is_ring in streets:
        line = street if generator.random() < 0.5 else street[::-1]
        weights[line[:-1], line[1:]] = generator.uniform(0.5, 1.5, size=len(line) - 1)
        if is_ring:
            weights[line[1:], line[:-1]] = generator.uniform(0.5, 1.5, size=len(line) - 1)
    return _closed(weights)


def unreachable(generator: np.random.Generator) -> Matrix:
    """Six communities in a row; arcs between them lead forward only, so that there is no way back."""
    community = _communities(generator)
    chance = np.where(community[:, None] == community, 0.08, 0.0)
    chance[community[:, None] + 1 == community] = 0.01
    chance[community[:, None] + 2 == community] = 0.004
    return _closed(_arcs(generator, chance))


def nearness_symmetric(generator: np.random.Generator) -> Matrix:
    """U(0, 5) plus its transpose, and U(0, 1) on each entry (the paper's, section 4.1)."""
    half = generator.uniform(0, 5, size=(NEARNESS_NODES, NEARNESS_NODES))
    return half + half.T + generator.uniform(0, 1, size=half.shape)


def nearness_asymmetric(generator: np.random.Generator) -> Matrix:
    """Shortest paths of a one-way torus, weights exp(U(-1, 1)), plus U(0, 4), modulo 10 (a reading of the paper's)."""
    rows, columns = 10, NEARNESS_NODES // 10
    places = np.arange(NEARNESS_NODES).reshape(rows, columns)
    weights = np.zeros((NEARNESS_NODES, NEARNESS_NODES))
    for axis in (0, 1):
        ahead = np.roll(places, -1, axis=axis)
        weights[places.ravel(), ahead.ravel()] = np.exp(generator.uniform(-1, 1, size=NEARNESS_NODES))
    return (_closed(weights) + generator.uniform(0, 4, size=weights.shape)) % 10


SHARES = (1, 3, 8, 24, 70)
PROBLEMS: dict[str, Problem] = {
    problem.name: problem
    for problem in (
        Problem("dense", "a random digraph of 60 arcs per node", SHARES, "%", NODES, dense),
        Problem("sparse", "a random digraph of 4 arcs per node", SHARES, "%", NODES, sparse),
        Problem("block", "six communities with few arcs between them", SHARES, "%", NODES, block),
        Problem("city", "a grid of one-way streets within a ring road", SHARES, "%", NODES, city),
        Problem("unreachable", "communities with no way back", SHARES, "%", NODES, unreachable, gamma=GAMMA),
        Problem("nearness sym", "a symmetric matrix", (100,), "%", NEARNESS_NODES, nearness_symmetric, repairs=True),
        Problem("nearness asym", "an asymmetric one", (100,), "%", NEARNESS_NODES, nearness_asymmetric, repairs=True),
        Problem("norm sym", "a symmetric norm of the plane", (16, 128), "vectors", None),
        Problem("norm asym", "an asymmetric norm of the plane", (16, 128), "vectors", None),
    )
}


def examples(name: str, training: int, seed: int) -> Examples:
    """Draw the pairs of a problem.

    Args:
        name: one of `PROBLEMS`.
        training: amount of training data, in the unit of the problem.
        seed: each is a different distance.
    """
    problem = PROBLEMS[name]
    if problem.nodes is None:
        return _of_the_plane(name.removeprefix("norm "), training, seed)
    matrix = distances(name, seed)
    pairs = (~torch.eye(problem.nodes, dtype=torch.bool)).nonzero()
    if problem.repairs:
        labeled = _labeled(matrix, pairs)
        return Examples(labeled, labeled, labeled, labeled[1].square().mean().item())
    pairs = pairs[torch.randperm(len(pairs), generator=torch.Generator().manual_seed(seed))]
    if problem.gamma is not None:
        matrix = problem.gamma**matrix
    sizes = [int(share * len(pairs)) for share in (TEST_SHARE, VALIDATION_SHARE, training / 100)]
    test, validation, train = (_labeled(matrix, part) for part in pairs[: sum(sizes)].split(sizes))
    return Examples(train, validation, test, test[1].var().item())


@cache
def distances(name: str, seed: int) -> Tensor:
    """The matrix of a problem and a seed; the reachable pairs have mean 1."""
    problem = PROBLEMS[name]
    if problem.matrix is None:
        raise ValueError(f"name: expected a problem with a matrix, got {name!r}")
    matrix = problem.matrix(np.random.default_rng([seed, list(PROBLEMS).index(name)]))
    np.fill_diagonal(matrix, 0)
    apart = ~np.eye(len(matrix), dtype=bool) & np.isfinite(matrix)
    return torch.from_numpy(matrix / matrix[apart].mean()).float()


def _of_the_plane(kind: str, size: int, seed: int) -> Examples:
    """Draw vectors; the test vectors have other directions, and lengths of half, once and twice the training length."""
    data = dataset(kind, size, seed)
    ends = [torch.cat([pairs[i] for pairs, _ in data.test.values()]) for i in (0, 1)]
    targets = torch.cat([targets for _, targets in data.test.values()])
    return Examples(data.train, data.validation, ((ends[0], ends[1]), targets), targets.var().item())


def _labeled(matrix: Tensor, pairs: Tensor) -> Labeled:
    return pairs, matrix[pairs[:, 0], pairs[:, 1]]


def _communities(generator: np.random.Generator) -> np.ndarray:
    return generator.permutation(np.arange(NODES) % 6)


def _arcs(generator: np.random.Generator, chance: Matrix) -> Matrix:
    """Draw each arc with its probability, and a weight in U(0.05, 1); 0 is no arc."""
    return np.where(generator.random(chance.shape) < chance, generator.uniform(0.05, 1, size=chance.shape), 0)


def _with_cycle(weights: Matrix, generator: np.random.Generator) -> Matrix:
    """Add missing arcs, of weight 1, of a cycle through all nodes, so that every pair is connected."""
    tour = generator.permutation(len(weights))
    ahead = np.roll(tour, -1)
    weights[tour, ahead] = np.where(weights[tour, ahead] > 0, weights[tour, ahead], 1)
    return weights


def _closed(weights: Matrix) -> Matrix:
    """The lengths of the shortest paths; inf where there is none."""
    np.fill_diagonal(weights, 0)
    return shortest_path(weights)
