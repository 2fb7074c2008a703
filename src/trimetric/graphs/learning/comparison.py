"""Comparison of a model of a graph with the bounds of landmarks, on pairs that neither has seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trimetric._support.memory import resident_memory
from trimetric._support.renamed import OldAttribute
from trimetric.distances import Distance
from trimetric.graphs.graph import Nodes
from trimetric.graphs.learning.accuracy import Accuracy
from trimetric.graphs.learning.bounds import AffineBounds, landmark_bounds
from trimetric.graphs.paths.engines import make_engine
from trimetric.graphs.paths.landmarks import Landmarks
from trimetric.graphs.paths.pair_sampling import PairSample
from trimetric.graphs.paths.shortest_paths import ShortestPaths

FLOAT32 = 4
MODEL = "model"
"""The name of the candidate that was trained."""
EXACT = "exact engine"
"""The name of the candidate that makes no errors."""
TIMED = 2000  # queries of the exact engine


@dataclass(frozen=True)
class Candidate:
    """A way to predict distances.

    Attributes:
        name: what it is.
        accuracy: its accuracy on the test pairs.
        microseconds: time per query, for large batches.
        bytes_per_node: memory that it needs for each node.
        preparation: seconds until it can answer the first query; None if that was not measured.
    """

    name: str
    accuracy: Accuracy
    microseconds: float
    bytes_per_node: int
    preparation: float | None = None

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
    table = landmarks.numbers_per_node * FLOAT32
    ways: list[tuple[str, int, Callable[[], NDArray[np.float64]]]] = [
        (MODEL, points.shape[1] * points.element_size(), lambda: predicted(distance, points, ends)),
        ("landmarks from below", table, lambda: landmark_bounds(landmarks, ends)[0]),
        ("landmarks from above", table, lambda: landmark_bounds(landmarks, ends)[1]),
        ("affine fit of both", table, lambda: fitted.predict(landmarks, ends)),
    ]
    return [measure_candidate(name, way, size, lengths, scale=sample.scale) for name, size, way in ways]


def measure_candidate(
    name: str,
    predict: Callable[[], NDArray[np.float64]],
    bytes_per_node: int,
    lengths: NDArray[np.float64],
    *,
    scale: float,
    preparation: float | None = None,
) -> Candidate:
    """Measure the accuracy and the time of a way to predict distances.

    Args:
        name: what it is.
        predict: computes the distances of the test pairs; called twice, as the first call may compile something.
        bytes_per_node: memory that it needs for each node.
        lengths: the true distances of the pairs.
        scale: the factor that scales distances to mean 50.
        preparation: seconds until it can answer.

    Examples:
        >>> lengths = np.array([1.0, 2.0])
        >>> measure_candidate("guess", lambda: np.array([1.0, 1.0]), 0, lengths, scale=1.0).accuracy.mse
        0.5
    """
    predict()
    start = time.perf_counter()
    values = predict()
    microseconds = (time.perf_counter() - start) / len(lengths) * 1e6
    return Candidate(name, Accuracy.of(values, lengths, scale=scale), microseconds, bytes_per_node, preparation)


def exact_engine(paths: ShortestPaths, sample: PairSample) -> Candidate:
    """Measure what exact answers cost: by the engine that suits the graph, prepared anew.

    The memory of an engine is that of its arrays; of a hierarchy, which does not tell, that by which the process has
    grown, and at least that of the graph.

    Args:
        paths: of the graph in question.
        sample: pairs with distances.

    Examples:
        >>> from trimetric.graphs import Graph, sample_pairs
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> paths = ShortestPaths(graph, engine="scipy", progress="silent")
        >>> row = exact_engine(paths, sample_pairs(graph, 12, test=2, validation=2, paths=paths))
        >>> row.name, row.accuracy.mse
        ('exact engine', 0.0)
    """
    graph, name = paths.graph, paths.engine(len(sample.lengths)).name
    before, start = resident_memory(), time.perf_counter()
    engine = make_engine(name, graph)
    preparation, grown = time.perf_counter() - start, resident_memory() - before
    arrays = sum(part.nbytes for part in engine.arrays if isinstance(part, np.ndarray))
    least = sum(part.nbytes for part in (graph.indptr, graph.indices, graph.weights))
    size = arrays or max(grown, least)
    ends, lengths = sample.ends[sample.test_rows][:TIMED], sample.lengths[sample.test_rows][:TIMED]
    starts, stops = np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])
    return measure_candidate(
        EXACT,
        lambda: engine.distances(starts, stops),
        round(size / graph.num_nodes),
        lengths,
        scale=sample.scale,
        preparation=preparation,
    )


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
        f"{'':<21} {'MSE at mean 50':>14}  {'relative error':>14}  {'too far':>8}  {'us per query':>12}  "
        f"{'bytes per node':>14}  preparation"
    )
    rows = [
        f"{row.name:<21} {row.accuracy.mse:>14.4g}  {row.accuracy.mean_relative_error:>14.2%}  "
        f"{row.accuracy.over_estimated:>8.1%}  {row.microseconds:>12.2f}  {row.bytes_per_node:>14,}  "
        + ("" if row.preparation is None else f"{row.preparation:>9.1f} s")
        for row in candidates
    ]
    return "\n".join([header, *rows])
