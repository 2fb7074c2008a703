"""Metric Residual Networks under torchqmet's names."""

from __future__ import annotations

import math
from collections.abc import Collection

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._audit.axioms import NOTHING, Axioms
from trimetric._support import checks
from trimetric.integrations.torchqmet.base import QuasimetricBase
from trimetric.integrations.torchqmet.reductions import ReductionName
from trimetric.kernels.equal_rows import row_keys, zero_at_equal_rows
from trimetric.kernels.pairs import PairKernel, Projection
from trimetric.kernels.rows.layers import run_layers
from trimetric.norms.activations import largest


class MRN(QuasimetricBase):
    r"""Metric Residual Network, as `torchqmet.MRN`: two components of the projections s and a of both points.

    $$\Big(\tfrac1n \textstyle\sum_i (s_i(x) - s_i(y))^2\Big)^{p/2} \quad\text{and}\quad
    \max_j\,(a_j(x) - a_j(y))^+$$

    with perceptrons s and a of one hidden layer and p = `sym_p`.  With $p \le 1$ both are quasimetrics.  The default,
    $p = 2$, is the published form, **which breaks the triangle inequality**; it is kept so that old code runs, with a
    warning, and promises nothing but non-negative values.  `MRNFixed` has $p = 1$.

    Args:
        input_size: the size of the last axis of points.
        sym_p: the power p of the symmetric part.
        proj_hidden_size: hidden units of the projections.
        proj_output_size: outputs of each.
        transforms: () or ("concave_activation",).
        reduction: see `QuasimetricBase`.
        discount: see `QuasimetricBase`.
        warn_if_not_quasimetric: whether to warn where p > 1.

    Examples:
        >>> mrn = MRN(8, sym_p=1)
        >>> mrn.guaranteed_quasimetric, mrn.num_components
        (True, 2)
    """

    def __init__(
        self,
        input_size: int,
        sym_p: float = 2,
        proj_hidden_size: int = 176,
        proj_output_size: int = 16,
        *,
        transforms: Collection[str] = (),
        reduction: ReductionName = "sum",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        checks.finite_number("sym_p", sym_p, above=0)
        checks.positive_int("proj_hidden_size", proj_hidden_size)
        checks.positive_int("proj_output_size", proj_output_size)
        super().__init__(
            input_size,
            2,
            guaranteed_quasimetric=sym_p <= 1,
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )
        self.sym_p = sym_p
        self.sym_proj = _projection(input_size, proj_hidden_size, proj_output_size)
        self.asym_proj = _projection(input_size, proj_hidden_size, proj_output_size)
        if discount is None:
            known = NOTHING.but(nonnegative=True, reflexive=True)
            self.axioms = Axioms(homogeneous=False, translation_invariant=False) if sym_p <= 1 else known
        else:
            self.axioms = NOTHING.but(nonnegative=True)

    def compute_components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch 2"]:
        values = self._of_projections(self._projected(x), self._projected(y))
        # A matrix product may round equal rows differently at different places of a batch.
        return torch.where((x != y).any(dim=-1, keepdim=True), values, 0)

    def pair_kernel(self) -> PairKernel:
        def project(x: Tensor, center: Tensor) -> Projection:  # noqa: ARG001
            return self._projected(x), (x.detach(), row_keys(x))

        def pairs(px: Projection, py: Projection) -> Tensor:
            ((sx, ax), x), ((sy, ay), y) = px, py
            values = self._of_projections((sx.unsqueeze(1), ax.unsqueeze(1)), (sy, ay))
            return self.transforms(zero_at_equal_rows(values, x, y))

        return PairKernel(project, pairs, floats=self.definition_floats)

    @property
    def definition_floats(self) -> int:
        return 6 * self.sym_proj[-1].out_features + 6  # type: ignore[operator]

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}\nsym_p={self.sym_p}"

    def _projected(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return run_layers(self.sym_proj, x), run_layers(self.asym_proj, x)

    def _of_projections(self, px: tuple[Tensor, Tensor], py: tuple[Tensor, Tensor]) -> Tensor:
        (sx, ax), (sy, ay) = px, py
        return torch.stack([self._symmetric(sx - sy), largest((ax - ay).relu())], dim=-1)

    def _symmetric(self, difference: Tensor) -> Tensor:
        if self.sym_p == 2:
            return difference.square().mean(dim=-1)
        length = torch.linalg.vector_norm(difference, dim=-1) / math.sqrt(difference.shape[-1])
        if self.sym_p == 1:
            return length
        # The slope of a root is infinite at 0: there, both the value and the gradient are 0.
        return torch.where(length > 0, torch.where(length > 0, length, 1) ** self.sym_p, 0)


class MRNFixed(MRN):
    """`MRN` with `sym_p=1` by default, which keeps the triangle inequality, as `torchqmet.MRNFixed`.

    Args:
        input_size: the size of the last axis of points.
        sym_p: the power of the symmetric part.
        proj_hidden_size: hidden units of the projections.
        proj_output_size: outputs of each.
        transforms: () or ("concave_activation",).
        reduction: see `QuasimetricBase`.
        discount: see `QuasimetricBase`.
        warn_if_not_quasimetric: whether to warn where `sym_p` is above 1.

    Examples:
        >>> MRNFixed(8).axioms.triangle
        True
    """

    def __init__(
        self,
        input_size: int,
        sym_p: float = 1,
        proj_hidden_size: int = 176,
        proj_output_size: int = 16,
        *,
        transforms: Collection[str] = (),
        reduction: ReductionName = "sum",
        discount: float | None = None,
        warn_if_not_quasimetric: bool = True,
    ) -> None:
        super().__init__(
            input_size,
            sym_p,
            proj_hidden_size,
            proj_output_size,
            transforms=transforms,
            reduction=reduction,
            discount=discount,
            warn_if_not_quasimetric=warn_if_not_quasimetric,
        )


def _projection(input_size: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(input_size, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
