"""The common base of norms and distances: components that are pooled, and a fast path to all pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric._support.described import Described
from trimetric.kernels.pairs import PairKernel, Projection
from trimetric.norms.activations import PoolName, make_pool


class Pooled(Described):
    """A module on vectors of size `dim` whose value pools `num_components` components.

    `axioms` says what is promised for every value of the parameters.

    Args:
        dim: size of the last axis.
        num_components: number of components.
        pool: how they are pooled; None takes the pooling of `inner`.
        inner: the module that this one wraps, if any.
    """

    inner: Any
    axioms: Axioms = Axioms()

    def __init__(self, dim: int, *, num_components: int, pool: PoolName | None, inner: Pooled | None = None) -> None:
        super().__init__()
        self.dim = checks.positive_int("dim", dim)
        self.num_components = num_components
        self.inner = inner
        self.own_pool = None if pool is None else make_pool(pool, num_components)

    @property
    def pool(self) -> nn.Module:
        """The module that maps components `(..., k)` to the value `(...)`."""
        return self.inner.pool if self.own_pool is None else self.own_pool

    def pair_kernel(self) -> PairKernel:
        """Make the functions that `all_pairs` calls: one on all points, one on blocks of pairs of projected points.

        What needs no point, such as a constrained weight, is computed here once.
        """
        raise TypeError(f"{type(self).__name__}: expected a norm or a distance")

    @property
    def has_fused_rows(self) -> bool:
        """Whether training passes over pairs run in fused loops on a CPU, which compiled code does not beat."""
        return False

    @property
    def definition_floats(self) -> int:
        """About how many numbers the definition holds at once for each pair."""
        own = 2 * self.dim + 2 * self.num_components
        return own if self.inner is None else max(own, self.inner.definition_floats)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, components={self.num_components}"


def stack_kernels(parts: Iterable[Pooled]) -> PairKernel:
    """Make a kernel whose components are the values of several modules.

    Args:
        parts: norms, or distances.

    Returns:
        A kernel whose projection is the tuple of theirs.
    """
    stacked = [(part.pool, part.pair_kernel()) for part in parts]
    kernels = [kernel for _, kernel in stacked]

    def project(*points: Tensor) -> Projection:
        return tuple(kernel.project(*points) for kernel in kernels)

    def pairs(px: Projection, py: Projection) -> Tensor:
        pieces = zip(stacked, px, py, strict=True)
        return torch.stack([pool(kernel.pairs(x, y)) for (pool, kernel), x, y in pieces], dim=-1)

    floats = max(kernel.floats for kernel in kernels) + 2 * len(kernels)
    return PairKernel(project, pairs, floats, loses_digits=any(kernel.loses_digits for kernel in kernels))
