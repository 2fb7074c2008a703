"""Lower bounds of a distance from what is known to and from landmarks."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.kernels.fused import FusedPairs
from trimetric.kernels.pairs import PairKernel
from trimetric.kernels.scratch import Scratch
from trimetric.norms.activations import PoolName


class LandmarkBound(Distance):
    r"""The largest triangle bound over landmarks, from points given as their distances to and from them.

    By the triangle inequality, $D(x, y) \ge D(x, l) - D(y, l)$ and $D(x, y) \ge D(l, y) - D(l, x)$ for a landmark
    $l$.  With `directed=True` the first half of the coordinates is $D(\cdot, l)$ and the second half $D(l, \cdot)$;
    otherwise each coordinate is one $D(l, \cdot) = D(\cdot, l)$ and both bounds together are $|D(l, y) - D(l, x)|$.

    With `components`, the individual bounds are replaced by that many learned mixtures, with non-negative weights
    that sum to at most 1: $(\sum_l w_{kl}\,\mathrm{bound}_l(x, y))^+$, or $|\sum_l w_{kl} (D(l, y) - D(l, x))|$ with
    $\sum_l |w_{kl}| \le 1$.  A mixture is a potential, one number per point, so a few mixtures can represent many
    landmarks (their maximum is at most that of the landmarks themselves).

    This is a quasimetric for any coordinates: each component is relu or the absolute value of the difference of a
    potential, however the potential was rounded.
    It is **a lower bound of $D$**, for every value of the weights, if the coordinates are the exact landmark distances
    of $D$ (all in one unit).  It is then an admissible and consistent heuristic; the scale of a `Calibrated` would
    destroy this property.

    Args:
        dim: number of coordinates, even where directed.
        components: number of mixtures; None for the bounds themselves, which have no parameters.
        directed: whether the coordinates are distances to, then from, the landmarks.
        pool: of the bounds.  The mean is a lower bound too.

    Examples:
        >>> distance = LandmarkBound(2, directed=False)
        >>> distance(torch.tensor([1.0, 7.0]), torch.tensor([4.0, 8.0]))
        tensor(3.)
    """

    def __init__(
        self, dim: int, *, components: int | None = None, directed: bool = True, pool: PoolName = "max"
    ) -> None:
        checks.positive_int("dim", dim)
        if directed and dim % 2:
            raise ValueError(f"dim: expected an even number, of distances to and from landmarks, got {dim}")
        count = dim if components is None else checks.positive_int("components", components)
        super().__init__(dim, num_components=count, pool=pool)
        self.directed = directed
        self.axioms = Axioms(symmetric=not directed)
        if components is None:
            self.register_parameter("raw_weight", None)
        else:
            # Mostly one landmark each, but none at 0, where |w| has no gradient.
            spread = torch.full((count, dim), 0.1 / dim)
            spread[torch.arange(count), torch.arange(count) % dim] += 0.8
            self.raw_weight = nn.Parameter(spread)

    @property
    def weight(self) -> Float[Tensor, "k dim"]:
        """The mixtures: rows whose absolute values sum to at most 1; the identity without `components`."""
        if self.raw_weight is None:
            return torch.eye(self.dim)
        free = self.raw_weight.abs() if self.directed else self.raw_weight
        return free / self.raw_weight.abs().sum(dim=-1, keepdim=True).clamp(min=1)

    def potentials(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k"]:
        """Compute the numbers g_k of a point: a bound is relu or the absolute value of g_k(y) - g_k(x).

        Args:
            x: points.
        """
        if self.directed:
            to, from_ = x.chunk(2, dim=-1)
            x = torch.cat([-to, from_], dim=-1)
        if self.raw_weight is None:
            return x
        # A matrix product may round equal rows differently, and then d(x, x) would not be 0.
        return torch.stack([(x * row).sum(dim=-1) for row in self.weight], dim=-1)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return self._bound(self.potentials(y) - self.potentials(x))

    def pair_kernel(self) -> PairKernel:
        scratch = Scratch()
        return PairKernel(
            project=lambda x, center: self.potentials(x),  # noqa: ARG005
            pairs=lambda px, py: self._bound(scratch.differences("potentials", px, py)),
            floats=3 * self.num_components,
            fused=FusedPairs(
                lambda x, center: self.potentials(x),  # noqa: ARG005
                "relu" if self.directed else "absolute",
                self.num_components,
            ),
        )

    def _bound(self, difference: Tensor) -> Tensor:
        return difference.relu() if self.directed else difference.abs()
