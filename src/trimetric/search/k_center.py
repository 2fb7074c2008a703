"""Few centers, so that no point is far from its center."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric._support import checks
from trimetric.distances.all_pairs import all_pairs
from trimetric.search.arguments import Direction, as_objects, is_outgoing
from trimetric.search.definition import check_finite_distances
from trimetric.search.subject import Check, Searched, subject_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Centers:
    """What `k_center` and `k_medoids` return.

    Attributes:
        centers: the rows of the points that are centers.
        labels: for each point the number of its center, as an index into `centers`.
        distances: between each point and its center, in the requested direction.
        radius: the largest of these distances.
        cost: the sum of these distances.
        bound: no choice of the same number of centers has a smaller radius than this; 0 if nothing is known.
        computed: distances that were computed.
        skipped: distances that the triangle inequality made unnecessary.

    Examples:
        >>> import torch, trimetric as tm
        >>> tm.search.k_center(tm.Euclidean(1), torch.tensor([[0.0], [4.0], [9.0]]), 2).labels
        tensor([0, 0, 1])
    """

    centers: Int[Tensor, " k"]
    labels: Int[Tensor, " n"]
    distances: Float[Tensor, " n"]
    radius: float
    cost: float
    bound: float
    computed: int
    skipped: int


@torch.no_grad()
def k_center(
    distance: Searched,
    points: Tensor | np.ndarray,
    k: int,
    *,
    direction: Direction = "from",
    first: int = 0,
    check: Check = "promise",
) -> Centers:
    r"""Choose k points as centers, each the farthest from the centers before it (Gonzalez 1985).

    **For a metric** the largest distance of a point and its nearest center is at most twice the least possible: the
    k centers and the farthest point are k + 1 points that are pairwise at least `radius` apart; two of them share
    a center of the best choice, hence one is at least `radius / 2` away from it.

    **For a quasimetric** the same argument uses the distance from one of the two points to the shared center and from
    there to the other, and one of these directions is not measured.  The factor is $1 + a$ if $d(x, y) \le a\,d(y, x)$
    for all points.  Since $a$ is not known, `bound` is 0.

    Args:
        distance: as for `Index`.
        points: as for `Index`, but not by name.
        k: the number of centers; all different points if there are fewer.
        direction: "from" measures from the center to the points, "to" from the points to the center.
        first: the row of the first center.
        check: as for `Index`.

    Returns:
        The centers, the center of each point, and a bound for every choice of centers.

    Examples:
        >>> import torch, trimetric as tm
        >>> found = k_center(tm.Euclidean(1), torch.tensor([[0.0], [1.0], [9.0], [10.0]]), 2)
        >>> found.centers, found.labels, found.radius, found.bound
        (tensor([0, 3]), tensor([0, 0, 1, 1]), 1.0, 0.5)
    """
    checks.positive_int("k", k)
    outgoing = is_outgoing(direction)
    objects = as_objects("points", points, distance)
    subject = subject_of(distance, lambda: objects, check=check, seed=0)
    places = checks.finite("points", subject.embed(objects, name="points").cpu())
    if not len(places):
        raise ValueError("points: expected at least one, got none")
    if isinstance(first, bool) or not 0 <= first < len(places):
        raise ValueError(f"first: expected a row of points, 0 to {len(places) - 1}, got {first}")
    row = int(first)
    nearest = places.new_full((len(places),), torch.inf)
    labels = torch.zeros(len(places), dtype=torch.long)
    centers: list[int] = []
    computed = 0
    while True:
        # Half of the distance of two centers: no point nearer to the old one than that can be nearer to the new one.
        active = torch.arange(len(places))
        if centers and subject.symmetric:
            apart = all_pairs(subject.head, places[row : row + 1], places[centers])[0]
            computed += len(centers)
            active = (nearest > _shrunk(apart)[labels] / 2).nonzero()[:, 0]
        here, others = places[row : row + 1], places[active]
        found = all_pairs(subject.head, here, others)[0] if outgoing else all_pairs(subject.head, others, here)[:, 0]
        check_finite_distances("distances of points", found)
        computed += len(active)
        better = found < nearest[active]
        nearest[active[better]] = found[better]
        labels[active[better]] = len(centers)
        centers.append(row)
        row = int(nearest.argmax())
        if len(centers) == k or not float(nearest[row]) > 0:
            break
    radius = float(nearest.max())
    chosen = torch.tensor([*centers, row]) if radius > 0 else torch.tensor(centers)
    return Centers(
        centers=torch.tensor(centers),
        labels=labels,
        distances=nearest,
        radius=radius,
        cost=float(nearest.double().sum()),
        bound=_bound(subject.head, places[chosen], symmetric=subject.symmetric) if radius > 0 else 0.0,
        computed=computed,
        skipped=max(0, len(centers) * len(places) - computed),
    )


def _shrunk(values: Tensor) -> Tensor:
    """A little less, for rounding: what is skipped must not be nearer."""
    return values * (1 - 1e-4)


def _bound(head: object, places: Tensor, *, symmetric: bool) -> float:
    """With k + 1 points and k centers two share one; it is at least half of their distance from one of them.

    In one direction, from a center c to x and y: $d(x, y) \\le d(x, c) + d(c, y)$ needs the way back $d(x, c)$, about
    which nothing is known, so that only a symmetric distance gives a bound.
    """
    if not symmetric:
        return 0.0
    apart = all_pairs(head, places)  # type: ignore[arg-type]
    apart = torch.minimum(apart, apart.mT)
    apart.fill_diagonal_(torch.inf)
    return float(apart.min()) / 2
