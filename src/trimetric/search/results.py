"""What searches return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Work:
    """How many distances a search has computed.

    Attributes:
        computed: distances that were computed, including those to and from pivots and those of the verification.
        visited: pairs of a query and a point whose distance was computed.
        skipped: pairs of a query and a point that a bound excluded.
    """

    computed: int
    visited: int
    skipped: int

    def __add__(self, other: Work) -> Work:
        return Work(self.computed + other.computed, self.visited + other.visited, self.skipped + other.skipped)


@dataclass(frozen=True, eq=False, kw_only=True)
class Neighbors:
    """The nearest points of each query, nearest first; of equal distances the smaller id comes first.

    Attributes:
        ids: the id of each neighbor, `(queries, k)`: numbers, or the names of an index of a `Model`.
        distances: `(queries, k)`.
        rows: the ids as numbers.
        computed: distances that were computed.
        skipped: pairs of a query and a point that were not looked at.
        guarantee: what the answer rests on.

    Examples:
        >>> import trimetric as tm
        >>> points = torch.tensor([[0.0], [1.0], [3.0]])
        >>> found = tm.search.Index(tm.Euclidean(1), points).nearest(torch.tensor([[0.9]]), k=2)
        >>> found.ids, found.distances
        (tensor([[1, 0]]), tensor([[0.1000, 0.9000]]))
    """

    ids: Any
    distances: Float[Tensor, "queries k"]
    rows: Int[Tensor, "queries k"]
    computed: int
    skipped: int
    guarantee: str

    def __len__(self) -> int:
        return len(self.distances)


@dataclass(frozen=True, eq=False, kw_only=True)
class InRange:
    """The points within a radius of each query, nearest first; of equal distances the smaller id comes first.

    Attributes:
        offsets: the points of query i are those from `offsets[i]` to `offsets[i + 1] - 1`.
        ids: of the points of all queries: numbers, or the names of an index of a `Model`.
        distances: of the points of all queries.
        rows: the ids as numbers.
        computed: distances that were computed.
        skipped: pairs of a query and a point that were not looked at.
        guarantee: what the answer rests on.

    Examples:
        >>> import trimetric as tm
        >>> points = torch.tensor([[0.0], [1.0], [3.0]])
        >>> found = tm.search.Index(tm.Euclidean(1), points).within(torch.tensor([[1.5], [9.0]]), 1.6)
        >>> [ids.tolist() for ids, distances in found]
        [[1, 0, 2], []]
    """

    offsets: Int[Tensor, " queries+1"]
    ids: Any
    distances: Float[Tensor, " found"]
    rows: Int[Tensor, " found"]
    computed: int
    skipped: int
    guarantee: str

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> tuple[Any, Tensor]:
        """The ids and distances of one query.

        Args:
            query: its number.
        """
        if not -len(self) <= query < len(self):
            raise IndexError(f"query: expected one of {len(self)}, got {query}")
        query %= len(self)
        part = slice(int(self.offsets[query]), int(self.offsets[query + 1]))
        return self.ids[part], self.distances[part]

    def __iter__(self) -> Iterator[tuple[Any, Tensor]]:
        return (self[query] for query in range(len(self)))

    @property
    def counts(self) -> Int[Tensor, " queries"]:
        """The number of points of each query."""
        return self.offsets.diff()


def named(rows: Tensor, names: list[str] | None) -> Any:
    """The rows as they are, or as an array of names."""
    if names is None:
        return rows
    flat = np.empty(rows.numel(), dtype=object)
    flat[:] = [names[row] for row in rows.flatten().tolist()]
    return flat.reshape(tuple(rows.shape))


def in_order(queries: Tensor, distances: Tensor, ids: Tensor) -> Tensor:
    """The order by query, then distance, then id."""
    order = np.lexsort((ids.numpy(), distances.numpy(), queries.numpy()))
    return torch.from_numpy(order)
