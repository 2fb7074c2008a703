"""Wide Norms: many small Euclidean components, pooled."""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric.kernels.fused import FusedPairs
from trimetric.kernels.pairs import LinearSplit, PairKernel, Projection
from trimetric.kernels.projections import add_product, euclidean_pairs, rectified_pairs, with_squares
from trimetric.kernels.rows.group_norms import group_norms, projected_norms
from trimetric.kernels.rows.linear import linear
from trimetric.kernels.rows.orthants import both_signs
from trimetric.kernels.scratch import Scratch
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

    Args:
        dim: size of the last axis.
        components: number of matrices $W_i$.
        width: number of rows of each.
        symmetric: whether $\|x\| = \|{-x}\|$.
        form: of the components of an asymmetric norm: "rectified" or "paper".
        monotone: whether the norm is monotone in the positive orthant; for symmetric norms only.
        pool: how the components are pooled: "mean", "max" or "maxmean".

    Examples:
        >>> norm = WideNorm(8, components=4, width=2)
        >>> norm(torch.randn(5, 8)).shape
        torch.Size([5])
    """

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

    @property
    def has_fused_rows(self) -> bool:
        return True

    def components(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        return self.pieces(x)

    def linear_split(self) -> LinearSplit:
        return self.pieces.linear_split()

    def pair_kernel(self) -> PairKernel:
        return self.pieces.pair_kernel()


class _Symmetric(nn.Module):
    """Components `||W_i x||_2`."""

    def __init__(self, dim: int, components: int, width: int, *, monotone: bool) -> None:
        super().__init__()
        self.monotone = monotone
        self.raw_weight = nn.Parameter(torch.randn(components, width, dim) / math.sqrt(width))

    @property
    def weight(self) -> Tensor:
        return nonnegative(self.raw_weight) if self.monotone else self.raw_weight

    def forward(self, x: Tensor) -> Tensor:
        return projected_norms(x, self.raw_weight, nonnegative=self.monotone)

    def linear_split(self) -> LinearSplit:
        return LinearSplit(self._rows, self._lengths, self.raw_weight.shape[:2].numel())

    def _rows(self, x: Tensor) -> Tensor:
        return _rows(x, self.weight)

    def _lengths(self, u: Tensor) -> Tensor:
        return _group_norms(u, len(self.raw_weight))

    def pair_kernel(self) -> PairKernel:
        scratch, components = Scratch(), len(self.raw_weight)
        return PairKernel(
            project=lambda x: with_squares(self._rows(x), components),
            pairs=lambda px, py: euclidean_pairs(px, py, scratch),
            floats=3 * components,
            loses_digits=True,
        )


class _Rectified(nn.Module):
    """Components `||relu(W_i x)||_2`."""

    def __init__(self, dim: int, components: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(components, width, dim) / math.sqrt(width))

    def forward(self, x: Tensor) -> Tensor:
        return projected_norms(x, self.weight, rectified=True)

    def linear_split(self) -> LinearSplit:
        return LinearSplit(self._rows, self._lengths, self.weight.shape[:2].numel())

    def _rows(self, x: Tensor) -> Tensor:
        return _rows(x, self.weight)

    def _lengths(self, u: Tensor) -> Tensor:
        return group_norms(u, len(self.weight), rectified=True)

    def pair_kernel(self) -> PairKernel:
        scratch, components = Scratch(), len(self.weight)
        return PairKernel(
            # Transposed in memory: rectified_pairs walks along the points of one coordinate.
            project=lambda x: (self.weight.flatten(0, 1) @ x.mT).mT,
            pairs=lambda px, py: rectified_pairs(px, py, components, scratch),
            floats=3 * components,
            loses_digits=True,
            fused=FusedPairs(
                self._rows, "relu" if self.weight.shape[1] == 1 else "rectified", components, loses_digits=True
            ),
        )


class _Orthant(nn.Module):
    """Components `||W_i relu(x :: -x)||_2` with `W_i = (A_i, B_i) >= 0`.

    As A relu(x) + B relu(-x) = ((A + B)|x| + (A - B) x) / 2, the linear features are x and (A - B) x / 2.
    """

    def __init__(self, dim: int, components: int, width: int) -> None:
        super().__init__()
        self.raw_weight = nn.Parameter(torch.randn(components, width, 2 * dim) / (dim * math.sqrt(width)))

    @property
    def weight(self) -> Tensor:
        return nonnegative(self.raw_weight)

    def forward(self, x: Tensor) -> Tensor:
        return projected_norms(both_signs(x), self.raw_weight, nonnegative=True)

    def linear_split(self) -> LinearSplit:
        components, width, both = self.raw_weight.shape
        return LinearSplit(self._features, self._from_features, both // 2 + components * width)

    def _features(self, x: Tensor) -> Tensor:
        return torch.cat(self._project(x), dim=-1)

    def _from_features(self, u: Tensor) -> Tensor:
        a, b = self.weight.flatten(0, 1).chunk(2, dim=-1)
        dim = a.shape[-1]
        return _group_norms(u[..., dim:] + linear(u[..., :dim].abs(), (a + b) / 2), len(self.raw_weight))

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor]:
        a, b = self.weight.chunk(2, dim=-1)
        return x, _rows(x, (a - b) / 2)

    def pair_kernel(self) -> PairKernel:
        scratch = Scratch()
        components, width, _ = self.raw_weight.shape
        a, b = self.weight.flatten(0, 1).chunk(2, dim=-1)
        half_sum = ((a + b) / 2).mT

        def pairs(px: Projection, py: Projection) -> Tensor:
            (x, x_split), (y, y_split) = px, py
            size = scratch.differences("size", x, y).abs_().flatten(0, 1)
            split = scratch.differences("split", x_split, y_split).flatten(0, 1)
            rows = add_product(split, size, half_sum)
            return _group_norms(rows, components).unflatten(0, (len(x), len(y)))

        return PairKernel(self._project, pairs, components * (2 * width + 1) + len(half_sum), loses_digits=True)


def _group_norms(rows: Tensor, components: int) -> Tensor:
    return group_norms(rows, components, rectified=False)


def _rows(x: Tensor, weight: Float[Tensor, "k w in"]) -> Float[Tensor, "*batch k*w"]:
    return linear(x, weight.flatten(0, 1))
