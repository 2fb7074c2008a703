"""Metric residual networks: a symmetric part and the largest asymmetric excess."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric.activations import PoolName, largest
from trimetric.axioms import Axioms
from trimetric.distances.base import Distance
from trimetric.distances.groups import Groups


class ResidualMetric(Distance):
    r"""$\|s(y) - s(x)\|_2 + \max_j\,(a_j(y) - a_j(x))^+$; $s$ is the first half of the coordinates, $a$ the rest (MRN).

    The 2-norm, a maximum and relu of linear functions of $y - x$ are subadditive, and so is their sum.  The
    published form has the mean *square* in place of the norm, which breaks the triangle inequality (three
    points on a line).  The gradient at $x = y$ is 0, where a bare root has none.

    The grouped form pools this over `components` groups of coordinates, each with its own two halves.  A group of
    one coordinate has a symmetric part only.

    Args:
        dim: number of coordinates.
        components: groups of coordinates; one is the published architecture.
        pool: of the components.
    """

    axioms = Axioms()

    def __init__(self, dim: int, *, components: int = 1, pool: PoolName = "mean") -> None:
        groups = Groups(dim, components, width=dim)
        super().__init__(dim, num_components=groups.count, pool=pool)
        self.groups = groups

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        difference = self.groups.split(y - x)
        symmetric, asymmetric = difference.tensor_split([-(-self.groups.width // 2)], dim=-1)
        length = torch.linalg.vector_norm(symmetric, dim=-1)
        return length + largest(asymmetric.relu()) if asymmetric.shape[-1] else length
