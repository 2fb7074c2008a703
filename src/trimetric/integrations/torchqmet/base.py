"""The common base of torchqmet's quasimetrics: components, transforms, a reduction."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Collection
from typing import Any

from jaxtyping import Float
from torch import Tensor

from trimetric._audit.axioms import NOTHING, Axioms
from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.integrations.torchqmet.reductions import ReductionName, make_reduction
from trimetric.integrations.torchqmet.transforms import make_transforms
from trimetric.kernels.pairs import PairKernel

NAMED_SO = Axioms(homogeneous=False, translation_invariant=False)  # all that "guaranteed quasimetric" says


class QuasimetricBase(Distance):
    """A distance with the interface of torchqmet's class of this name, which is also a `trimetric.Distance`.

    So it can be passed wherever a distance is expected: to `all_pairs`, `audit`, `Siamese`, `fit`, an index.  A
    subclass implements `compute_components`.

    Args:
        input_size: the size of the last axis of points.
        num_components: number of components.
        guaranteed_quasimetric: whether components and reduction keep every axiom of a quasimetric, whatever the
            parameters.
        transforms: applied to the components, by name: () or ("concave_activation",).
        reduction: how the components are reduced to a distance: "sum", "max", "mean", "maxmean" or
            "deep_linear_net_weighted_sum".
        discount: if it is a number, the module returns `discount ** distance`, which is not a distance.
        warn_if_not_quasimetric: whether to warn if the axioms are not guaranteed.

    Examples:
        >>> import torch
        >>> class L2(QuasimetricBase):
        ...     def __init__(self, input_size):
        ...         super().__init__(
        ...             input_size, 1, guaranteed_quasimetric=True, transforms=[], reduction="sum", discount=None
        ...         )
        ...     def compute_components(self, x, y):
        ...         return (x - y).norm(p=2, dim=-1, keepdim=True)
        >>> L2(2)(torch.zeros(2), torch.tensor([3.0, 4.0]))
        tensor(5.)
    """

    def __init__(
        self,
        input_size: int,
        num_components: int,
        *,
        guaranteed_quasimetric: bool,
        transforms: Collection[str] = (),
        reduction: ReductionName = "maxmean",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        checks.positive_int("input_size", input_size)
        checks.positive_int("num_components", num_components)
        super().__init__(input_size, num_components=num_components, pool=None)
        self.guaranteed_quasimetric = checks.boolean("guaranteed_quasimetric", guaranteed_quasimetric)
        self.discount = discount
        self.transforms = make_transforms(transforms, num_components)
        self.reduction = make_reduction(reduction, num_components, discount)
        promised = NAMED_SO if guaranteed_quasimetric else NOTHING
        self.axioms = promised if discount is None else NOTHING.but(nonnegative=promised.nonnegative)
        if checks.boolean("warn_if_not_quasimetric", warn_if_not_quasimetric) and not guaranteed_quasimetric:
            warnings.warn(
                f"{type(self).__name__} may break the triangle inequality with these arguments",
                UserWarning,
                stacklevel=3,
            )

    @property
    def input_size(self) -> int:
        """The size of the last axis of points."""
        return self.dim

    @property
    def pool(self) -> Any:
        """The reduction."""
        return self.reduction

    @abstractmethod
    def compute_components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        """Compute the components, before any transform.

        Args:
            x: points.
            y: points whose leading axes broadcast with those of `x`.
        """

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return self.transforms(self.compute_components(x, y))

    def extra_repr(self) -> str:
        return (
            f"guaranteed_quasimetric={self.guaranteed_quasimetric}\n"
            f"input_size={self.input_size}, num_components={self.num_components}, discount={self.discount}"
        )


class Backed(QuasimetricBase):
    """A quasimetric of torchqmet whose components are computed by a distance of Trimetric.

    Args:
        backing: the distance.
        transforms: as in `QuasimetricBase`.
        reduction: as in `QuasimetricBase`.
        discount: as in `QuasimetricBase`.
        warn_if_not_quasimetric: accepted as torchqmet accepts it; there is nothing to warn of.
    """

    def __init__(
        self,
        backing: Distance,
        *,
        transforms: Collection[str],
        reduction: ReductionName,
        discount: float | None,
        warn_if_not_quasimetric: bool,
    ) -> None:
        super().__init__(
            backing.dim,
            backing.num_components,
            guaranteed_quasimetric=True,
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )
        self.inner = backing
        axioms = backing.axioms.but(definite=False, homogeneous=backing.axioms.homogeneous and not self.transforms)
        self.axioms = axioms if discount is None else NOTHING.but(nonnegative=True, symmetric=axioms.symmetric)

    def compute_components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return self.inner.components(x, y)

    @property
    def has_fused_rows(self) -> bool:
        return self.inner.has_fused_rows

    @property
    def definition_floats(self) -> int:
        return self.inner.definition_floats

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        return self.transforms(self.inner.row_components(points, start, end))

    @property
    def reads_differences(self) -> bool:
        return self.inner.reads_differences

    def difference_components(self, difference: Tensor) -> Float[Tensor, "pairs k"]:
        return self.transforms(self.inner.difference_components(difference))

    def pair_kernel(self) -> PairKernel:
        kernel = self.inner.pair_kernel()
        if not self.transforms:
            return kernel
        fused = kernel.fused
        for transform in self.transforms if fused is not None else ():
            fused = fused.below_lines(transform.slope, transform.offset)  # type: ignore[union-attr]
        return kernel.then(self.transforms, floats=3 * self.num_components)._replace(fused=fused)
