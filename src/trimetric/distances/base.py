"""What every distance is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks
from trimetric.kernels.pairs import PairKernel
from trimetric.norms.pooled import Pooled


class Distance(Pooled, ABC):
    r"""A map $(x, y) \mapsto d(x, y)$ from two broadcastable tensors `(..., dim)` to `(...)`.

    A subclass gives `components`; the distance pools them.
    """

    @abstractmethod
    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        """The distances that are pooled, on the last axis."""

    def forward(self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]) -> Float[Tensor, "*#batch"]:
        checks.same_dtype("x", checks.vectors("x", x, self.dim), self)
        checks.same_dtype("y", checks.vectors("y", y, self.dim), self)
        checks.broadcastable(x, y)
        return self.pool(self.components(x, y))

    def calibrate(self, predictions: Float[Tensor, " n"], targets: Float[Tensor, " n"]) -> Float[Tensor, " n"]:  # noqa: ARG002
        """Set constants from data, once, before training: what this object predicts now, and what it should.

        Returns what it predicts then; most distances have no such constants.
        """
        return predictions

    def between_rows(
        self, points: Float[Tensor, "n dim"], start: Int[Tensor, " pairs"], end: Int[Tensor, " pairs"]
    ) -> Float[Tensor, " pairs"]:
        """`self(points[start], points[end])`, up to rounding; cheaper where there are fewer points than pairs."""
        checks.same_dtype("points", checks.vectors("points", points, self.dim), self)
        return self.pool(self.row_components(points, start, end))

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        """The components for `between_rows`; where a part needs one point only, it is computed once a point."""
        return self.components(F.embedding(start, points), F.embedding(end, points))

    def pair_kernel(self) -> PairKernel:
        return PairKernel(
            project=lambda x, center: x,  # noqa: ARG005
            pairs=lambda px, py: self.components(px.unsqueeze(1), py.unsqueeze(0)),
            floats=2 * self.definition_floats,
        )
