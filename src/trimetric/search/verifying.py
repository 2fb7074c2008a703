"""The distances of candidates, as they are returned."""

from __future__ import annotations

from torch import Tensor

from trimetric.kernels.equal_rows import first_equal_row
from trimetric.search.contents import Contents
from trimetric.search.definition import check_finite_distances


def exact_distances(
    contents: Contents, queries: Tensor, rows: Tensor, positions: Tensor, *, outgoing: bool
) -> tuple[Tensor, int]:
    """Compute the distances of candidates by the definition, one for all equal points, so that ties are ties.

    Args:
        contents: of the index.
        queries: all of them.
        rows: the query of each candidate.
        positions: the point of each candidate.
        outgoing: whether distances from the queries are asked for, not those to them.

    Returns:
        A distance for each candidate, and the number of distances that were computed.
    """
    distinct, place = positions.unique(return_inverse=True)
    first = first_equal_row(contents.points[distinct])[place]
    pairs, back = (rows * len(distinct) + first).unique(return_inverse=True)
    query, point = pairs // max(1, len(distinct)), distinct[pairs % max(1, len(distinct))]
    if outgoing:
        values = contents.definition.between_rows(queries, query, contents.points, point)
    else:
        values = contents.definition.between_rows(contents.points, point, queries, query)
    check_finite_distances("distances of queries", values)
    return values[back], len(pairs)
