"""Measure on data what a distance promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from trimetric._audit.axioms import NOTHING, Measured
from trimetric._audit.report import Audit as Audit
from trimetric._support import checks
from trimetric.distances import Distance, ObjectDistance
from trimetric.distances.all_pairs import DistanceFunction, all_pairs, checked_distance
from trimetric.norms import Norm

# What rounding may do to an exact promise, in units of the last place of the largest distance.
ROUNDING_ULPS = 16
HOMOGENEITY_POINTS = 256
TRIPLES_AT_ONCE = 1 << 15
MIN_PLUS_FLOATS = 1 << 19
KERNEL_POINTS = 1000
"""from here on the loops of torch take longer than the import of numba"""
KERNEL_DTYPES = (torch.float32, torch.float64)


@torch.no_grad()
def audit(
    distance: Norm | ObjectDistance | DistanceFunction,
    points: Tensor | np.ndarray,
    *,
    require: Sequence[Measured] = (),
    max_points: int = 2000,
    random_triples: int = 1_000_000,
    seed: int = 0,
    max_memory: int | str = "256MiB",
) -> Audit:
    """Measure the axioms of a distance on points, and compare them with what it promises and with what you require.

    For up to `max_points` points, every one of the n^3 triples is checked; for more, `random_triples` of them.
    Differences that rounding alone can explain count as 0: up to 16 units in the last place of the
    largest distance.  Audit in float64 to see smaller ones.

    Args:
        distance: a distance, norm, `Siamese`, or any function of two broadcastable tensors.
        points: `(n, dim)`; for a `Siamese`, n objects along the first axis.  A NumPy array is converted to the dtype
            of the weights.
        require: names of axioms that are checked as if the distance promised them: any of "nonnegative",
            "reflexive", "definite", "triangle", "symmetric" and "homogeneous".
        max_points: the largest n for which all triples are checked.
        random_triples: the number of random triples that are checked for more points.
        seed: of the random triples.
        max_memory: as for `all_pairs`.

    Returns:
        The defects that were found, `holds` and a `verdict` in words.

    Examples:
        >>> _ = torch.manual_seed(0)
        >>> import trimetric as tm
        >>> report = tm.audit(tm.NormInduced(tm.DeepNorm(8)), torch.randn(100, 8))
        >>> report.triangle_defect, report.triples, report.holds
        (0.0, 1000000, True)

        A function promises nothing, so its audit never holds unless you say what you require of it:

        >>> report = tm.audit(lambda x, y: (y - x).square().sum(-1), torch.tensor([[0.0], [1.0], [2.0]]))
        >>> report.holds, report.verdict
        (False, 'nothing is promised; the triangle inequality is broken by up to 2')
        >>> tm.audit(lambda x, y: (y - x).abs().sum(-1), torch.randn(9, 2), require=("triangle", "symmetric")).holds
        True
    """
    required = _required(require)
    name = getattr(distance, "__name__", type(distance).__name__)
    promised = getattr(distance, "axioms", NOTHING)
    given, distance = distance, checked_distance(distance)
    points = checks.as_tensor("points", points, given)
    # A distance between vectors refuses numbers of objects itself, when it is asked to embed one.
    numbered = isinstance(distance, ObjectDistance) and not points.is_floating_point()
    if not numbered:
        checks.finite("points", checks.floating_point("points", points))
    checks.positive_int("max_points", max_points)
    checks.positive_int("random_triples", random_triples)
    checks.seed("seed", seed)
    if points.ndim < (1 if numbered else 2) or len(points) == 0:
        raise ValueError(f"points: expected at least one row of a matrix, got shape {tuple(points.shape)}")
    if isinstance(distance, Distance):
        distance.embed(points, name="points")
    measure = _exhaustive if len(points) <= max_points else _sampled
    found = measure(distance, points, random_triples=random_triples, seed=seed, max_memory=max_memory)
    rounding = ROUNDING_ULPS * found.eps * found.scale

    def beyond_rounding(defect: float) -> float:
        return 0.0 if defect <= rounding else defect  # a NaN stays a NaN

    defect = beyond_rounding(found.triangle)
    return Audit(
        name=name,
        promised=promised,
        required=required,
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
        homogeneity_defect=beyond_rounding(
            _homogeneity_defect(distance, points, max_memory)
            if isinstance(distance, Distance) or "homogeneous" in required
            else float("nan")
        ),
    )


def _required(require: object) -> tuple[Measured, ...]:
    names = get_args(Measured)
    if isinstance(require, str) or not isinstance(require, Sequence):
        raise TypeError(f"require: expected a sequence of names of axioms, such as ('triangle',), got {require!r}")
    for i, name in enumerate(require):
        checks.one_of(f"require[{i}]", name, names)
    return tuple(name for name in names if name in require)


@dataclass(frozen=True, kw_only=True)
class _Found:
    """The largest values as they came, rounding included."""

    triples: int
    eps: float
    scale: float
    triangle: float
    relative_triangle: float
    worst_triple: tuple[int, int, int]
    negativity: float
    identity: float
    asymmetry: float
    indistinct: int


def _exhaustive(
    distance: ObjectDistance | DistanceFunction, points: Tensor, *, max_memory: int | str, **_: int
) -> _Found:
    matrix = all_pairs(distance, points, max_memory=max_memory)
    excess = _difference(matrix, min_plus_square(matrix))
    i, k = divmod(int(excess.argmax()), len(points))
    j = int((matrix[i] + matrix[:, k]).argmin())
    return _Found(
        triples=len(points) ** 3,
        eps=torch.finfo(matrix.dtype).eps,
        scale=_scale(matrix),
        triangle=float(excess.max()),
        relative_triangle=_largest_ratio(excess, matrix),
        worst_triple=(i, j, k),
        negativity=float((-matrix).max()),
        identity=float(matrix.diagonal().abs().max()),
        asymmetry=float(_difference(matrix, matrix.T).abs().max()),
        indistinct=_indistinct(points, *(matrix <= 0).nonzero().unbind(1)),
    )


def _sampled(
    distance: ObjectDistance | DistanceFunction,
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
        excess, every = _difference(xz, xy + yz), torch.stack([xy, yz, xz, yx, xx])
        worst = int(excess.argmax())
        parts.append(
            _Found(
                triples=count,
                eps=torch.finfo(every.dtype).eps,
                scale=_scale(every),
                triangle=float(excess[worst]),
                relative_triangle=_largest_ratio(excess, xz),
                worst_triple=(int(i[worst]), int(j[worst]), int(k[worst])),
                negativity=float(-every.min()),
                identity=float(xx.abs().max()),
                asymmetry=float(_difference(xy, yx).abs().max()),
                indistinct=_indistinct(points, i[xy <= 0], j[xy <= 0]),
            )
        )

    def largest(name: str) -> float:
        return float(torch.tensor([getattr(part, name) for part in parts], dtype=torch.float64).max())

    worst = max(parts, key=lambda part: part.triangle)
    return _Found(
        triples=sum(part.triples for part in parts),
        eps=largest("eps"),
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
    """`min_j matrix[i, j] + matrix[j, k]` for all i, k, and NaN wherever one of these sums is NaN."""
    if len(matrix) >= KERNEL_POINTS and matrix.device.type == "cpu" and matrix.dtype in KERNEL_DTYPES:
        from trimetric.kernels import min_plus  # imports numba

        # The kernel passes over NaN, which comes from NaN or from an infinity less another.
        if min_plus.HAS_NUMBA and bool((matrix > -torch.inf).all()):
            return torch.from_numpy(min_plus.min_plus(matrix.numpy()))
    return min_plus_square_by_torch(matrix)


def min_plus_square_by_torch(matrix: Tensor) -> Tensor:
    """The same on any device, in row blocks that stay in cache."""
    n = len(matrix)
    out = torch.full_like(matrix, torch.inf)
    height = max(1, MIN_PLUS_FLOATS // max(n, 1))
    for rows in range(0, n, height):
        block, best = matrix[rows : rows + height], out[rows : rows + height]
        through = torch.empty_like(best)
        for step, row in zip(block.unsqueeze(2).unbind(1), matrix, strict=True):
            torch.minimum(best, torch.add(step, row, out=through), out=best)
    return out


def _difference(a: Tensor, b: Tensor) -> Tensor:
    """a - b, and 0 where both are the same infinity: a pair without a path has no shorter detour either."""
    return torch.where(a == b, torch.zeros_like(a), a - b)


def _scale(distances: Tensor) -> float:
    """The largest finite absolute distance, which rounding goes by; NaN where one of the distances is."""
    return float(torch.where(distances.isinf(), torch.zeros_like(distances), distances).abs().max())


def _largest_ratio(excess: Tensor, distances: Tensor) -> float:
    ratio = torch.where(excess.isposinf(), torch.ones_like(excess), excess / distances)
    return float(torch.where(distances > 0, ratio, torch.zeros_like(excess)).max())


def _indistinct(points: Tensor, i: Tensor, j: Tensor) -> int:
    pairs = zip(i.split(TRIPLES_AT_ONCE), j.split(TRIPLES_AT_ONCE), strict=True)
    flat = points.reshape(len(points), -1)
    return sum(int((flat[a] != flat[b]).any(dim=1).sum()) for a, b in pairs)


def _homogeneity_defect(distance: ObjectDistance | DistanceFunction, points: Tensor, max_memory: int | str) -> float:
    few = points[:HOMOGENEITY_POINTS]
    one = all_pairs(distance, few, max_memory=max_memory)
    # Powers of two scale without rounding, also what cancels on the way to a small distance.
    scaled = [all_pairs(distance, a * few, max_memory=max_memory) / a for a in (0.5, 4)]
    return float(torch.stack([_difference(ends, one) for ends in scaled]).abs().max())
