"""Turn a table of scored pairs into a metric: learn a base from the scores, and clamp them to its corridor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric._audit import Audit, audit
from trimetric._audit.axioms import Measured
from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import Siamese
from trimetric.distances.all_pairs import all_pairs
from trimetric.distances.corridor import check_floor
from trimetric.metrizing.functions import AUDITED
from trimetric.metrizing.least_change import Changes, compare_with_nearest
from trimetric.metrizing.report import MANY_BELOW, MANY_CLAMPED, why_clamped
from trimetric.training.corridors import PULL, best_floor, clamp_values, corridor_loss, default_base, first_floor
from trimetric.training.distilling import OF_EVERY_STUDENT, DistillationConfig, distillation_config
from trimetric.training.fitting import fit
from trimetric.training.losses import CustomLoss


@dataclass(frozen=True, eq=False, kw_only=True)
class MetrizedScores:
    """What `metrize_scores` returns.

    Attributes:
        distances: of the scored pairs; every other pair of different objects is at the distance `base + 1.5 floor`.
        base: the quasimetric below the scores, from numbers of objects to distances.
        floor: c, the smallest distance between different objects.
        clamped: share of the scores that were changed.
        below_floor: share of the scores that are smaller than the floor.
        mean_squared_change: of the scores.
        audit: of the distances between up to 200 objects, scored or not.
        changes: on the same objects, the mean squared change of their scores, and the least that every metric has to
            change, by `nearness.nearest_metric`; None if none of their pairs is scored, and without numba.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> pairs, scores = torch.tensor([[0, 1], [1, 2], [0, 2]]), torch.tensor([1.0, 1.0, 5.0])
        >>> config = tm.DistillationConfig(steps=100)
        >>> result = tm.metrize_scores(pairs, scores, floor=0.5, config=config, progress="silent")
        >>> result.audit.triangle_defect
        0.0
    """

    distances: Float[Tensor, " n"]
    base: Siamese
    floor: float
    clamped: float
    below_floor: float
    mean_squared_change: float
    audit: Audit
    changes: Changes | None

    @property
    def warnings(self) -> list[str]:
        """What to mind, in words."""
        found = []
        if self.clamped > MANY_CLAMPED:
            why = why_clamped("the table", self.changes, below_floor=self.below_floor)
            found.append(f"{self.clamped:.0%} of the scores were changed: {why}")
        if self.below_floor > MANY_BELOW:
            found.append(f"{self.below_floor:.1%} of the scores are below the floor of {self.floor:.3g}")
        return found


def metrize_scores(
    pairs: Int[Tensor, "n 2"] | np.ndarray,
    scores: Float[Tensor, " n"] | np.ndarray,
    *,
    objects: int | None = None,
    floor: float | Literal["auto"] = "auto",
    symmetric: bool = False,
    pull: float = PULL,
    config: DistillationConfig | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> MetrizedScores:
    """Turn scores of some pairs of objects into distances that keep the triangle inequality between all of them.

    Unlike `metrize`, which evaluates a function, this needs only a table of scores.  Objects are identified by number,
    so the result covers no other objects.  For a complete matrix of up to some thousand objects,
    `nearness.nearest_metric` is exact and has no floor.

    Args:
        pairs: the two objects of each pair, by number, from and to.
        scores: of the pairs, at least 0, and 0 from an object to itself; a pair that occurs twice must have the same
            score.
        objects: the number of objects; by default the largest in `pairs`, plus 1.
        floor: as in `metrize`.
        symmetric: whether d(x, y) = d(y, x) must hold; both directions of a pair then need the same score.
        pull: as in `metrize`.
        config: how to train the base; each step uses `batch_size` of the pairs, or all if there are fewer.
        checkpoint: as in `fit`.
        progress: "silent" prints nothing.

    Returns:
        The distances of the pairs, and what was measured.

    Examples:
        >>> import trimetric as tm
        >>> pairs = torch.combinations(torch.arange(6))
        >>> scores = 3 + (pairs[:, 0] - pairs[:, 1]).abs().float()
        >>> scores[4] = 40.0  # from 0 to 5, which cannot be
        >>> config = tm.DistillationConfig(steps=200)
        >>> result = tm.metrize_scores(pairs, scores, config=config, progress="silent")
        >>> bool(result.distances[4] < 30), result.audit.holds
        (True, True)
    """
    config = distillation_config(config)
    checks.finite_number("pull", pull, at_least=0)
    config.check_used(OF_EVERY_STUDENT, "the scores are all that there is")
    ends, given = checks.as_tensor("pairs", pairs), checks.as_tensor("scores", scores)
    given = given if given.is_floating_point() else given.float()
    checks.finite("scores", given)
    last = int(ends.max()) if ends.numel() else -1
    count = last + 1 if objects is None else checks.positive_int("objects", objects)
    if count < 2 or last >= count:
        raise ValueError(f"objects: expected at least {max(2, last + 1)}, one for each number in pairs, got {count}")
    _check_scores(ends, given, symmetric=checks.boolean("symmetric", symmetric))
    apart = ends[:, 0] != ends[:, 1]
    first = first_floor(given[apart], name="scores") if floor == "auto" else check_floor(floor, banded=False)
    numbers = torch.arange(count, device=ends.device)
    base = default_base(numbers, symmetric=symmetric, seed=config.seed)
    inner = corridor_loss(first, pull)
    loss = CustomLoss(lambda p, t, done: inner.of(p, t - 1.5 * first, done), f"{inner.identity}, of scores")
    steps_per_epoch = -(-int(apart.sum()) // config.batch_size)
    fit(
        base,
        ends[apart],
        given[apart].to(torch.float32),
        loss=loss,
        config=config.training(base, config.batch_size, epochs=-(-config.steps // steps_per_epoch)),
        checkpoint=checkpoint,
        progress=progress,
    )
    with torch.no_grad():
        below = base.between_rows(numbers, ends[:, 0], ends[:, 1])
        scored = given.to(below)
        chosen = first
        if floor == "auto":
            own = scored[apart]
            chosen = best_floor(own, below[apart], lambda d: (d - own).square().clamp(max=first**2), first)
        distances = torch.where(apart, clamp_values(scored, below, chosen), 0)
        some = torch.randperm(count, generator=torch.Generator().manual_seed(config.seed))[:AUDITED].sort().values
        places = _Places(some.to(ends.device), ends, count, symmetric=symmetric)
        matrix = places.fill((all_pairs(base, places.objects) + 1.5 * chosen).fill_diagonal_(0), distances)
        known = places.fill(torch.full_like(matrix, torch.nan), scored)
    change = (distances - scored)[apart].double()
    return MetrizedScores(
        distances=distances,
        base=base,
        floor=chosen,
        clamped=float((change.abs() > 1e-6 * scored[apart].abs()).double().mean()),
        below_floor=float((scored[apart] < chosen).double().mean()),
        mean_squared_change=float(change.square().mean()),
        audit=_audit_matrix(matrix, symmetric=symmetric).of_rows(some.tolist()),
        changes=compare_with_nearest(known, matrix, symmetric=symmetric),
    )


def _check_scores(ends: Tensor, scores: Tensor, *, symmetric: bool) -> None:
    """Each pair has one distance in the end, so that it must have one score."""
    if ends.ndim != 2 or ends.shape[1] != 2 or scores.shape != ends.shape[:1]:
        raise ValueError(
            f"pairs, scores: expected shapes (n, 2) and (n,), got {tuple(ends.shape)} and {tuple(scores.shape)}"
        )
    negative = (scores < 0).nonzero().flatten()
    if len(negative):
        row = int(negative[0])
        raise ValueError(f"scores: expected values of at least 0, got {float(scores[row]):g} in row {row}")
    itself = ((ends[:, 0] == ends[:, 1]) & (scores != 0)).nonzero().flatten()
    if len(itself):
        row = int(itself[0])
        raise ValueError(f"scores: expected 0 from an object to itself, got {float(scores[row]):g} in row {row}")
    if not bool((ends[:, 0] != ends[:, 1]).any()):
        raise ValueError("pairs: expected two different objects in some row, got none")
    same = ends.sort(dim=1).values if symmetric else ends
    _, places = same.unique(dim=0, return_inverse=True)
    first = torch.full((len(ends),), len(ends), device=ends.device)
    first.scatter_reduce_(0, places, torch.arange(len(ends), device=ends.device), "amin")
    before = first[places]  # the first row with the same pair
    wrong = (scores != scores[before]).nonzero().flatten()
    if len(wrong):
        row = int(wrong[0])
        earlier, (start, end) = int(before[row]), ends[row].tolist()
        expected = f"one score for the pair {start}, {end}"
        if ends[earlier].tolist() != [start, end]:
            expected = f"the same score from {start} to {end} as back"
        got = f"{float(scores[earlier]):g} in row {earlier} and {float(scores[row]):g} in row {row}"
        raise ValueError(f"scores: expected {expected}, got {got}")


class _Places:
    """Where the pairs of a table are in a matrix of some of the objects."""

    def __init__(self, objects: Tensor, ends: Tensor, count: int, *, symmetric: bool) -> None:
        self.objects, self.symmetric = objects, symmetric
        place = torch.full((count,), -1, device=ends.device)
        place[objects] = torch.arange(len(objects), device=ends.device)
        self.rows, self.columns = place[ends].unbind(1)
        self.inside = (self.rows >= 0) & (self.columns >= 0) & (ends[:, 0] != ends[:, 1])

    def fill(self, matrix: Tensor, values: Tensor) -> Tensor:
        """Write the values of the pairs into a matrix, in both directions where it is symmetric."""
        i, j, own = self.rows[self.inside], self.columns[self.inside], values[self.inside]
        if self.symmetric:
            matrix[j, i] = own
        matrix[i, j] = own
        return matrix


def _audit_matrix(matrix: Tensor, *, symmetric: bool) -> Audit:
    axioms: tuple[Measured, ...] = ("triangle", "nonnegative", "reflexive")
    if symmetric:
        axioms = (*axioms, "symmetric")
    rows = torch.arange(len(matrix), dtype=matrix.dtype, device=matrix.device).unsqueeze(1)
    return audit(lambda x, y: matrix[x[..., 0].long(), y[..., 0].long()], rows, require=axioms)
