"""How much any metric has to change: the exact nearest one of some objects, beside the one that was learned."""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from trimetric.kernels.machine_code import HAS_NUMBA
from trimetric.nearness import nearest_metric

TOLERANCE, SECONDS = 1e-3, 10.0
"""relative gap of the nearest metric, and the time after which it may be larger"""
FAR_FROM_LEAST = 2.0
"""how many times the least change means that a metric does not follow what it was made of"""


class Changes(NamedTuple):
    """Mean squared changes of the values of some objects.

    Attributes:
        least: what every metric changes at least, by the lower bound of the nearest one.
        own: what the metric at hand changes.
        objects: the number of objects.
    """

    least: float
    own: float
    objects: int

    @property
    def follows(self) -> bool:
        """Whether the metric at hand changes little more than it must."""
        return self.own <= FAR_FROM_LEAST * self.least

    def __str__(self) -> str:
        return f"on {self.objects} objects every metric changes it by {self.least:.3g} or more (mean square)"


def compare_with_nearest(
    values: Float[Tensor, "n n"], distances: Float[Tensor, "n n"], *, symmetric: bool
) -> Changes | None:
    """Compare a metric with the nearest one of the same objects.

    Args:
        values: what it was made of, NaN where that is unknown; the diagonal does not matter.
        distances: of the metric.
        symmetric: whether the metric has to be.

    Returns:
        The changes; None if there are no values or some are negative, and without numba, which the exact
        solver needs to be fast.

    Examples:
        >>> import torch
        >>> values = torch.tensor([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
        >>> distances = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
        >>> found = compare_with_nearest(values, distances, symmetric=True)
        >>> round(found.least, 2), found.own, found.follows
        (1.0, 3.0, False)
    """
    given = values.detach().double().cpu().clone()
    given.fill_diagonal_(0)
    if symmetric:
        given = (given + given.mT) / 2
    known = given.isfinite()
    known.fill_diagonal_(False)
    pairs = int(known.sum())
    if not HAS_NUMBA or not pairs or bool((given[known] < 0).any()):
        return None
    missing = (~known).numpy()
    missing[range(len(given)), range(len(given))] = False
    found = nearest_metric(
        given.nan_to_num(0).numpy(),
        symmetric=symmetric,
        missing=missing if missing.any() else None,
        tolerance=TOLERANCE,
        max_seconds=SECONDS,
    )
    own = float((distances.detach().double().cpu() - given)[known].square().mean())
    return Changes(found.lower_bound * 4.0**found.exponent / pairs, own, len(given))
