"""Poisson Quasimetric Embeddings under torchqmet's names."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from trimetric._support import checks
from trimetric.distances.poisson import PoissonQuasimetric
from trimetric.integrations.torchqmet.base import Backed
from trimetric.integrations.torchqmet.iqe import number_of_components
from trimetric.integrations.torchqmet.reductions import ReductionName
from trimetric.kernels.pairs import PairKernel


class PQE(Backed):
    """Poisson Quasimetric Embedding, as `torchqmet.PQE` (`PoissonQuasimetric`).

    "lebesgue" with "halfline" (PQE-LH) is the published function, with torchqmet's scale: the rate of a component is
    the mean over its coordinates, where `PoissonQuasimetric` takes their sum.  "gaussian" with "gaussian" (PQE-GG) is
    **not** the published function: ours adds a half-line to the Gaussian region instead of weighing the region
    (deviation D14), so that gradients do not vanish far from 0.  It has the same guarantee but other values, and a
    warning says so.

    Args:
        input_size: the size of the last axis of points.
        dim_per_component: coordinates of each component; divides `input_size`.
        measure: "lebesgue" or "gaussian".
        shape: "halfline", only with the measure "lebesgue", or "gaussian", only with the measure "gaussian".
        transforms: () or ("concave_activation",).
        reduction: see `QuasimetricBase`.
        discount: see `QuasimetricBase`.
        warn_if_not_quasimetric: accepted; there is nothing to warn of.

    Examples:
        >>> import torch
        >>> pqe = PQE(2, 1, reduction="sum")
        >>> round(pqe(torch.ones(2), torch.zeros(2)).item(), 4)  # 1 - 1/e for each
        1.2642
    """

    def __init__(
        self,
        input_size: int,
        dim_per_component: int = 4,
        measure: Literal["lebesgue", "gaussian"] = "lebesgue",
        shape: Literal["halfline", "gaussian"] = "halfline",
        *,
        transforms: Collection[str] = (),
        reduction: ReductionName = "deep_linear_net_weighted_sum",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        checks.one_of("measure", measure, ("lebesgue", "gaussian"))
        checks.one_of("shape", shape, ("halfline", "gaussian"))
        if (measure == "gaussian") != (shape == "gaussian"):
            raise ValueError(
                "measure, shape: expected 'lebesgue' with 'halfline' or 'gaussian' with 'gaussian', which are those "
                f"that PoissonQuasimetric has, got {measure!r} with {shape!r}"
            )
        if shape == "gaussian":
            warnings.warn(
                "PQE-GG of Trimetric is another function than torchqmet's, with the same guarantee: see deviation D14",
                UserWarning,
                stacklevel=2 if type(self) is PQE else 3,
            )
        poisson = PoissonQuasimetric(
            input_size,
            components=number_of_components(input_size, dim_per_component),
            shape="half-line" if shape == "halfline" else "gaussian",
        )
        poisson.raw_weight.requires_grad_(False)  # the reduction has the weights of the components
        super().__init__(
            poisson,
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )
        self.measure, self.shape = measure, shape
        self.factor = 1 / dim_per_component if shape == "halfline" else 1.0

    def compute_components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return super().compute_components(self.factor * x, self.factor * y)

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        return super().row_components(self.factor * points, start, end)

    def pair_kernel(self) -> PairKernel:
        kernel = super().pair_kernel()
        return kernel._replace(project=lambda x, center: kernel.project(self.factor * x, self.factor * center))


class PQELH(PQE):
    """PQE with the Lebesgue measure and half-lines, as `torchqmet.PQELH`.

    Args:
        input_size: the size of the last axis of points.
        dim_per_component: coordinates of each component; divides `input_size`.
        transforms: () or ("concave_activation",).
        reduction: see `QuasimetricBase`.
        discount: see `QuasimetricBase`.
        warn_if_not_quasimetric: accepted; there is nothing to warn of.

    Examples:
        >>> PQELH(32).num_components
        8
    """

    def __init__(
        self,
        input_size: int,
        dim_per_component: int = 4,
        *,
        transforms: Collection[str] = (),
        reduction: ReductionName = "deep_linear_net_weighted_sum",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        super().__init__(
            input_size,
            dim_per_component,
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )


class PQEGG(PQE):
    """PQE with Gaussian regions, as `torchqmet.PQEGG`; **another function than the published one**, see `PQE`.

    Args:
        input_size: the size of the last axis of points.
        dim_per_component: coordinates of each component; divides `input_size`.
        transforms: () or ("concave_activation",).
        reduction: see `QuasimetricBase`.
        discount: see `QuasimetricBase`.
        warn_if_not_quasimetric: accepted; there is nothing to warn of.

    Examples:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     PQEGG(32).num_components
        8
    """

    def __init__(
        self,
        input_size: int,
        dim_per_component: int = 4,
        *,
        transforms: Collection[str] = (),
        reduction: ReductionName = "deep_linear_net_weighted_sum",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        super().__init__(
            input_size,
            dim_per_component,
            "gaussian",
            "gaussian",
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )
