"""Wide Norms: many small Euclidean components, pooled."""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric._support import checks
from trimetric.axioms import Axioms
from trimetric.kernels.pairs import PairFunction, Projection
from trimetric.kernels.projections import Scratch, add_product, euclidean_pairs, rectified_pairs, with_squares
from trimetric.norms.activations import PoolName
from trimetric.norms.base import Norm
from trimetric.norms.constraints import nonnegative

WideForm = Literal["rectified", "paper"]


class WideNorm(Norm):
    r"""The pooled norms $\mathrm{maxmean}_i\,\|x\|_i$ of `components` pieces of `width` rows each.

    - `form="rectified"` (the default): $\|\mathrm{relu}(W_i x)\|_2$ with a free $W_i$.  An asymmetric semi-norm
      because relu is homogeneous and subadditive and the 2-norm is monotone on the positive orthant;
      universal under max and maxmean, because it contains $\mathrm{relu}(w \cdot x)$ for every $w$.
    - `form="paper"`: $\|W_i\,\mathrm{relu}(x :: -x)\|_2$ with $W_i \ge 0$ (Propositions 4 and 5).  It is monotone in
      $\mathrm{relu}(x :: -x)$, hence *not* universal (deviation D2).
    - `symmetric=True`: $\|W_i x\|_2$, a maximum and mean of Mahalanobis norms.  With `monotone=True`, $W_i \ge 0$
      and the norm is monotone in the positive orthant (Proposition 5), as `Asymmetrized` needs.
    """

    splits = True

    def __init__(
        self,
        dim: int,
        *,
        components: int = 32,
        width: int = 32,
        symmetric: bool = False,
        form: WideForm = "rectified",
        monotone: bool = False,
        pool: PoolName = "maxmean",
    ) -> None:
        symmetric, monotone = checks.boolean("symmetric", symmetric), checks.boolean("monotone", monotone)
        checks.positive_int("components", components)
        checks.positive_int("width", width)
        checks.one_of("form", form, ("rectified", "paper"))
        if symmetric and form == "paper":
            raise ValueError("form: 'paper' is asymmetric, so expected symmetric=False with it, got symmetric=True")
        if monotone and not symmetric:
            raise ValueError("monotone: expected symmetric=True with it, got symmetric=False")
        super().__init__(dim, num_components=components, pool=pool)
        self.width = width
        if symmetric:
            self.pieces = _Symmetric(self.dim, components, width, monotone=monotone)
        else:
            self.pieces = {"rectified": _Rectified, "paper": _Orthant}[form](self.dim, components, width)
        self.axioms = Axioms(symmetric=symmetric, monotone=monotone)

    @property
    def weight(self) -> Float[Tensor, "k w in"]:
        """The matrices W_i that the norm uses."""
        return self.pieces.weight

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        return self.pieces(x)

    def linear(self, x: Float[Tensor, "n dim"]) -> Float[Tensor, "n u"]:
        return self.pieces.linear(x)

    def components_of(self, u: Float[Tensor, "*batch u"]) -> Float[Tensor, "*batch k"]:
        return self.pieces.components_of(u)

    def project(self, x: Float[Tensor, "n dim"]) -> Projection:
        return self.pieces.project(x)

    def pairwise(self) -> PairFunction:
        return self.pieces.pairwise()

    @property
    def pair_floats(self) -> int:
        return self.pieces.pair_floats

    @property
    def definition_floats(self) -> int:
        return 2 * self.dim + 2 * self.num_components * self.width


class _Symmetric(nn.Module):
    """Components `||W_i x||_2`."""

    def __init__(self, dim: int, components: int, width: int, *, monotone: bool) -> None:
        super().__init__()
        self.monotone = monotone
        self.raw_weight = nn.Parameter(torch.randn(components, width, dim) / math.sqrt(width))
        self.pair_floats = 3 * components

    @property
    def weight(self) -> Tensor:
        return nonnegative(self.raw_weight) if self.monotone else self.raw_weight

    def forward(self, x: Tensor) -> Tensor:
        return self.components_of(self.linear(x))

    def linear(self, x: Tensor) -> Tensor:
        return _rows(x, self.weight)

    def components_of(self, u: Tensor) -> Tensor:
        return _group_norms(u, self.raw_weight.shape[0])

    def project(self, x: Tensor) -> Projection:
        return with_squares(_rows(x, self.weight), self.raw_weight.shape[0])

    def pairwise(self) -> PairFunction:
        scratch = Scratch()
        return lambda px, py: euclidean_pairs(px, py, scratch)


class _Rectified(nn.Module):
    """Components `||relu(W_i x)||_2`."""

    def __init__(self, dim: int, components: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(components, width, dim) / math.sqrt(width))
        self.pair_floats = 3 * components

    def forward(self, x: Tensor) -> Tensor:
        return self.components_of(self.linear(x))

    def linear(self, x: Tensor) -> Tensor:
        return _rows(x, self.weight)

    def components_of(self, u: Tensor) -> Tensor:
        return _group_norms(u.relu(), self.weight.shape[0])

    def project(self, x: Tensor) -> Projection:
        # Transposed in memory: rectified_pairs walks along the points of one coordinate.
        return (self.weight.flatten(0, 1) @ x.mT).mT

    def pairwise(self) -> PairFunction:
        scratch = Scratch()
        return lambda px, py: rectified_pairs(px, py, self.weight.shape[0], scratch)


class _Orthant(nn.Module):
    """Components `||W_i relu(x :: -x)||_2` with `W_i = (A_i, B_i) >= 0`.

    Over pairs, with d = y - x:  A relu(d) + B relu(-d) = ((A + B)|d| + (A - B) d) / 2, whose second part
    splits into a projection of x and one of y.
    """

    def __init__(self, dim: int, components: int, width: int) -> None:
        super().__init__()
        self.raw_weight = nn.Parameter(torch.randn(components, width, 2 * dim) / (dim * math.sqrt(width)))
        self.pair_floats = 2 * components * width + dim + components

    @property
    def weight(self) -> Tensor:
        return nonnegative(self.raw_weight)

    def forward(self, x: Tensor) -> Tensor:
        return _group_norms(_rows(torch.cat([x, -x], dim=-1).relu(), self.weight), self.raw_weight.shape[0])

    def linear(self, x: Tensor) -> Tensor:
        return torch.cat(self.project(x), dim=-1)

    def components_of(self, u: Tensor) -> Tensor:
        a, b = self.weight.flatten(0, 1).chunk(2, dim=-1)
        dim = a.shape[-1]
        return _group_norms(u[..., dim:] + F.linear(u[..., :dim].abs(), (a + b) / 2), self.raw_weight.shape[0])

    def project(self, x: Tensor) -> tuple[Tensor, Tensor]:
        a, b = self.weight.chunk(2, dim=-1)
        return x, _rows(x, (a - b) / 2)

    def pairwise(self) -> PairFunction:
        scratch = Scratch()
        a, b = self.weight.flatten(0, 1).chunk(2, dim=-1)
        half_sum = ((a + b) / 2).mT

        def components(px: Projection, py: Projection) -> Tensor:
            (x, x_split), (y, y_split) = px, py
            size = scratch.differences("size", x, y).abs_().flatten(0, 1)
            split = scratch.differences("split", x_split, y_split).flatten(0, 1)
            rows = add_product(split, size, half_sum)
            return _group_norms(rows, self.raw_weight.shape[0]).unflatten(0, (len(x), len(y)))

        return components


def _group_norms(rows: Tensor, components: int) -> Tensor:
    return torch.linalg.vector_norm(rows.unflatten(-1, (components, -1)), dim=-1)


def _rows(x: Tensor, weight: Float[Tensor, "k w in"]) -> Float[Tensor, "*batch k*w"]:
    return x @ weight.flatten(0, 1).mT
