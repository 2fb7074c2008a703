"""What norms and distances share: components that are pooled, and a fast way to all pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.described import Described
from trimetric.axioms import Axioms
from trimetric.kernels.pairs import PairFunction, Projection
from trimetric.norms.activations import PoolName, make_pool


class Pooled(Described):
    """A module on vectors of size `dim` whose value pools `num_components` components.

    A wrapper hands its `inner` module over, and takes from it the projection and, with `pool=None`, the
    pooling.  `axioms` says what is promised for every value of the parameters.

    `all_pairs` computes `project` once a point, and calls the function that `pairwise` makes on blocks of
    projected points.  By default both are the definition.
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
        """Maps components `(..., k)` to the value `(...)`."""
        return self.inner.pool if self.own_pool is None else self.own_pool

    def pairwise(self) -> PairFunction:
        """The components of all pairs of projected points; what needs no point is computed here, once."""
        raise TypeError(f"{type(self).__name__}: a norm or a distance was expected here")

    @property
    def pair_floats(self) -> int:
        """About how many numbers the function of `pairwise` holds at once for each pair."""
        return 2 * self.definition_floats

    @property
    def definition_floats(self) -> int:
        """About how many numbers the definition holds at once for each pair."""
        own = 2 * self.dim + 2 * self.num_components
        return own if self.inner is None else max(own, self.inner.definition_floats)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, components={self.num_components}"


def pooled_pairs(parts: Iterable[Pooled]) -> PairFunction:
    """The values of several modules as components; reads a tuple of their projections."""
    functions = [(part.pool, part.pairwise()) for part in parts]

    def components(px: Projection, py: Projection) -> Tensor:
        pieces = zip(functions, px, py, strict=True)
        return torch.stack([pool(pairs(x, y)) for (pool, pairs), x, y in pieces], dim=-1)

    return components
