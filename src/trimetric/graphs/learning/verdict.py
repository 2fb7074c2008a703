"""Whether a model of a graph is worth using, compared with landmark bounds and a table of exact distances."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from trimetric.graphs.learning.comparison import EXACT, FLOAT32, MODEL, Candidate
from trimetric.graphs.paths.shortest_paths import ShortestPaths

AFFORDABLE = 1 << 30
"""The largest size of a table of exact distances that is worth considering, in bytes."""


@dataclass(frozen=True)
class ExactTable:
    """The cost of a table of the exact distances of all pairs.

    Attributes:
        bytes: its size in float32.
        seconds: the time to compute it, one row per node on all cores.

    Examples:
        >>> ExactTable(bytes=4 * 1000**2, seconds=0.5).bytes
        4000000
    """

    bytes: int
    seconds: float

    @classmethod
    def measure(cls, paths: ShortestPaths) -> ExactTable:
        """Estimate the cost from the time of one row: a shortest-path tree, or a sweep through a hierarchy.

        Args:
            paths: of the graph in question.
        """
        nodes, cores = paths.graph.num_nodes, paths.jobs or os.cpu_count() or 1
        paths.one_to_many(0)  # compiles, which must not be timed
        start = time.perf_counter()
        paths.one_to_many(0)
        return cls(FLOAT32 * nodes**2, (time.perf_counter() - start) * nodes / min(cores, nodes))


@dataclass(frozen=True)
class Verdict:
    """A model of a graph compared with its alternatives.

    Attributes:
        best_bound: the name of the most accurate alternative.
        error_ratio: mean squared error of the model divided by that of `best_bound`.
        exact: cost of the exact distances of all pairs.
        fit_seconds: the time of sampling and training.
        model: the row of the model; None if it was not measured.
        engine: the row of the exact engine; None if it was not measured.

    Examples:
        >>> verdict = Verdict("affine fit of both", error_ratio=0.6, exact=ExactTable(4000000, 0.5), fit_seconds=60.0)
        >>> verdict.beats_bounds, verdict.exact_is_cheaper
        (True, True)
    """

    best_bound: str
    error_ratio: float
    exact: ExactTable
    fit_seconds: float
    model: Candidate | None = None
    engine: Candidate | None = None

    @classmethod
    def of(
        cls,
        candidates: Sequence[Candidate],
        exact: ExactTable,
        fit_seconds: float,
        *,
        rivals: Sequence[str] | None = None,
    ) -> Verdict:
        """Judge a model by the rows of `compare`.

        Args:
            candidates: the rows.
            exact: cost of the exact distances of all pairs.
            fit_seconds: the time that the model took to train.
            rivals: the names of the rows that promise the same; by default all but the exact engine.
        """
        model = next(row for row in candidates if row.name == MODEL)
        best = min(
            (
                row
                for row in candidates
                if row is not model and (row.name != EXACT if rivals is None else row.name in rivals)
            ),
            key=lambda row: row.accuracy.mse,
        )
        engine = next((row for row in candidates if row.name == EXACT), None)
        ours, theirs = model.accuracy.mse, best.accuracy.mse
        ratio = ours / theirs if theirs > 0 else float("inf") if ours > 0 else 1.0
        return cls(best.name, ratio, exact, fit_seconds, model, engine)

    @property
    def beats_bounds(self) -> bool:
        """Whether the model is more accurate than every bound."""
        return self.error_ratio < 1

    @property
    def exact_is_cheaper(self) -> bool:
        """Whether all exact distances take less time than the model took, and no more than 1 GiB."""
        return self.exact.seconds < self.fit_seconds and self.exact.bytes <= AFFORDABLE

    def __str__(self) -> str:
        compared = f"its squared error is {self.error_ratio:.3g} times that of {self.best_bound!r}"
        worth = (
            f"the model beats the landmarks: {compared}"
            if self.beats_bounds
            else f"the model does NOT beat the landmarks, which need no training: {compared}; try more pairs or epochs"
        )
        cost = (
            f"all exact distances would take {_size(self.exact.bytes)} and about {_time(self.exact.seconds)} "
            f"(this model took {_time(self.fit_seconds)})"
        )
        choice = (
            "at this size the exact table is the better choice" if self.exact_is_cheaper else "the model is cheaper"
        )
        return "\n".join([worth, f"{cost}: {choice}", *self._beside_engine()])

    def _beside_engine(self) -> list[str]:
        """Say what exact answers to single queries cost, beside those of the model."""
        if self.model is None or self.engine is None:
            return []
        model, engine = self.model, self.engine
        faster = engine.microseconds / max(model.microseconds, 1e-9)
        error = f"a mean relative error of {model.accuracy.mean_relative_error:.2%}"
        costs = (
            f"exact answers take {engine.microseconds:.3g} us each, {engine.bytes_per_node:,} bytes per node and "
            f"{_time(engine.preparation or 0.0)} of preparation; the model {model.microseconds:.3g} us and "
            f"{model.bytes_per_node:,} bytes"
        )
        if faster < 1 and engine.bytes_per_node <= model.bytes_per_node:
            return [f"{costs}: the exact engine is the better choice"]
        if faster < 3:
            return [f"{costs}: use the exact engine, unless you need gradients, an index or fewer bytes"]
        return [f"{costs}: the model is {faster:.0f} times faster, at {error}"]


def _size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:,.3g} TiB"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.0f} hours"
