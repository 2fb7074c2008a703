"""Distances through hubs: upper bounds that are quasimetrics."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.kernels.equal_rows import row_keys, zero_at_equal_rows
from trimetric.kernels.pairs import PairKernel, Projection


class HubMetric(Distance):
    r"""The shortest way through hubs: $\min_{l,m} a_l(x) + D_{lm} + b_m(y)$ for $x \ne y$, and 0 for $x = y$.

    $a_l(x)$ is the distance from x to hub l, $b_m(y)$ that from hub m to y, and $D$ are the distances between hubs.
    With `directed=True` the first half of the coordinates is a and the second half b; otherwise a = b.  The absolute
    values of the coordinates are used.

    **Triangle inequality.** $D$ is closed, so $D_{lk} \le D_{lm} + D_{mj} + D_{jk}$; and $b_m(y) + a_j(y) \ge D_{mj}$
    for all hubs, because coordinates that break this are raised by the same amount until they do not.  Hence
    $d(x, y) + d(y, z) = a_l(x) + D_{lm} + b_m(y) + a_j(y) + D_{jk} + b_k(z) \ge a_l(x) + D_{lk} + b_k(z) \ge d(x, z)$.

    **An upper bound** of a quasimetric, if the coordinates are exact distances to and from some of its points and $D$
    are the exact distances between these: then nothing is raised, and $d(x, y) = \min_l a_l(x) + b_l(y)$, the length of
    a real path.  For points that are close together this path is long, since it leads through a hub.

    Args:
        dim: number of coordinates, even where directed.
        directed: whether the coordinates are distances to, then from, the hubs.

    Examples:
        >>> distance = HubMetric(2, directed=False)
        >>> distance.set_between(torch.tensor([[0.0, 4.0], [4.0, 0.0]]))
        >>> distance(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0])).item()  # 1 to the first hub, 3 from there
        4.0
    """

    raw_between: Tensor

    def __init__(self, dim: int, *, directed: bool = True) -> None:
        checks.positive_int("dim", dim)
        if directed and dim % 2:
            raise ValueError(f"dim: expected an even number, of distances to and from hubs, got {dim}")
        super().__init__(dim, num_components=1, pool="max")
        self.directed = directed
        self.hubs = dim // 2 if directed else dim
        self.axioms = Axioms(symmetric=not directed).but(homogeneous=False, translation_invariant=False, monotone=False)
        self.register_buffer("raw_between", torch.zeros(self.hubs, self.hubs))

    def set_between(self, distances: Float[Tensor, "hubs hubs"]) -> None:
        """Set the distances between hubs; they are closed, and made symmetric where the distance is, in any case.

        Args:
            distances: from the hub of each row to that of each column.
        """
        if distances.shape != self.raw_between.shape:
            raise ValueError(f"distances: expected shape {tuple(self.raw_between.shape)}, got {tuple(distances.shape)}")
        self.raw_between.copy_(distances)

    @property
    def between(self) -> Float[Tensor, "hubs hubs"]:
        """The distances between hubs: not negative, 0 on the diagonal, without shortcuts."""
        free = self.raw_between.abs()
        if not self.directed:
            free = torch.minimum(free, free.mT)
        closed = free.masked_fill(torch.eye(self.hubs, dtype=torch.bool, device=free.device), 0.0)
        for hub in range(self.hubs):
            closed = torch.minimum(closed, closed[:, hub : hub + 1] + closed[hub : hub + 1])
        return closed

    def ways(self, x: Float[Tensor, "*batch dim"]) -> tuple[Float[Tensor, "*batch hubs"], Float[Tensor, "*batch hubs"]]:
        """Compute the shortest ways from points to the hubs, other hubs included, and from the hubs to the points.

        Args:
            x: points.
        """
        to, from_ = x.abs().chunk(2, dim=-1) if self.directed else (x.abs(), x.abs())
        between = self.between
        # For each hub l, the largest D_lm - a_m - b_l; rows one by one, as all of them would not fit.
        lacking = [(row - to).amax(dim=-1) - from_[..., hub] for hub, row in enumerate(between)]
        raised = 0.5 * torch.stack(lacking, dim=-1).amax(dim=-1, keepdim=True).relu()
        to, from_ = to + raised, from_ + raised
        there = to
        for hub, row in enumerate(between):
            there = torch.minimum(there, to[..., hub : hub + 1] + row)
        return there, from_

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch 1"]:
        there, back = self.ways(x)[0], self.ways(y)[1]
        differ = (x != y).any(dim=-1, keepdim=True)
        return torch.where(differ, (there + back).amin(dim=-1, keepdim=True), 0)

    def pair_kernel(self) -> PairKernel:
        def project(x: Float[Tensor, "n dim"], center: Float[Tensor, " dim"]) -> Projection:  # noqa: ARG001
            return self.ways(x), (x.detach(), row_keys(x))

        def pairs(px: Projection, py: Projection) -> Tensor:
            ((there, _), x), ((_, back), y) = px, py
            shortest = (there.unsqueeze(1) + back).amin(dim=-1, keepdim=True)
            return zero_at_equal_rows(shortest, x, y)

        return PairKernel(project, pairs, 3 * self.hubs + 2)
