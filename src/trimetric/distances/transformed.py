"""Distances that are a function of the components of another distance."""

from __future__ import annotations

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor

from trimetric.distances.base import Distance
from trimetric.kernels.fused import FusedPairs
from trimetric.kernels.pairs import PairKernel


class TransformedDistance(Distance):
    """A distance with components `transform(c)`, where `c` are the components of an `inner` distance.

    A subclass implements `transform` and says in its `axioms` what that keeps.  The fast paths are those of the inner
    distance.

    Args:
        dim: size of the last axis.
        num_components: number of components that `transform` makes.
        pool: how they are pooled; None takes the pooling of `inner`.
        inner: the distance whose components are transformed.

    Examples:
        >>> import torch
        >>> from trimetric import Euclidean, NormInduced
        >>> class Doubled(TransformedDistance):
        ...     def transform(self, components):
        ...         return 2 * components
        >>> doubled = Doubled(2, num_components=1, pool=None, inner=NormInduced(Euclidean(2)))
        >>> doubled(torch.zeros(2), torch.tensor([3.0, 4.0]))
        tensor(10.)
    """

    @abstractmethod
    def transform(self, components: Float[Tensor, "*batch j"]) -> Float[Tensor, "*batch k"]:
        """Map the components of the inner distance to those of this one.

        Args:
            components: those of the inner distance, on the last axis.
        """

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return self.transform(self.inner.components(x, y))

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        return self.transform(self.inner.row_components(points, start, end))

    @property
    def reads_differences(self) -> bool:
        return type(self).components is TransformedDistance.components and self.inner.reads_differences

    def difference_components(self, difference: Tensor) -> Float[Tensor, "pairs k"]:
        return self.transform(self.inner.difference_components(difference))

    def pair_kernel(self) -> PairKernel:
        inner = self.inner.pair_kernel()
        kernel = inner.then(self.transform, floats=3 * self.num_components)
        return kernel if inner.fused is None else kernel._replace(fused=self._fused_transform(inner.fused))

    def fuse(self, fused: FusedPairs) -> FusedPairs | None:  # noqa: ARG002
        """Say what `transform` does as a step of a fused kernel; None if no such step does it.

        Args:
            fused: the kernel of the inner distance.
        """
        return None

    def _fused_transform(self, fused: FusedPairs) -> FusedPairs | None:
        # A subclass with a transform of its own has not said how to fuse it.
        owner = next(cls for cls in type(self).__mro__ if "fuse" in vars(cls) or "transform" in vars(cls))
        return self.fuse(fused) if "fuse" in vars(owner) else None
