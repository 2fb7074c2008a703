"""How many leaves to visit for a given share of the true neighbors."""

from __future__ import annotations

import torch

from trimetric._support import checks
from trimetric.search.arguments import Direction
from trimetric.search.index import Index


def leaves_for_recall(
    index: Index, recall: float, *, k: int = 10, direction: Direction = "from", sample: int = 200, seed: int = 0
) -> int:
    """Find the smallest `most_leaves` with which enough of the true neighbors are found, on a sample of the points.

    The recall is measured with points of the index as queries.  For other queries it is an estimate, not a guarantee;
    `slack` of `Index.nearest` has a guarantee.

    Args:
        index: to be searched.
        recall: the share of the true neighbors to find, above 0 and at most 1.
        k: the number of neighbors.
        direction: as for `Index.nearest`.
        sample: the number of queries.
        seed: of the choice of queries.

    Returns:
        The number to pass to `Index.nearest(..., most_leaves=...)`.

    Examples:
        >>> import torch, trimetric as tm
        >>> index = Index(tm.Euclidean(2), torch.rand(1000, 2), leaf_size=16)
        >>> leaves_for_recall(index, 0.9) <= leaves_for_recall(index, 1.0)
        True
    """
    if not 0 < checks.finite_number("recall", recall, above=0) <= 1:
        raise ValueError(f"recall: expected a number above 0 and at most 1, got {recall}")
    checks.positive_int("sample", sample)
    checks.seed("seed", seed)
    alive = index.store.points[index.store.alive]
    chosen = torch.randperm(len(alive), generator=torch.Generator().manual_seed(seed))[:sample]
    if index.subject.encodes:
        index = Index._of(index.subject.of_points(), index.store, None)
    queries = alive[chosen]
    right = index.nearest(queries, k, direction=direction)

    def share(leaves: int) -> float:
        found = index.nearest(queries, k, direction=direction, most_leaves=leaves)
        return float((found.distances <= right.distances[:, -1:]).float().mean())

    low, high = 0, 1
    while high < len(index.store.leaves) and share(high) < recall:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if share(middle) < recall else (low, middle)
    return min(high, max(1, len(index.store.leaves)))
