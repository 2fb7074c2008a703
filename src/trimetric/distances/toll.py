"""Tolls: what it costs to leave a point and to arrive at one, wherever the other end is."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.distances.norm_induced import as_distance
from trimetric.kernels.equal_rows import row_keys, zero_at_equal_rows
from trimetric.kernels.pairs import PairKernel, Projection
from trimetric.kernels.rows.differences import rows_differ
from trimetric.kernels.rows.tolls import add_tolls, differences_and_tolls
from trimetric.norms import Norm


class TollMetric(Distance):
    r"""$d(x, y) + a(x) + b(y)$ for $x \ne y$, and 0 for $x = y$, with tolls $a, b \ge 0$ read from the embedding.

    The tolls are computed from the last coordinates, by softplus or $|\cdot|$; the inner distance reads the coordinates
    before.  So `dim` is the inner `dim` + 2, or + 1 if one toll is shared ($a = b$, the default for a symmetric
    distance), and any encoder with that many outputs learns tolls.

    For $x, y, z$ all different, $d(x, z) + a(x) + b(z) \le [d(x, y) + a(x) + b(y)] + [d(y, z) + a(y) + b(z)]$, because
    the tolls at y are non-negative.  For $y = x$ or $y = z$ both sides are equal; for $x = z$ the left side is 0.

    **At $x = y$** the distance jumps: staying costs nothing, but a short trip costs the tolls.  $x \ne y$
    means that the embeddings differ in some coordinate, a toll included, by however little; the gradient at
    $x = y$ is 0.

    With `per="component"` each component has its own tolls (`dim` grows by 2 or 1 for each), which a maximum
    and concave units then see; with `per="head"` the tolls of all are the same, and every pooling
    adds them once.

    Args:
        distance: any distance or norm.
        per: one pair of tolls for the head, or one for each of its components.
        shared: whether leaving and arriving have the same toll; by default, if the distance is symmetric.
        map: the function from a coordinate to a toll.  "abs" keeps a homogeneous distance homogeneous.

    Examples:
        >>> from trimetric import Euclidean
        >>> distance = TollMetric(Euclidean(1), map="abs")
        >>> x, y = torch.tensor([0.0, 2.0]), torch.tensor([5.0, 4.0])  # one coordinate and one toll each
        >>> distance(x, y).item(), distance(x, x).item()
        (11.0, 0.0)
    """

    def __init__(
        self,
        distance: Norm | Distance,
        *,
        per: Literal["head", "component"] = "head",
        shared: bool | None = None,
        map: Literal["softplus", "abs"] = "softplus",
    ) -> None:
        inner = as_distance("distance", distance)
        checks.one_of("per", per, ("head", "component"))
        checks.one_of("map", map, ("softplus", "abs"))
        one_toll = inner.axioms.symmetric if shared is None else shared
        tolls = inner.num_components if per == "component" else 1
        super().__init__(
            inner.dim + tolls * (1 if one_toll else 2), num_components=inner.num_components, pool=None, inner=inner
        )
        self.shared, self.map = one_toll, map
        self.axioms = inner.axioms.but(
            reflexive=True,
            # Points that differ in a toll only may be at distance 0.
            definite=False,
            symmetric=inner.axioms.symmetric and one_toll,
            homogeneous=inner.axioms.homogeneous and map == "abs",
            translation_invariant=False,
            monotone=False,
        )

    def tolls(self, x: Float[Tensor, "*batch dim"]) -> tuple[Float[Tensor, "*batch t"], Float[Tensor, "*batch t"]]:
        """Read the tolls of points.

        Args:
            x: points; their last coordinates become tolls.

        Returns:
            The departure tolls a and the arrival tolls b: one for the head, or one for each component.
        """
        free = x[..., self.inner.dim :]
        tolls = F.softplus(free) if self.map == "softplus" else free.abs()
        if self.shared:
            return tolls, tolls
        departure, arrival = tolls.chunk(2, dim=-1)
        return departure, arrival

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        inner = self.inner.components(x[..., : self.inner.dim], y[..., : self.inner.dim])
        differ = (x != y).any(dim=-1, keepdim=True)
        return torch.where(differ, inner + (self.tolls(x)[0] + self.tolls(y)[1]), 0)

    @property
    def has_fused_rows(self) -> bool:
        return self.inner.has_fused_rows

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        if self.inner.reads_differences and len(points) >= len(start):
            found = differences_and_tolls(
                points, start, end, seen=self.inner.dim, shared=self.shared, softplus=self.map == "softplus"
            )
            if found is not None:
                difference, tolls = found
                inner = self.inner.difference_components(difference)
                return add_tolls(inner, tolls, rows_differ(points, start, end))
        inner = self.inner.row_components(points[:, : self.inner.dim], start, end)
        departure, arrival = self.tolls(points)
        differ = rows_differ(points, start, end).unsqueeze(-1)
        return torch.where(differ, inner + (F.embedding(start, departure) + F.embedding(end, arrival)), 0)

    def pair_kernel(self) -> PairKernel:
        inner, seen = self.inner.pair_kernel(), self.inner.dim

        def project(x: Float[Tensor, "n dim"], center: Float[Tensor, " dim"]) -> Projection:
            return inner.project(x[:, :seen], center[:seen]), self.tolls(x), (x.detach(), row_keys(x))

        def pairs(px: Projection, py: Projection) -> Tensor:
            (rows, (departure, _), x), (columns, (_, arrival), y) = px, py
            return zero_at_equal_rows(inner.pairs(rows, columns) + (departure.unsqueeze(1) + arrival), x, y)

        return PairKernel(project, pairs, inner.floats + 3 * self.num_components + 2)

    @property
    def definition_floats(self) -> int:
        return self.inner.definition_floats + 3 * self.num_components + self.dim
