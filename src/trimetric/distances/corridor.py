"""Any function as a quasimetric: its values are clamped to a corridor above another quasimetric."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.distances.norm_induced import as_distance
from trimetric.distances.projected_clamp import projected_clamp
from trimetric.kernels.equal_rows import row_keys, zero_at_equal_rows
from trimetric.kernels.pairs import PairKernel, Projection
from trimetric.norms import Norm

NEEDED = ("nonnegative", "reflexive", "triangle")


LARGEST_FLOOR = 1e18
"""float32 must hold the square of a floor, which training computes"""


def check_floor(floor: object, *, banded: bool) -> float:
    """Check the floor of a corridor.

    Args:
        floor: c.
        banded: whether there is no base.
    """
    if banded:
        return checks.finite_number("floor", floor, above=0, below=LARGEST_FLOOR)
    return checks.finite_number("floor", floor, at_least=0, below=LARGEST_FLOOR)


class CorridorMetric(Distance):
    r"""$\mathrm{clamp}(f(x, y),\; B(x, y) + c,\; B(x, y) + 2c)$ for $x \ne y$, and 0 for $x = y$, with *any* $f$.

    Here $B$ is a quasimetric and $c \ge 0$, the **floor**.  For $x, y, z$ all different

    $$d(x, z) \le B(x, z) + 2c \le (B(x, y) + c) + (B(y, z) + c) \le d(x, y) + d(y, z),$$

    and if two of them are equal, both sides are equal or the left side is 0.  So $f$ need not promise anything: it may
    be a network, a regression forest or a simulator.  $B$ should be close to $f$; where $f$ lies in the corridor,
    $d = f$.  With symmetric $f$ and $B$, $d$ is a metric.  Without a base, $B = 0$: all values lie within a factor of
    two.

    **The floor** is the price: no two different points are closer than $c$.  That is harmless for pairs that are far
    apart, but $d$ cannot distinguish neighbors at scales below $c$.

    **Rounding.**  With unit roundoff $u$, the bounds are computed as $(B + c)(1 + \delta)$ and $(B + 2c)(1 + \delta')$
    with $|\delta|, |\delta'| \le u$, and clamping does not round.  If a computed $d(x, z)$ exceeds the computed sum
    $s = d(x, y) + d(y, z)$, itself rounded once, then $s$ and both bounds are at most about $d(x, z) \le D$, the
    largest distance, so that the excess is at most $3uD$ plus the defect that rounding gives the triangle inequality of
    $B$ itself.  `audit` ignores $32uD$.

    **Gradients** with respect to $f$ are those of projected gradient descent: outside the corridor they vanish only
    where a descent step would lead farther out.  Those with respect to $B$ are the derivatives: 0 inside, 1 outside.

    **NaN**: in eager mode, a function that returns NaN for a pair of different points raises an error; a compiled or
    exported program returns NaN for such a pair.  In both cases the result is NaN if a point itself contains NaN.

    Args:
        f: any distance or norm, such as an `MLPDistance` or a `FunctionDistance`; it need not promise anything.
        base: B, a distance or norm that promises the triangle inequality; None for 0.
        floor: c, at least 0; without a base above 0, as all distances would be 0.

    Examples:
        >>> from trimetric import Euclidean, FunctionDistance, audit
        >>> squared = FunctionDistance(lambda x, y: (y - x).square().sum(-1), 1)
        >>> distance = CorridorMetric(squared, base=Euclidean(1), floor=0.5)
        >>> x = torch.tensor([[0.0], [0.5], [1.0], [2.0]])
        >>> distance(x[:1], x)  # squared: 0, 0.25, 1, 4
        tensor([0.0000, 1.0000, 1.5000, 3.0000])
        >>> audit(distance, x).holds
        True
    """

    def __init__(self, f: Norm | Distance, *, base: Norm | Distance | None = None, floor: float) -> None:
        inner = as_distance("f", f)
        lower = None if base is None else as_distance("base", base)
        super().__init__(
            checks.one_dim("f, base", [inner.dim] if lower is None else [inner.dim, lower.dim]),
            num_components=1,
            pool="mean",
            inner=inner,
        )
        if lower is not None:
            missing = [name for name in NEEDED if not getattr(lower.axioms, name)]
            if missing:
                raise ValueError(
                    f"base: expected a distance that promises {', '.join(NEEDED)}, got {type(lower).__name__} without "
                    f"{', '.join(missing)}"
                )
        self.base = lower
        self.floor = check_floor(floor, banded=lower is None)
        below = Axioms(symmetric=True) if lower is None else lower.axioms
        self.axioms = Axioms(
            definite=self.floor > 0 or below.definite,
            symmetric=inner.axioms.symmetric and below.symmetric,
            homogeneous=False,
            translation_invariant=inner.axioms.translation_invariant and below.translation_invariant,
        )

    def extra_repr(self) -> str:
        return f"dim={self.dim}, floor={self.floor:g}"

    def _corridor(self, values: Tensor, base: Tensor | None) -> Tensor:
        """The clamped values of f, from those of f and of B; NaN where f is."""
        if base is None:
            return projected_clamp(values, values.new_tensor(self.floor), values.new_tensor(2 * self.floor))
        return projected_clamp(values, base + self.floor, base + 2 * self.floor)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch 1"]:
        values = self._corridor(self.inner(x, y), None if self.base is None else self.base(x, y))
        differ = (x != y).any(dim=-1)
        return _checked(torch.where(differ, values, 0), lambda: _unknown(x) | _unknown(y)).unsqueeze(-1)

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs 1"]:
        ends = points, start, end
        base = None if self.base is None else self.base.pool(self.base.row_components(*ends))
        values = self._corridor(self.inner.pool(self.inner.row_components(*ends)), base)
        x, y = points.detach()[start], points.detach()[end]
        differ = (x != y).any(dim=-1)
        return _checked(torch.where(differ, values, 0), lambda: _unknown(x) | _unknown(y)).unsqueeze(-1)

    def pair_kernel(self) -> PairKernel:
        parts = [self.inner] if self.base is None else [self.inner, self.base]
        kernels = [part.pair_kernel() for part in parts]

        def project(x: Float[Tensor, "n dim"], center: Float[Tensor, " dim"]) -> Projection:
            return tuple(kernel.project(x, center) for kernel in kernels), (x.detach(), row_keys(x))

        def pairs(px: Projection, py: Projection) -> Tensor:
            (rows, x), (columns, y) = px, py
            own = [
                part.pool(kernel.pairs(row, column))
                for part, kernel, row, column in zip(parts, kernels, rows, columns, strict=True)
            ]
            values = self._corridor(own[0], own[1] if len(own) > 1 else None)
            values = zero_at_equal_rows(values.unsqueeze(-1), x, y)
            return _checked(values, lambda: (_unknown(x[0]).unsqueeze(1) | _unknown(y[0])).unsqueeze(-1))

        return PairKernel(project, pairs, sum(kernel.floats for kernel in kernels) + 6)

    @property
    def definition_floats(self) -> int:
        parts = [self.inner] if self.base is None else [self.inner, self.base]
        return sum(part.definition_floats for part in parts) + self.dim + 6


def _unknown(points: Tensor) -> Tensor:
    return torch.isnan(points).any(dim=-1)


def _checked(values: Tensor, unknown: Callable[[], Tensor]) -> Tensor:
    """The values themselves, if none is NaN but those of `unknown` pairs, which have a point that is."""
    if torch.compiler.is_compiling():
        return values
    try:
        broken = torch.isnan(values.detach())
        count = int(broken.sum())
    except RuntimeError:  # inside of vmap nobody may look at numbers
        return values
    count = count and int((broken & ~unknown()).sum())
    if count:
        raise ValueError(f"f: expected a number for every pair of different points, got NaN for {count}")
    return values
