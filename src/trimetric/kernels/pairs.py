"""How the components of all pairs are computed: once per point, then once per block of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor

from trimetric.kernels.fused import FusedPairs
from trimetric.kernels.scratch import Scratch

# What all_pairs keeps of n points: tensors with n rows, nested in tuples as the object that made them likes.
Projection = Any
# Maps the projections of n and of m points to the components (n, m, k) of all pairs.
PairFunction = Callable[[Projection, Projection], Tensor]


class PairKernel(NamedTuple):
    """The components of all pairs of points, in two steps.

    Attributes:
        project: the part that needs one point only.  For a norm a function of the points `(n, dim)`; for a distance
            also of a point `center` amid all points, which a translation-invariant part may subtract to keep digits.
        pairs: the components `(n, m, k)` of all pairs of projected points.
        floats: about how many numbers `pairs` holds at once for each pair.
        loses_digits: whether `pairs` takes differences of rounded projections, so that close pairs have to be
            computed again from the points.
        fused: a faster way to the pooled components, where there is one.  Whoever replaces `pairs` replaces it too.
    """

    project: Callable[..., Projection]
    pairs: PairFunction
    floats: int
    loses_digits: bool = False
    fused: FusedPairs | None = None

    def then(self, transform: Callable[[Tensor], Tensor], *, floats: int) -> PairKernel:
        """Apply a function to the components.

        Args:
            transform: maps components `(n, m, k)` to other components.
            floats: numbers per pair that it needs in addition.

        Returns:
            A kernel with the same projection.
        """
        return self._replace(
            pairs=lambda px, py: transform(self.pairs(px, py)), floats=self.floats + floats, fused=None
        )


class LinearSplit(NamedTuple):
    """The components of a norm as `components(linear(x))`, where `linear` is a linear map.

    The linear part of a difference of two points is the difference of their linear parts, so it is computed once per
    point and not once per pair.

    Attributes:
        linear: maps `(..., dim)` to `(..., size)`.
        components: maps `(..., size)` to the components `(..., k)`.
        size: number of linear features.
        exact: whether `linear` does not round, such as the identity.
    """

    linear: Callable[[Tensor], Tensor]
    components: Callable[[Tensor], Tensor]
    size: int
    exact: bool = False


def kernel_from_split(split: LinearSplit, *, floats: int) -> PairKernel:
    """Derive the kernel of a norm from its linear split, for norms without a kernel of their own.

    Args:
        split: the norm.
        floats: about how many numbers `split.components` holds at once for each pair.

    Returns:
        A kernel that evaluates `split.components` on the differences of all pairs.
    """
    scratch = Scratch()

    def pairs(px: Projection, py: Projection) -> Tensor:
        return split.components(scratch.differences("linear", px, py))

    return PairKernel(split.linear, pairs, floats, loses_digits=not split.exact)
