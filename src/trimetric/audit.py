"""Measure on data what a distance promises."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric import checks
from trimetric.all_pairs import DistanceFunction, all_pairs
from trimetric.axioms import NOTHING, Axioms
from trimetric.distances import Distance, as_distance
from trimetric.norms import Norm
from trimetric.siamese import Siamese

# What rounding may do to an exact promise, in units of the last place of the largest distance.
ROUNDING_ULPS = 16
HOMOGENEITY_POINTS = 256
TRIPLES_AT_ONCE = 1 << 15
MIN_PLUS_FLOATS = 1 << 19


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What `audit` found.  Every defect is 0 where the axiom holds up to `rounding`.

    Attributes:
        name: class of the audited object.
        promised: its axioms.
        points: number of points.
        triples: number of triples (x, y, z) that were checked.
        exhaustive: whether these were all of them.
        scale: the largest absolute distance.
        rounding: what floating point alone may do to a distance of this scale.
        triangle_defect: largest d(x, z) - d(x, y) - d(y, z).
        relative_triangle_defect: largest (d(x, z) - d(x, y) - d(y, z)) / d(x, z).
        worst_triple: where `triangle_defect` was found, as indices of x, y, z; None where it is 0.
        negativity: largest -d(x, y).
        identity_defect: largest |d(x, x)|.
        asymmetry: largest |d(x, y) - d(y, x)|.
        indistinct: number of ordered pairs of different points with d(x, y) <= 0.
        homogeneity_defect: largest |d(ax, ay) - a d(x, y)| / a for a = 0.5 and 4; NaN where it was not
            measured, as it is on the first 256 points of a `Distance` only.
    """

    name: str
    promised: Axioms
    points: int
    triples: int
    exhaustive: bool
    scale: float
    rounding: float
    triangle_defect: float
    relative_triangle_defect: float
    worst_triple: tuple[int, int, int] | None
    negativity: float
    identity_defect: float
    asymmetry: float
    indistinct: int
    homogeneity_defect: float

    @property
    def broken(self) -> list[str]:
        """The promised axioms that the data refute."""
        found = {
            "nonnegative": self.negativity,
            "reflexive": self.identity_defect,
            "definite": self.indistinct,
            "triangle": self.triangle_defect,
            "symmetric": self.asymmetry,
            "homogeneous": self.homogeneity_defect,
        }
        return [name for name, defect in found.items() if getattr(self.promised, name) and defect != 0]

    @property
    def holds(self) -> bool:
        """Whether every promise held."""
        return not self.broken

    def to_dict(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        return {**asdict(self), "holds": self.holds, "broken": self.broken}

    def __str__(self) -> str:
        kind = "all" if self.exhaustive else "random"
        worst = "" if self.worst_triple is None else f"   at points {self.worst_triple}"
        kept = "nothing was promised" if str(self.promised) == "nothing" else "every promise holds"
        verdict = kept if self.holds else f"BROKEN: {', '.join(self.broken)}"
        return "\n".join(
            [
                f"{self.name}: audit on {self.points} points, {self.triples:,} triples ({kind})",
                f"  promises                  {self.promised}",
                f"  triangle_defect           {self.triangle_defect:.3g}{worst}",
                f"  relative_triangle_defect  {self.relative_triangle_defect:.3g}",
                f"  negativity                {self.negativity:.3g}",
                f"  identity_defect           {self.identity_defect:.3g}",
                f"  asymmetry                 {self.asymmetry:.3g}",
                f"  indistinct pairs          {self.indistinct}",
                f"  homogeneity_defect        {self.homogeneity_defect:.3g}",
                f"  {verdict} (distances up to {self.scale:.3g}, rounding {self.rounding:.1g})",
            ]
        )


@torch.no_grad()
def audit(
    distance: Norm | Distance | Siamese | DistanceFunction,
    points: Tensor,
    *,
    max_points: int = 2000,
    random_triples: int = 1_000_000,
    seed: int = 0,
    max_memory: int | str = "256MiB",
) -> Audit:
    """Measure the axioms of a distance on points, and compare with what it promises.

    Up to `max_points` points, every one of the n^3 triples is checked; beyond, `random_triples` of them.
    Differences that rounding alone explains count as 0: up to 16 units in the last place of the
    largest distance.  Audit in float64 to see smaller ones.

    >>> _ = torch.manual_seed(0)
    >>> import trimetric as tm
    >>> report = tm.audit(tm.NormInduced(tm.DeepNorm(8)), torch.randn(100, 8))
    >>> report.triangle_defect, report.triples, report.holds
    (0.0, 1000000, True)

    Args:
        distance: a distance, norm, `Siamese`, or any function of two broadcastable tensors.
        points: `(n, dim)`; for a `Siamese`, n objects along the first axis.
        max_points: the largest n for which all triples are checked.
        random_triples: how many random triples are checked beyond that.
        seed: of the random triples.
        max_memory: as for `all_pairs`.
    """
    checks.finite("points", checks.floating_point("points", points))
    checks.positive_int("max_points", max_points)
    checks.positive_int("random_triples", random_triples)
    if points.ndim < 2 or len(points) == 0:
        raise ValueError(f"points: expected at least one row of a matrix, got shape {tuple(points.shape)}")
    if isinstance(distance, Norm):
        distance = as_distance("distance", distance)
    measure = _exhaustive if len(points) <= max_points else _sampled
    found = measure(distance, points, random_triples=random_triples, seed=seed, max_memory=max_memory)
    rounding = ROUNDING_ULPS * torch.finfo(points.dtype).eps * found.scale

    def beyond_rounding(defect: float) -> float:
        return 0.0 if defect <= rounding else defect  # a NaN stays a NaN

    defect = beyond_rounding(found.triangle)
    return Audit(
        name=getattr(distance, "__name__", type(distance).__name__),
        promised=getattr(distance, "axioms", NOTHING),
        points=len(points),
        triples=found.triples,
        exhaustive=len(points) <= max_points,
        scale=found.scale,
        rounding=rounding,
        triangle_defect=defect,
        relative_triangle_defect=found.relative_triangle if defect else 0.0,
        worst_triple=found.worst_triple if defect else None,
        negativity=beyond_rounding(found.negativity),
        identity_defect=beyond_rounding(found.identity),
        asymmetry=beyond_rounding(found.asymmetry),
        indistinct=found.indistinct,
        homogeneity_defect=beyond_rounding(_homogeneity_defect(distance, points, max_memory)),
    )


@dataclass(frozen=True, kw_only=True)
class _Found:
    """The largest values as they came, rounding included."""

    triples: int
    scale: float
    triangle: float
    relative_triangle: float
    worst_triple: tuple[int, int, int]
    negativity: float
    identity: float
    asymmetry: float
    indistinct: int


def _exhaustive(
    distance: Distance | Siamese | DistanceFunction, points: Tensor, *, max_memory: int | str, **_: int
) -> _Found:
    matrix = all_pairs(distance, points, max_memory=max_memory)
    excess = matrix - min_plus_square(matrix)
    i, k = divmod(int(excess.argmax()), len(points))
    j = int((matrix[i] + matrix[:, k]).argmin())
    return _Found(
        triples=len(points) ** 3,
        scale=float(matrix.abs().max()),
        triangle=float(excess.max()),
        relative_triangle=_largest_ratio(excess, matrix),
        worst_triple=(i, j, k),
        negativity=float((-matrix).max()),
        identity=float(matrix.diagonal().abs().max()),
        asymmetry=float((matrix - matrix.T).abs().max()),
        indistinct=_indistinct(points, *(matrix <= 0).nonzero().unbind(1)),
    )


def _sampled(
    distance: Distance | Siamese | DistanceFunction,
    points: Tensor,
    *,
    random_triples: int,
    seed: int,
    **_: Any,
) -> _Found:
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for start in range(0, random_triples, TRIPLES_AT_ONCE):
        count = min(TRIPLES_AT_ONCE, random_triples - start)
        i, j, k = torch.randint(len(points), (3, count), generator=generator).to(points.device)
        x, y, z = points[i], points[j], points[k]
        xy, yz, xz, yx, xx = distance(x, y), distance(y, z), distance(x, z), distance(y, x), distance(x, x)
        excess = xz - (xy + yz)
        worst = int(excess.argmax())
        parts.append(
            _Found(
                triples=count,
                scale=float(torch.stack([xy, yz, xz, yx]).abs().max()),
                triangle=float(excess[worst]),
                relative_triangle=_largest_ratio(excess, xz),
                worst_triple=(int(i[worst]), int(j[worst]), int(k[worst])),
                negativity=float(-torch.stack([xy, yz, xz, yx]).min()),
                identity=float(xx.abs().max()),
                asymmetry=float((xy - yx).abs().max()),
                indistinct=_indistinct(points, i[xy <= 0], j[xy <= 0]),
            )
        )

    def largest(name: str) -> float:
        return float(torch.tensor([getattr(part, name) for part in parts], dtype=torch.float64).max())

    worst = max(parts, key=lambda part: part.triangle)
    return _Found(
        triples=sum(part.triples for part in parts),
        scale=largest("scale"),
        triangle=largest("triangle"),
        relative_triangle=largest("relative_triangle"),
        worst_triple=worst.worst_triple,
        negativity=largest("negativity"),
        identity=largest("identity"),
        asymmetry=largest("asymmetry"),
        indistinct=sum(part.indistinct for part in parts),
    )


def min_plus_square(matrix: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """`min_j matrix[i, j] + matrix[j, k]` for all i, k, in row blocks that stay in cache."""
    n = len(matrix)
    out = torch.full_like(matrix, torch.inf)
    height = max(1, MIN_PLUS_FLOATS // max(n, 1))
    for rows in range(0, n, height):
        block, best = matrix[rows : rows + height], out[rows : rows + height]
        through = torch.empty_like(best)
        for step, row in zip(block.unsqueeze(2).unbind(1), matrix, strict=True):
            torch.minimum(best, torch.add(step, row, out=through), out=best)
    return out


def _largest_ratio(excess: Tensor, distances: Tensor) -> float:
    return float(torch.where(distances > 0, excess / distances, torch.zeros_like(excess)).max())


def _indistinct(points: Tensor, i: Tensor, j: Tensor) -> int:
    pairs = zip(i.split(TRIPLES_AT_ONCE), j.split(TRIPLES_AT_ONCE), strict=True)
    flat = points.flatten(1)
    return sum(int((flat[a] != flat[b]).any(dim=1).sum()) for a, b in pairs)


def _homogeneity_defect(
    distance: Distance | Siamese | DistanceFunction, points: Tensor, max_memory: int | str
) -> float:
    if not isinstance(distance, Distance):
        return float("nan")
    few = points[:HOMOGENEITY_POINTS]
    one = all_pairs(distance, few, max_memory=max_memory)
    # Powers of two scale without rounding, also what cancels on the way to a small distance.
    scaled = [all_pairs(distance, a * few, max_memory=max_memory) / a - one for a in (0.5, 4)]
    return float(torch.stack(scaled).abs().max())
