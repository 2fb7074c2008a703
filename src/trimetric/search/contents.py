"""What a search reads, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Found:
    """Verified pairs of a query and a point, ordered by query, distance and id, of the next `size` queries."""

    size: int
    queries: Tensor
    positions: Tensor
    distances: Tensor
    work: Work
