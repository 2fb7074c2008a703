"""Turn any function into a metric: train a base that stays below it, and clamp the function to a corridor above."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric._audit import Audit, audit
from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import ObjectDistance, Siamese, ensemble
from trimetric.distances.all_pairs import all_pairs
from trimetric.distances.corridor import check_floor
from trimetric.metrizing.arguments import check_base, check_effects, different_pairs
from trimetric.metrizing.least_change import compare_with_nearest
from trimetric.metrizing.report import MetrizeReport, describe_change
from trimetric.training.arguments import check_settings
from trimetric.training.asked_functions import Function, asked_functions, mean_answers
from trimetric.training.config import History
from trimetric.training.corridors import (
    PULL,
    best_floor,
    clamp_values,
    corridor,
    corridor_loss,
    default_base,
    first_floor,
)
from trimetric.training.distilling import DistillationConfig, distillation_config, labeled_pairs, teach
from trimetric.training.drawn_pairs import differ
from trimetric.training.pairs import ArrayOrTensor

AUDITED, JUDGED = 200, 10_000
"""objects of the audits, and random pairs of the report"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Metrized:
    """What `metrize` returns.

    Attributes:
        distance: a `Siamese` or a `CorridorMetric` that keeps the triangle inequality and reads the same objects.
        base: the quasimetric below the function; None for 0.
        report: how the function was changed.
        history: the training history of the base; None if it was not trained.

    Examples:
        >>> import trimetric as tm
        >>> config = tm.DistillationConfig(steps=50, batch_size=64)
        >>> def squared(x, y):
        ...     return 1 + (y - x).square().sum(-1)
        >>> result = tm.metrize(squared, torch.rand(30, 2), config=config, progress="silent", warn=False)
        >>> result.distance.axioms.triangle
        True
    """

    distance: ObjectDistance
    base: ObjectDistance | None
    report: MetrizeReport
    history: History | None


