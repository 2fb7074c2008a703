"""The arguments of `metrize`, checked before anything is trained."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from trimetric._support import checks
from trimetric.distances import ObjectDistance
from trimetric.distances.corridor import NEEDED
from trimetric.training.arguments import check_model
from trimetric.training.asked_functions import check_own_weights, head_name
from trimetric.training.corridors import PULL
from trimetric.training.distilling import OF_EVERY_STUDENT, DistillationConfig
from trimetric.training.drawn_pairs import differ
from trimetric.training.pairs import PairData


def check_base(
    base: ObjectDistance | None, members: Sequence[ObjectDistance], *, trained: bool, symmetric: bool
) -> None:
    """Refuse a base that cannot keep the promises of the result.

    Args:
        base: the quasimetric below the functions; None for the default.
        members: the functions, which training the base must not change.
        trained: whether the base will be trained.
        symmetric: whether the result must be symmetric.
    """
    if base is None:
        return
    if trained:
        check_model("base", base)
        check_own_weights("base", base, members)
    else:
        checks.instance("base", base, ObjectDistance)
    missing = [name for name in NEEDED if not getattr(base.axioms, name)]
    if missing:
        raise ValueError(
            f"base: expected a distance that promises {', '.join(NEEDED)}, got {head_name(base)} without "
            f"{', '.join(missing)}"
        )
    if symmetric and not base.axioms.symmetric:
        raise ValueError(f"base: expected a symmetric distance, because symmetric=True, got {head_name(base)}")


def check_effects(config: DistillationConfig, *, trained: bool, checkpoint: object, pull: float) -> None:
    """Refuse options that would have no effect.

    Args:
        config: the settings.
        trained: whether a base will be trained.
        checkpoint: the file to keep the state of the training in, or None.
        pull: how strongly the base is drawn to the middle of the corridor.
    """
    if trained:
        config.check_used(OF_EVERY_STUDENT, "metrize reads no labels while it trains the base")
        return
    config.check_used(["seed"], "no base is trained")
    if checkpoint is not None:
        raise ValueError("checkpoint: expected None where no base is trained, got a file")
    if pull != PULL:
        raise ValueError(f"pull: expected {PULL} where no base is trained, got {pull}, which has no effect")


def different_pairs(data: PairData, objects: Tensor, floor: object) -> tuple[Tensor, Tensor]:
    """Keep the labeled pairs of different objects: between equal ones the distance is 0, whatever f says.

    Args:
        data: pairs of rows of `objects`, with targets.
        objects: one row each.
        floor: as in `metrize`; "auto" needs a pair to choose it by, besides one to measure an error on.

    Returns:
        The pairs and their targets.
    """
    apart = differ(objects, *data.pairs.unbind(1))  # type: ignore[union-attr]
    count, needed = int(apart.sum()), 2 if floor == "auto" else 1
    if count < needed:
        why = ", one to choose the floor and one for the errors" if needed == 2 else ""
        raise ValueError(f"pairs: expected at least {needed} of different objects{why}, got {count}")
    return data.pairs[apart], data.targets[apart]  # type: ignore[index]
