"""Few centers, so that points are near to their centers on average."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.distances.all_pairs import all_pairs
from trimetric.search.arguments import Direction, as_objects, is_outgoing
from trimetric.search.definition import PointDistance
from trimetric.search.k_center import Centers, k_center
from trimetric.search.subject import Check, Searched, subject_of

AT_ONCE = 16
ROUNDING = 1e-4  # of sums of distances: what is skipped must not be better


@torch.no_grad()
def k_medoids(
    distance: Searched,
    points: Tensor | np.ndarray,
    k: int,
    *,
    direction: Direction = "from",
    rounds: int = 20,
    seed: int = 0,
    check: Check = "promise",
) -> Centers:
    r"""Choose k points as centers, such that points are near their centers on average.

    The function alternates two steps: each point is assigned to its nearest center, and each center moves to the best
    point of its group.  It starts from `k_center` and ends when no center moves: a local optimum, as in k-means.  The
    best center of a group is exact, without all distances of the group: with $S(i) = \sum_x d(i, x)$ and
    $T(i) = \sum_x d(x, i)$ of one point i of a group of m, every other point j has $S(j) \ge S(i) - m\,d(i, j)$ and
    $S(j) \ge m\,d(j, i) - T(i)$.

    Args:
        distance: as for `Index`.
        points: as for `Index`, but not by name.
        k: the number of centers.
        direction: "from" measures from the center to the points, "to" from the points to the center.
        rounds: the largest number of alternations.
        seed: of the order in which points are tried as centers.
        check: as for `Index`.

    Returns:
        The centers, and the center of each point.

    Examples:
        >>> import torch, trimetric as tm
        >>> found = k_medoids(tm.Euclidean(1), torch.tensor([[0.0], [1.0], [2.0], [9.0], [10.0]]), 2)
        >>> found.centers.sort().values, found.cost
        (tensor([1, 4]), 3.0)
    """
    checks.positive_int("rounds", rounds)
    checks.seed("seed", seed)
    start = k_center(distance, points, k, direction=direction, check=check)
    objects = as_objects("points", points, distance)
    subject = subject_of(distance, lambda: objects, check=check, seed=0)
    places = subject.embed(objects, name="points").cpu()
    outgoing, centers, computed, skipped = is_outgoing(direction), start.centers, start.computed, start.skipped
    generator = torch.Generator().manual_seed(seed)
    for _ in range(rounds):
        labels, _ = _assigned(subject.head, places, centers, outgoing)
        computed += len(places) * len(centers)
        moved = []
        for number, center in enumerate(centers.tolist()):
            members = (labels == number).nonzero()[:, 0]
            best, needed = _best_center(subject.head, places, members, center, outgoing, generator)
            moved.append(best)
            computed += needed
            skipped += max(0, len(members) ** 2 - needed)
        if moved == centers.tolist():
            break
        centers = torch.tensor(moved)
    labels, distances = _assigned(subject.head, places, centers, outgoing)
    return Centers(
        centers=centers,
        labels=labels,
        distances=distances,
        radius=float(distances.max()),
        cost=float(distances.double().sum()),
        bound=0.0,
        computed=computed + len(places) * len(centers),
        skipped=skipped,
    )


def _assigned(head: PointDistance, places: Tensor, centers: Tensor, outgoing: bool) -> tuple[Tensor, Tensor]:
    """The nearest center of each point; each center has itself."""
    apart = all_pairs(head, places[centers], places) if outgoing else all_pairs(head, places, places[centers]).mT
    labels = apart.argmin(dim=0)
    labels[centers] = torch.arange(len(centers))
    return labels, apart[labels, torch.arange(len(places))]


def _best_center(
    head: PointDistance, places: Tensor, members: Tensor, center: int, outgoing: bool, generator: torch.Generator
) -> tuple[int, int]:
    """The member with the least sum of distances (the present center if it is as good), and the distances it took."""
    own, m = places[members], len(members)
    least = torch.full((m,), -torch.inf, dtype=torch.float64)  # a lower bound of each sum
    waiting = torch.ones(m, dtype=torch.bool)
    best_sum, best, computed = float("inf"), center, 0
    order = torch.randperm(m, generator=generator)
    place = int((members == center).nonzero()[0, 0])
    order = torch.cat([torch.tensor([place]), order[order != place]])
    while bool(waiting.any()):
        tried = order[waiting[order]][:AT_ONCE]
        ahead, back = all_pairs(head, own[tried], own).double(), all_pairs(head, own, own[tried]).mT.double()
        if not outgoing:
            ahead, back = back, ahead
        computed += 2 * len(tried) * m
        sums, others = ahead.sum(dim=1), back.sum(dim=1)
        spot = int(sums.argmin())
        if float(sums[spot]) < best_sum:
            best_sum, best = float(sums[spot]), int(members[tried[spot]])
        waiting[tried] = False
        bounds = torch.maximum(sums[:, None] - m * ahead, m * back - others[:, None]).amax(dim=0)
        least = torch.maximum(least, bounds - ROUNDING * (sums + others).max())
        waiting &= least < best_sum
    return best, computed
