"""What a search reads, and what it finds."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from torch import Tensor

from trimetric.search.definition import Definition, PointDistance
from trimetric.search.leaves import Leaves
from trimetric.search.pivots import Pivots
from trimetric.search.results import Work
from trimetric.search.rounding import Rounding


@dataclass(frozen=True)
class Contents:
    """What a search reads of an index.

    Attributes:
        points: in the order of the leaves.
        ids: of the points.
        alive: which of them are not deleted.
        leaves: where each leaf starts, and its bounds.
        pivots: measure queries.
        head: the distance between points.
        definition: the distances that answers report.
        rounding: how far both may be apart.
        scale: the largest distance between points and pivots.
    """

    points: Tensor
    ids: Tensor
    alive: Tensor
    leaves: Leaves
    pivots: Pivots
    head: PointDistance
    definition: Definition
    rounding: Rounding
    scale: float

    # What does not depend on the queries is computed once: for a single query it would be most of the work.
    @functools.cached_property
    def alive_count(self) -> int:
        """The number of points that are not deleted."""
        return int(self.alive.sum())

    @functools.cached_property
    def leaf_sizes(self) -> Tensor:
        """The number of points of each leaf that are not deleted."""
        alive = torch.cat([torch.zeros(1, dtype=torch.long), self.alive.long().cumsum(0)])
        return (alive[self.leaves.starts[1:]] - alive[self.leaves.starts[:-1]]).float()

    @functools.cached_property
    def largest_leaf(self) -> int:
        """The number of points of the largest leaf."""
        return int(self.leaves.starts.diff().max()) if len(self.leaves) else 0


@dataclass(frozen=True)
class Found:
    """Verified pairs of a query and a point, ordered by query, distance and id, of the next `size` queries."""

    size: int
    queries: Tensor
    positions: Tensor
    distances: Tensor
    work: Work
