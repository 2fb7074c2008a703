"""From what a search found to what it returns."""

from __future__ import annotations

import torch
from torch import Tensor

from trimetric.search.contents import Found
from trimetric.search.results import InRange, Neighbors, Work, named
from trimetric.search.store import Store


def neighbors_of(found: list[Found], store: Store, names: list[str] | None, *, width: int, guarantee: str) -> Neighbors:
    """Put the batches of a search for neighbors together.

    Args:
        found: the batches.
        store: of the index.
        names: of the ids, if they have some.
        width: the number of neighbors of each query.
        guarantee: what the answer rests on.
    """
    distances, ids, work = _joined(found, store)
    rows = ids.view(-1, width) if width else ids.view(sum(part.size for part in found), 0)
    return Neighbors(
        ids=named(rows, names),
        distances=distances.view(rows.shape),
        rows=rows,
        computed=work.computed,
        skipped=work.skipped,
        guarantee=guarantee,
    )


def in_range_of(found: list[Found], store: Store, names: list[str] | None, *, guarantee: str) -> InRange:
    """Put the batches of a search within a radius together.

    Args:
        found: the batches.
        store: of the index.
        names: of the ids, if they have some.
        guarantee: what the answer rests on.
    """
    distances, rows, work = _joined(found, store)
    counts = [torch.bincount(part.queries, minlength=part.size) for part in found]
    return InRange(
        offsets=torch.cat([torch.zeros(1, dtype=torch.long), *counts]).cumsum(0),
        ids=named(rows, names),
        distances=distances,
        rows=rows,
        computed=work.computed,
        skipped=work.skipped,
        guarantee=guarantee,
    )


def _joined(found: list[Found], store: Store) -> tuple[Tensor, Tensor, Work]:
    """The distances and ids of all batches, and the work of all."""
    positions = torch.cat([torch.empty(0, dtype=torch.long), *(part.positions for part in found)])
    distances = torch.cat([store.points.new_empty(0), *(part.distances for part in found)])
    return distances, store.ids[positions], sum((part.work for part in found), Work(0, 0, 0))
