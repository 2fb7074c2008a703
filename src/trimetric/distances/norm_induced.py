"""The distance of a norm."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.kernels.close_pairs import recompute_close_pairs
from trimetric.kernels.pairs import PairKernel
from trimetric.kernels.rows.differences import row_differences
from trimetric.norms import Norm


class NormInduced(Distance):
    r"""$d(x, y) = \|y - x\|$.

    The triangle inequality is the subadditivity of the norm: $z - x = (y - x) + (z - y)$.

    Args:
        norm: any norm.

    Examples:
        >>> import torch
        >>> from trimetric import Euclidean
        >>> NormInduced(Euclidean(2))(torch.tensor([1.0, 1.0]), torch.tensor([4.0, 5.0]))
        tensor(5.)
    """

    def __init__(self, norm: Norm) -> None:
        checks.instance("norm", norm, Norm)
        super().__init__(norm.dim, num_components=norm.num_components, pool=None, inner=norm)
        self.axioms = norm.axioms

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return self.inner.components(y - x)

    @property
    def has_fused_rows(self) -> bool:
        return self.inner.has_fused_rows

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        if not self.reads_differences:
            return super().row_components(points, start, end)
        if len(points) >= len(start):  # what is computed once per point pays only where there are fewer of them
            return self.inner.components(row_differences(points, start, end))
        split = self.inner.linear_split()
        # Far from the origin differences of projections would lose digits; a constant shift has no gradient.
        u = split.linear(points - points.detach().mean(dim=0))
        return split.components(row_differences(u, start, end))  # type: ignore[call-arg]

    @property
    def reads_differences(self) -> bool:
        return type(self).components is NormInduced.components

    def difference_components(self, difference: Tensor) -> Float[Tensor, "pairs k"]:
        return self.inner.components(difference)

    def pair_kernel(self) -> PairKernel:
        kernel = self.inner.pair_kernel()
        if kernel.loses_digits:
            return recompute_close_pairs(kernel, self.components, k=self.num_components)
        fused = None if kernel.fused is None else kernel.fused.centered()
        return kernel._replace(project=lambda x, center: kernel.project(x), fused=fused)  # noqa: ARG005


def as_distance(name: str, value: Norm | Distance) -> Distance:
    """Turn a norm into the distance that it induces; return a distance as it is.

    Args:
        name: the name of the argument, for the error message.
        value: a norm or a distance.
    """
    if isinstance(value, Norm):
        return NormInduced(value)
    if not isinstance(value, Distance):
        raise TypeError(f"{name}: expected a Norm or a Distance, got {type(value).__name__}")
    return value
