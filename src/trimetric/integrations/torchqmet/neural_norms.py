"""Deep Norm and Wide Norm under torchqmet's names."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from trimetric import norms
from trimetric._support import checks
from trimetric.distances.norm_induced import NormInduced
from trimetric.integrations.torchqmet.base import Backed
from trimetric.integrations.torchqmet.reductions import ReductionName

Activation = Literal["relu", "maxrelu"]


class DeepNorm(Backed):
    r"""Deep Norm, as `torchqmet.DeepNorm`: the distance of a `trimetric.DeepNorm` of layers of equal width.

    A maxrelu as the *last* activation may be negative, which a distance cannot be, so it is refused.  The distance is
    $\|y - x\|$; if you need the convention $\|x - y\|$, as for weights from other sources, change their signs.

    Args:
        input_size: the size of the last axis of points.
        num_components: number of components, and of units in each layer.
        num_layers: number of layers.
        activation: of all layers but the last: "relu" or "maxrelu", which needs an even `num_components`.
        final_activation: of the last layer: "relu", or None for the same as the others.
        symmetric: whether d(x, y) = d(y, x): each component is then added to that of the reverse direction.
        transforms: () or ("concave_activation",).
        reduction: see `QuasimetricBase`.
        discount: see `QuasimetricBase`.
        warn_if_not_quasimetric: accepted; there is nothing to warn of.

    Examples:
        >>> import torch
        >>> DeepNorm(8, 16)(torch.randn(5, 8), torch.randn(5, 8)).shape
        torch.Size([5])
    """

    def __init__(
        self,
        input_size: int,
        num_components: int,
        num_layers: int = 3,
        activation: Activation = "relu",
        final_activation: Activation | None = None,
        symmetric: bool = False,
        *,
        transforms: Collection[str] = ("concave_activation",),
        reduction: ReductionName = "maxmean",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        checks.positive_int("num_components", num_components)
        checks.positive_int("num_layers", num_layers)
        checks.one_of("activation", activation, ("relu", "maxrelu"))
        last = activation if final_activation is None else final_activation
        checks.one_of("final_activation", last, ("relu", "maxrelu"))
        if last == "maxrelu":
            raise ValueError(
                "final_activation: expected 'relu', as the components of a final 'maxrelu' may be negative and break "
                f"the triangle inequality, got {final_activation!r} with activation={activation!r}"
            )
        norm: norms.Norm = norms.DeepNorm(
            input_size, widths=(num_components,) * num_layers, activation=activation, pool="mean"
        )
        super().__init__(
            NormInduced(norms.Symmetrized(norm) if checks.boolean("symmetric", symmetric) else norm),
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )
        self.symmetric = symmetric


class WideNorm(Backed):
    r"""Wide Norm, as `torchqmet.WideNorm`: the distance of a `trimetric.WideNorm` in the form of the paper.

    The distance is $\|y - x\|$; if you need the convention $\|x - y\|$, as for weights from other sources, exchange the
    two halves of their last axis.

    Args:
        input_size: the size of the last axis of points.
        num_components: number of components.
        output_component_size: size of the vector whose length is a component.
        symmetric: whether d(x, y) = d(y, x).
        transforms: () or ("concave_activation",).
        reduction: see `QuasimetricBase`.
        discount: see `QuasimetricBase`.
        warn_if_not_quasimetric: accepted; there is nothing to warn of.

    Examples:
        >>> import torch
        >>> WideNorm(8, 4)(torch.randn(5, 8), torch.randn(5, 8)).shape
        torch.Size([5])
    """

    def __init__(
        self,
        input_size: int,
        num_components: int,
        output_component_size: int = 32,
        symmetric: bool = False,
        *,
        transforms: Collection[str] = ("concave_activation",),
        reduction: ReductionName = "maxmean",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        checks.positive_int("num_components", num_components)
        checks.positive_int("output_component_size", output_component_size)
        symmetric = checks.boolean("symmetric", symmetric)
        norm = norms.WideNorm(
            input_size,
            components=num_components,
            width=output_component_size,
            symmetric=symmetric,
            form="rectified" if symmetric else "paper",
            pool="mean",
        )
        super().__init__(
            NormInduced(norm),
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )
        self.symmetric = symmetric
