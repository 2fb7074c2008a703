"""The search itself: queries in batches, each as large as memory allows."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from trimetric.search.contents import Contents, Found
from trimetric.search.passes import Batch

BOUND_BYTES = 1 << 27  # of the bounds of queries and leaves
MOST_QUERIES = 1 << 14


class Search:
    """One search of a batch of queries.

    Args:
        contents: of the index.
        outgoing: whether distances from the queries are asked for, not those to them.
        k: the number of neighbors; None for a search within a radius.
        slack: leaves whose bound times 1 + slack exceeds the distance of the k-th neighbor are not visited.
        most_leaves: the most leaves to visit for a query; None for no limit.
    """

    def __init__(
        self,
        contents: Contents,
        *,
        outgoing: bool,
        k: int | None = None,
        slack: float = 0.0,
        most_leaves: int | None = None,
    ) -> None:
        self.contents, self.outgoing, self.k, self.slack, self.most_leaves = contents, outgoing, k, slack, most_leaves
        self.total, self.sizes = contents.alive_count, contents.leaf_sizes
        self.full = self.total == len(contents.points)
        self.wide = False

    def run(self, queries: Tensor, radius: Tensor | None = None) -> Iterator[Found]:
        """Search for the points near queries.

        Args:
            queries: points, `(n, dim)`.
            radius: of each query, for a search within it.

        Yields:
            What was found for the next queries, whose numbers start at 0 each time.
        """
        leaves = max(1, len(self.contents.leaves))
        height = max(1, min(MOST_QUERIES, BOUND_BYTES // (4 * leaves)))
        for i in range(0, len(queries), height):
            part = slice(i, i + height)
            yield self._verified_batch(queries[part], None if radius is None else radius[part])

    def _verified_batch(self, queries: Tensor, radius: Tensor | None) -> Found:
        """Search, and again with more allowance if a measured one turns out to be too small."""
        factor = 1.0
        while True:
            batch = Batch(self, queries, radius, factor)
            found, excess = batch.search()
            if excess <= (1.0 if batch.allowed.proven else 0.5):
                return found
            more = max(4.0, 4 * excess)
            if batch.allowed.proven or not more * batch.allowed.relative < 1:
                raise RuntimeError("distance: expected a fast path that agrees with the definition, got other values")
            factor *= more
