"""The interface of a norm."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor

from trimetric._support import checks
from trimetric.kernels.pairs import LinearSplit, PairKernel, kernel_from_split
from trimetric.norms.pooled import Pooled


class Norm(Pooled, ABC):
    r"""A map $x \mapsto \|x\|$ from `(..., dim)` to `(...)`: at least an asymmetric semi-norm.

    A subclass only has to implement `components`, each an asymmetric semi-norm; the norm pools them.  The other methods
    are for speed: a norm that starts with a linear map describes it in `linear_split`, from which fast paths to
    many pairs are derived; a norm with a faster way to all pairs implements `pair_kernel`.

    Args:
        dim: size of the last axis.
        num_components: number of components.
        pool: how they are pooled: "mean", "max" or "maxmean"; None takes the pooling of `inner`.
        inner: the norm that this one wraps, if any.

    Examples:
        >>> import torch
        >>> class Manhattan(Norm):
        ...     def components(self, x):
        ...         return x.abs().sum(dim=-1, keepdim=True)
        >>> Manhattan(2, num_components=1, pool="mean")(torch.tensor([3.0, -4.0]))
        tensor(7.)
    """

    @abstractmethod
    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        """Compute the semi-norms that are pooled.

        Args:
            x: vectors on the last axis.

        Returns:
            The components on the last axis.
        """

    def forward(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch"]:
        """Compute the norm of each vector.

        Args:
            x: vectors on the last axis.
        """
        checks.same_dtype("x", checks.vectors("x", x, self.dim), self)
        return self.pool(self.components(x))

    def linear_split(self) -> LinearSplit:
        """Describe the components as a function of linear features; by default of the vector itself."""
        return LinearSplit(_identity, self.components, self.dim, exact=True)

    def split_both_ways(self) -> LinearSplit:
        """Describe `components(x) + components(-x)` in the same way, for `Symmetrized`."""
        split = self.linear_split()
        return split._replace(components=lambda u: split.components(u) + split.components(-u))

    def pair_kernel(self) -> PairKernel:
        return kernel_from_split(self.linear_split(), floats=2 * self.definition_floats)

    @property
    def definition_floats(self) -> int:
        split = self.linear_split()
        own = 2 * self.dim + (2 * self.num_components if split.exact else 3 * split.size)
        return own if self.inner is None else max(own, self.inner.definition_floats)


def _identity(x: Tensor) -> Tensor:
    return x
