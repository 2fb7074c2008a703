"""Comparison of a model of a graph with the bounds of landmarks, on pairs that neither has seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trimetric._support.renamed import OldAttribute
from trimetric.distances import Distance
from trimetric.graphs.graph import Nodes
from trimetric.graphs.learning.accuracy import Accuracy
from trimetric.graphs.learning.bounds import AffineBounds, landmark_bounds
from trimetric.graphs.paths.landmarks import Landmarks
from trimetric.graphs.paths.pair_sampling import PairSample

FLOAT32 = 4
MODEL = "model"
"""The name of the candidate that was trained."""


@dataclass(frozen=True)
class Candidate:
    """A way to predict distances.

    Attributes:
        name: what it is.
        accuracy: its accuracy on the test pairs.
        microseconds: time per query, with many at a time.
        bytes_per_node: memory that it needs for each node.
    """

    name: str
    accuracy: Accuracy
    microseconds: float
    bytes_per_node: int

    bytes_a_node = OldAttribute("bytes_per_node")


def compare(distance: Distance, points: Tensor, landmarks: Landmarks, sample: PairSample) -> list[Candidate]:
    """Compare a model with the bounds of landmarks, on the sample's test pairs.

    The affine fit of the bounds is fitted to the training pairs.

    Args:
        distance: the trained distance, which predicts lengths in the units of the graph.
        points: `(n, dim)` points of the nodes.
        landmarks: their distances.
        sample: pairs with distances.

    Returns:
        The model, the lower bound, the upper bound and the affine fit of both.

    Examples:
        >>> import trimetric as tm
        >>> from trimetric.graphs import Graph, landmarks_at
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> ends, lengths = np.array([[0, 1], [1, 2], [2, 0]]), np.array([1.0, 2.0, 7.0])
        >>> sample = PairSample(ends=ends, lengths=lengths, test=1, validation=1)
        >>> candidates = compare(tm.NormInduced(tm.Euclidean(3)), torch.randn(4, 3), landmarks_at(graph, [0]), sample)
        >>> [row.name for row in candidates]
        ['model', 'landmarks from below', 'landmarks from above', 'affine fit of both']
    """
    ends, lengths = sample.ends[sample.test_rows], sample.lengths[sample.test_rows]
    train = sample.training_rows()
    fitted = AffineBounds.fit(landmarks, sample.ends[train], sample.lengths[train])
    size = landmarks.numbers_per_node * FLOAT32
    ways: list[tuple[str, int, Callable[[], NDArray[np.float64]]]] = [
        (MODEL, points.shape[1] * points.element_size(), lambda: predicted(distance, points, ends)),
        ("landmarks from below", size, lambda: landmark_bounds(landmarks, ends)[0]),
        ("landmarks from above", size, lambda: landmark_bounds(landmarks, ends)[1]),
        ("affine fit of both", size, lambda: fitted.predict(landmarks, ends)),
    ]
    found = []
    for name, bytes_per_node, way in ways:
        way()
        start = time.perf_counter()
        values = way()
        microseconds = (time.perf_counter() - start) / len(ends) * 1e6
        found.append(Candidate(name, Accuracy.of(values, lengths, scale=sample.scale), microseconds, bytes_per_node))
    return found


@torch.no_grad()
def predicted(distance: Distance, points: Tensor, ends: Nodes) -> NDArray[np.float64]:
    """What a distance between points says for pairs of their rows."""
    start, end = torch.from_numpy(ends).to(points.device).unbind(1)
    return distance.between_rows(points, start, end).double().cpu().numpy()


def format_comparison(candidates: Sequence[Candidate]) -> str:
    """Format the rows of `compare` as a table.

    Args:
        candidates: the rows.
    """
    header = (
        f"{'':<21} {'MSE at mean 50':>14}  {'relative error':>14}  {'too far':>8}  {'us per query':>12}  bytes per node"
    )
    rows = [
        f"{row.name:<21} {row.accuracy.mse:>14.4g}  {row.accuracy.mean_relative_error:>14.2%}  "
        f"{row.accuracy.over_estimated:>8.1%}  {row.microseconds:>12.2f}  {row.bytes_per_node:>14,}"
        for row in candidates
    ]
    return "\n".join([header, *rows])
