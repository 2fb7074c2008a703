"""Metric residual networks: a symmetric part and the largest asymmetric excess."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric._audit.axioms import Axioms
from trimetric.distances.base import Distance
from trimetric.distances.groups import Groups
from trimetric.kernels.rows.differences import row_differences
from trimetric.kernels.rows.residual import residual_components
from trimetric.norms.activations import PoolName, largest


class ResidualMetric(Distance):
    r"""$\|s(y) - s(x)\|_2 + \max_j\,(a_j(y) - a_j(x))^+$; $s$ is the first half of the coordinates, $a$ the rest (MRN).

    The 2-norm, a maximum and relu of linear functions of $y - x$ are subadditive, and so is their sum.  The
    published form has the mean *square* instead of the norm, which breaks the triangle inequality (three
    points on a line).  The gradient at $x = y$ is 0, where a bare root has none.

    The grouped form pools this over `components` groups of coordinates, each with its own two halves.  A group of
    one coordinate has a symmetric part only.

    With `shared` both parts read all coordinates: $\|y - x\|_2 + \max_j\,(y_j - x_j)^+$, a norm.  Points that are far
    apart in one direction are then far apart in the other too, so if no way to a goal was ever seen, the ways back from
    it determine where it lies.

    Args:
        dim: number of coordinates.
        components: groups of coordinates; one is the published architecture.
        shared: whether both parts read all coordinates, instead of half of them each.
        pool: of the components.

    Examples:
        >>> distance = ResidualMetric(2)
        >>> x, y = torch.zeros(2), torch.tensor([1.0, 2.0])
        >>> distance(x, y).item(), distance(y, x).item()
        (3.0, 1.0)
    """

    def __init__(self, dim: int, *, components: int = 1, shared: bool = False, pool: PoolName = "mean") -> None:
        groups = Groups(dim, components, width=dim)
        super().__init__(dim, num_components=groups.count, pool=pool)
        self.groups, self.shared = groups, shared
        self.axioms = Axioms(definite=shared)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return self._of_difference(y - x)

    @property
    def has_fused_rows(self) -> bool:
        return True

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        return self._of_difference(row_differences(points, start, end))

    @property
    def reads_differences(self) -> bool:
        return type(self).components is ResidualMetric.components

    def difference_components(self, difference: Tensor) -> Float[Tensor, "pairs k"]:
        return self._of_difference(difference)

    def _of_difference(self, difference: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        width, half = self.groups.width, -(-self.groups.width // 2)
        lengths, excess_from = (width, 0) if self.shared else (half, half)
        found = residual_components(
            self.groups.pad(difference), self.groups.count, lengths=lengths, excess_from=excess_from
        )
        if found is not None:
            return found
        grouped = self.groups.split(difference)
        symmetric, asymmetric = (grouped,) * 2 if self.shared else grouped.tensor_split([half], dim=-1)
        length = torch.linalg.vector_norm(symmetric, dim=-1)
        return length + largest(asymmetric.relu()) if asymmetric.shape[-1] else length