def metrize(
    f: Function | Sequence[Function],
    objects: ArrayOrTensor,
    *,
    base: ObjectDistance | None = None,
    train_base: bool = True,
    floor: float | Literal["auto"] = "auto",
    pairs: Int[Tensor, "n 2"] | np.ndarray | None = None,
    targets: Float[Tensor, " n"] | np.ndarray | None = None,
    symmetric: bool = False,
    pull: float = PULL,
    config: DistillationConfig | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
    warn: bool = True,
) -> Metrized:
    """Turn any function of two objects into a distance that keeps the triangle inequality.

    `metrize` trains a quasimetric B to stay close to f, on fresh pairs of the objects, and clamps f to the corridor
    from B + c to B + 2c (`CorridorMetric`).  The result equals f wherever f lies in the corridor.  The price is the
    floor: no two different objects are closer than c.  `distil` makes a metric without a floor, at some loss of
    accuracy.

    The guarantee holds for all objects that f can read, not only for those given here; how well B follows f is measured
    on the given objects only.

    Args:
        f: a model, or any function from two tensors `(n, dim)` to n numbers; or several, whose mean is used.
        objects: examples of what f reads, one row each.
        base: B: a `Siamese` or a distance that promises the triangle inequality, with a `Calibrated` head if its
            scale should be set; by default intervals with tolls on an `MLP` of three layers.  It is trained in place.
        train_base: whether to train the base; False if it is already trained.  Without a base, False means
            B = 0: the values are then kept within a factor of two, which suits pairs that are all far apart.
        floor: c, or "auto": 12 % of the mean of f while the base is trained (two thirds where B = 0), then the multiple
            of that value which changes f least, or fits the targets best.
        pairs: indices `(n, 2)` into `objects` of pairs with known distances, for the report and the floor.
        targets: their distances.  With floor="auto", every second pair is used to choose the floor, and the errors are
            measured on the others.
        symmetric: whether d(x, y) = d(y, x) must hold: f is then averaged over both directions, and the base must be
            symmetric.
        pull: how strongly the base is pulled towards values that put f in the middle of the corridor, in addition to
            the loss that keeps f inside.
        config: how to train the base; if no base is trained, only its seed is used, to draw the pairs of the report.
        checkpoint: a file to keep the state of the training in, as in `fit`.
        progress: "silent" prints nothing.
        warn: whether to also issue the warnings of the report as Python warnings.

    Returns:
        The distance and a report.

    Raises:
        ValueError: if f is NaN or infinite for two different objects, or if an option would have no effect.
        RuntimeError: if the training of the base diverges.

    Examples:
        >>> import trimetric as tm
        >>> _ = torch.manual_seed(0)
        >>> places = torch.rand(60, 2)
        >>> def minutes(x, y):  # of a trip; some answers are far too long
        ...     right = 5 + 20 * (y - x).abs().sum(-1)
        ...     return torch.where((97 * x[:, 0] + 31 * y[:, 1]) % 1 < 0.03, 3 * right, right)
        >>> config = tm.DistillationConfig(steps=300, batch_size=256)
        >>> result = tm.metrize(minutes, places, config=config, progress="silent")
        >>> result.report.audit_of_f.triangle_defect > 10, result.report.audit.triangle_defect
        (True, 0.0)
        >>> result.report.clamped < 0.2
        True
    """
    table = checks.as_tensor("objects", objects, base if base is not None else f)
    members = asked_functions(f, table)
    symmetric, train_base = checks.boolean("symmetric", symmetric), checks.boolean("train_base", train_base)
    checks.boolean("warn", warn)
    check_settings(None, progress)
    checks.finite_number("pull", pull, at_least=0)
    config = distillation_config(config)
    check_base(base, members, trained=train_base, symmetric=symmetric)
    check_effects(config, trained=train_base, checkpoint=checkpoint, pull=pull)
    if floor != "auto":
        check_floor(floor, banded=not train_base and base is None)
    if (pairs is None) != (targets is None):
        raise ValueError("pairs, targets: expected both or none, got one of them")
    own = base
    if train_base and base is None:
        own = default_base(table, symmetric=symmetric, seed=config.seed)
    labeled = None
    if pairs is not None:
        labeled = different_pairs(labeled_pairs(pairs, targets, table, own or members[0]), table, floor)
    ends = _random_pairs(table, seed=config.seed)
    values = mean_answers(members, table, ends, symmetric=symmetric)
    first = first_floor(values, banded=own is None) if floor == "auto" else float(floor)

    history = None
    if train_base and own is not None:
        history = teach(
            members,
            own,
            table,
            symmetric=symmetric,
            config=config,
            checkpoint=checkpoint,
            progress=progress,
            shift=-1.5 * first,
            loss=corridor_loss(first, pull),
        )
    chosen, judged = None, None
    if labeled is not None:
        different, wanted = labeled
        known = mean_answers(members, table, different, symmetric=symmetric)
        judged = (known, _base_values(own, table, different, known), wanted)
        if floor == "auto":
            chosen, judged = tuple(part[0::2] for part in judged), tuple(part[1::2] for part in judged)
    under = _base_values(own, table, ends, values)
    if floor != "auto":
        floor = first
    elif chosen is None:
        # Values that are far outside the corridor are clamped with every floor, so they must not decide.
        floor = best_floor(values, under, lambda d: (d - values).square().clamp(max=first**2), first)
    else:
        targets_of_choice = chosen[2]
        floor = best_floor(chosen[0], chosen[1], lambda d: (d - targets_of_choice).square(), first)

    mean = members[0] if len(members) == 1 and not symmetric else ensemble(members, symmetric=symmetric)
    distance = corridor(mean, own, floor).eval()
    some = table[torch.randperm(len(table), generator=torch.Generator().manual_seed(config.seed))[:AUDITED]]
    with torch.no_grad():
        matrices = all_pairs(mean, some), all_pairs(distance, some)
    report = describe_change(
        values,
        clamp_values(values, under, floor),
        floor=floor,
        audits=(_audit(mean, some), _audit(distance, some)),
        changes=compare_with_nearest(*matrices, symmetric=symmetric),
        judged=None if judged is None else (judged[2], judged[0], clamp_values(judged[0], judged[1], floor)),
    )
    for text in report.warnings if warn else ():
        warnings.warn(f"metrize: {text}", stacklevel=2)
    return Metrized(distance=distance, base=own, report=report, history=history)


def _audit(network: ObjectDistance, objects: Tensor) -> Audit:
    """Audit on these objects alone: to measure homogeneity would ask a function for others, which it may not know."""
    if isinstance(network, Siamese):
        return audit(network, objects)

    def of_different(x: Tensor, y: Tensor) -> Tensor:  # f need not be a number between equal objects
        values = network(x, y)
        return values.masked_fill(values.isnan() & (x == y).all(dim=-1), 0)

    found = audit(of_different, objects)
    return replace(found, name=type(network).__name__, promised=network.axioms.but(homogeneous=False))


def _base_values(base: ObjectDistance | None, objects: Tensor, ends: Tensor, like: Tensor) -> Tensor:
    return torch.zeros_like(like) if base is None else mean_answers([base], objects, ends, symmetric=False)


def _random_pairs(objects: Tensor, *, seed: int) -> Int[Tensor, "n 2"]:
    """Random pairs of different objects; rows with the same content are the same object."""
    count = len(objects)
    if count < 2:
        raise ValueError(f"objects: expected at least two, got {count}")
    generator = torch.Generator().manual_seed(seed + 1_000_003)
    start = torch.randint(count, (JUDGED,), generator=generator)
    end = (start + torch.randint(1, count, (JUDGED,), generator=generator)) % count
    ends = torch.stack([start, end], dim=1).to(objects.device)
    ends = ends[differ(objects, *ends.unbind(1))]
    if not len(ends):
        raise ValueError(f"objects: expected different ones, got {count} equal rows")
    return ends
