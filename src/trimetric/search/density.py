"""Clusters of points that lie densely, by directed distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Int
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from trimetric._support import checks
from trimetric.search.answers import in_range_of
from trimetric.search.arguments import Direction, is_outgoing, radii
from trimetric.search.index import Index
from trimetric.search.searching import Search


@dataclass(frozen=True, eq=False, kw_only=True)
class DensityClusters:
    """What `density_clusters` returns.

    Attributes:
        labels: the number of the cluster of each point, -1 for noise; in the order of `index.ids`.
        core: which points have enough others in range.
        count: the number of clusters.
        computed: distances that were computed.
        skipped: pairs of points that were not looked at.

    Examples:
        >>> import torch, trimetric as tm
        >>> index = tm.search.Index(tm.Euclidean(1), torch.tensor([[0.0], [1.0], [9.0]]))
        >>> found = tm.search.density_clusters(index, 2.0, min_points=2)
        >>> found.count, found.core
        (1, tensor([ True,  True, False]))
    """

    labels: Int[Tensor, " n"]
    core: Bool[Tensor, " n"]
    count: int
    computed: int
    skipped: int


def density_clusters(
    index: Index,
    radius: float,
    *,
    min_points: int = 5,
    direction: Direction = "from",
    connection: Literal["weak", "strong"] = "weak",
) -> DensityClusters:
    """Find clusters of points that lie densely: DBSCAN with distances that may be asymmetric, exact.

    A point is a core point if at least `min_points` points, itself included, are within the radius.  Core points in
    range of each other are in one cluster.  Any other point in range of a core point belongs to the cluster of the
    nearest core point (among equal distances, the one with the smallest id).  The remaining points are noise.

    Args:
        index: of the points.
        radius: the largest distance that is in range.
        min_points: the number of points in range that makes a core point.
        direction: "from" means that y is in range of x if d(x, y) is at most the radius, "to" if d(y, x) is.
        connection: "weak" joins core points if one is in range of the other, "strong" only if each can be reached
            from the other by steps in range.  For symmetric distances both are the same.

    Returns:
        The cluster of each point.

    Examples:
        >>> import torch, trimetric as tm
        >>> index = Index(tm.Euclidean(1), torch.tensor([[0.0], [1.0], [2.0], [9.0], [10.0], [50.0]]))
        >>> density_clusters(index, 1.0, min_points=2).labels
        tensor([ 0,  0,  0,  1,  1, -1])
    """
    checks.positive_int("min_points", min_points)
    checks.one_of("connection", connection, ("weak", "strong"))
    ids = index.store.ids[index.store.alive].sort().values
    search = Search(index.store.contents, outgoing=is_outgoing(direction))
    points = index.store.points_of(ids)
    found = in_range_of(list(search.run(points, radii(radius, points))), index.store, None, guarantee=index.guarantee)
    counts = found.counts
    core = counts >= min_points
    start = torch.repeat_interleave(torch.arange(len(ids)), counts)
    end = torch.searchsorted(ids, found.rows)
    between = core[start] & core[end]
    graph = csr_matrix(
        (np.ones(int(between.sum())), (start[between].numpy(), end[between].numpy())), shape=(len(ids), len(ids))
    )
    _, component = connected_components(graph, directed=True, connection=connection)
    labels = torch.full((len(ids),), -1)
    labels[core] = torch.from_numpy(np.unique(component[core.numpy()], return_inverse=True)[1]).long()
    outer = (core[start] & ~core[end]).nonzero()[:, 0]
    order = np.lexsort((start[outer].numpy(), found.distances[outer].numpy()))[::-1].copy()
    chosen = outer[torch.from_numpy(order)]
    labels[end[chosen]] = labels[start[chosen]]  # the nearest is written last
    return DensityClusters(
        labels=labels,
        core=core,
        count=int(labels.max()) + 1 if len(ids) else 0,
        computed=found.computed,
        skipped=found.skipped,
    )
