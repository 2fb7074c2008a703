"""Interval Quasimetric Embeddings under torchqmet's names."""

from __future__ import annotations

from collections.abc import Collection

from trimetric._support import checks
from trimetric.distances.interval import IntervalQuasimetric
from trimetric.integrations.torchqmet.base import Backed
from trimetric.integrations.torchqmet.reductions import ReductionName


class IQE(Backed):
    """Interval Quasimetric Embedding, as `torchqmet.IQE`: lengths of unions of intervals (`IntervalQuasimetric`).

    Args:
        input_size: the size of the last axis of points.
        dim_per_component: coordinates of each component; divides `input_size`.
        transforms: () or ("concave_activation",).
        reduction: see `QuasimetricBase`; "maxmean" and "sum" are the two forms of the paper.
        discount: see `QuasimetricBase`.
        warn_if_not_quasimetric: accepted; there is nothing to warn of.

    Examples:
        >>> import torch
        >>> iqe = IQE(4, dim_per_component=2, reduction="sum")
        >>> x, y = torch.zeros(4), torch.tensor([1.0, 2.0, -1.0, 3.0])
        >>> iqe(x, y).item(), iqe(y, x).item()
        (5.0, 1.0)
    """

    def __init__(
        self,
        input_size: int,
        dim_per_component: int = 16,
        *,
        transforms: Collection[str] = (),
        reduction: ReductionName = "maxmean",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        components = number_of_components(input_size, dim_per_component)
        super().__init__(
            IntervalQuasimetric(input_size, components=components, pool="mean"),
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )


class IQE2(IQE):
    """The variant of `IQE` that some copies of torchqmet contain.  Here it is `IQE` itself.

    No public documentation describes it.  Its learned offsets and divisors are refused.  Its other options, such as the
    dropout of components, are refused as unknown arguments.

    Args:
        input_size: the size of the last axis of points.
        dim_per_component: coordinates of each component; divides `input_size`.
        transforms: () or ("concave_activation",).
        reduction: see `QuasimetricBase`.
        discount: see `QuasimetricBase`.
        warn_if_not_quasimetric: accepted; there is nothing to warn of.
        learned_delta: False; anything else is refused.
        learned_div: False; anything else is refused.

    Examples:
        >>> IQE2(32, 8).num_components
        4
    """

    def __init__(
        self,
        input_size: int,
        dim_per_component: int = 16,
        *,
        transforms: Collection[str] = (),
        reduction: ReductionName = "maxmean",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
        learned_delta: bool = False,
        learned_div: bool = False,
    ) -> None:
        for name, value in (("learned_delta", learned_delta), ("learned_div", learned_div)):
            if checks.boolean(name, value):
                raise ValueError(
                    f"{name}: expected False, as no public documentation says what True computes, got True; "
                    "IntervalQuasimetric and WideMetric are the learned forms that Trimetric has"
                )
        super().__init__(
            input_size,
            dim_per_component,
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )


def number_of_components(input_size: int, dim_per_component: int) -> int:
    """How many components of equal size there are.

    Args:
        input_size: number of coordinates.
        dim_per_component: coordinates of each component.
    """
    checks.positive_int("input_size", input_size)
    if checks.positive_int("dim_per_component", dim_per_component) > input_size or input_size % dim_per_component:
        raise ValueError(f"dim_per_component: expected a divisor of input_size {input_size}, got {dim_per_component}")
    return input_size // dim_per_component
