"""Random norms of the plane, and vectors of known norm (section 2.5 and appendix C)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from scipy.stats import truncnorm
from torch import Tensor

import trimetric as tm

KINDS = ("sym", "asym", "square", "diamond")
SIZES = (16, 128)
"""vectors to train on"""
VALUES = ("1", "2", "0.5")
"""norm values for testing, in the order of the paper's tables"""
TEST_VECTORS = 500

Labeled = tuple[tuple[Tensor, Tensor], Tensor]
"""pairs (the origin, x), and the norms of x"""


@dataclass(frozen=True)
class Dataset:
    """Vectors in random directions; the three sets share none."""

    train: Labeled
    validation: Labeled
    """as many as for training, drawn in the same way"""
    test: dict[str, Labeled]
    """by norm value"""


@cache
def ball(kind: str, seed: int) -> tm.PolyhedralNorm:
    """Build a norm.

    Args:
        kind: one of `KINDS`.
        seed: of the random kinds, each seed is a different norm.
    """
    if kind == "square":
        return tm.PolyhedralNorm([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, 1, 1])
    if kind == "diamond":
        return tm.PolyhedralNorm([[1, 1], [-1, 1], [1, -1], [-1, -1]], [1, 1, 1, 1])
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    while True:
        points = _clusters(generator)
        if kind == "sym":
            points = points[points[:, 0] > 0]
            points = np.concatenate([points, -points])
        points = points - points.mean(axis=0)
        try:
            return tm.PolyhedralNorm.from_points(points)
        except ValueError:  # the origin lies outside the hull, which is rare: draw again
            continue


def _clusters(generator: np.random.Generator) -> np.ndarray:
    clusters = []
    for _ in range(generator.integers(3, 11)):
        center, spread = generator.uniform(-0.5, 0.5, size=2), generator.uniform(0.2, 0.6)
        count = generator.integers(5, 51)
        clusters.append(center + spread * truncnorm.rvs(-2, 2, size=(count, 2), random_state=generator))
    return np.concatenate(clusters)


def dataset(kind: str, size: int, seed: int) -> Dataset:
    """Draw vectors with norms in U(0.85, 1.15) for training and validation, and 500 directions for testing.

    Args:
        kind: one of `KINDS`.
        size: vectors for training.
        seed: of the norm and of the vectors.
    """
    generator = np.random.default_rng([seed, KINDS.index(kind), size])
    angles = generator.uniform(0, 2 * np.pi, size=2 * size + TEST_VECTORS)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    norm = ball(kind, seed).double()
    with torch.no_grad():
        unit = torch.from_numpy(directions) / norm(torch.from_numpy(directions)).unsqueeze(1)
    values = torch.from_numpy(generator.uniform(0.85, 1.15, size=2 * size))
    train, validation, test = unit.split([size, size, TEST_VECTORS])
    return Dataset(
        train=_labeled(train, values[:size]),
        validation=_labeled(validation, values[size:]),
        test={value: _labeled(test, torch.full((TEST_VECTORS,), float(value))) for value in VALUES},
    )


def _labeled(unit: Tensor, values: Tensor) -> Labeled:
    vectors = (unit * values.unsqueeze(1)).float()
    return (torch.zeros_like(vectors), vectors), values.float()


def unit_vectors(count: int) -> Tensor:
    """`count` vectors of Euclidean length 1, evenly spaced around the circle, (count, 2)."""
    angles = torch.arange(count) * (2 * torch.pi / count)
    return torch.stack([angles.cos(), angles.sin()], dim=1)
