"""Auditing a matrix: how many of its triangles are broken, which are the worst, and how much a repair changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support import checks
from trimetric.kernels.min_plus import closure, count_violations, shortest_detours
from trimetric.nearness import nearest_metric
from trimetric.nearness.result import COUNT_TOLERANCE

WORST = 5
"""triangles that a report names"""


@dataclass(frozen=True)
class BrokenTriangle:
    """A distance that is longer than a detour.

    Attributes:
        start: the name of the first object.
        middle: the object that the detour passes.
        end: the name of the last object.
        direct: the distance from start to end.
        detour: the sum of the two others.

    Examples:
        >>> print(BrokenTriangle("a", "b", "c", direct=5.0, detour=2.0))
        from a to c is 5, but 2 through b
    """

    start: str
    middle: str
    end: str
    direct: float
    detour: float

    def __str__(self) -> str:
        return f"from {self.start} to {self.end} is {self.direct:.6g}, but {self.detour:.6g} through {self.middle}"


@dataclass(frozen=True, kw_only=True)
class MatrixAudit:
    """What is broken in a matrix of distances; `str` describes it in words.

    Attributes:
        objects: number of objects.
        pairs: ordered pairs whose distance is known.
        missing: ordered pairs whose distance is not known.
        exact: whether every triangle inequality holds without a tolerance.
        broken_pairs: pairs with a shorter way through other objects, by more than rounding: a billionth of the largest
            distance.
        broken_triples: ordered triples that break the triangle inequality.
        worst_excess: the largest difference between a distance and the shortest path between its objects.
        worst: the triangles with the largest excess of one detour, at most one per pair.
        asymmetry: the largest difference between the two directions of a pair.
        closure_change: J = ||X - D|| / ||D|| of the shortest paths, the largest metric below.
        nearest_change: J of the nearest metric; None if it was not computed.
        nearest_gap: the relative duality gap of that computation.

    Examples:
        >>> report = audit_matrix([[0, 1, 5], [1, 0, 1], [5, 1, 0]], names=["a", "b", "c"])
        >>> report.broken_pairs, report.broken_triples, report.worst_excess, report.is_metric
        (2, 2, 3.0, False)
    """

    objects: int
    pairs: int
    missing: int
    exact: bool
    broken_pairs: int
    broken_triples: int
    worst_excess: float
    worst: tuple[BrokenTriangle, ...]
    asymmetry: float
    closure_change: float
    nearest_change: float | None = None
    nearest_gap: float | None = None

    @property
    def is_metric(self) -> bool:
        """Whether no triangle is broken by more than rounding."""
        return self.broken_pairs == 0

    def __str__(self) -> str:
        share = self.broken_pairs / max(self.pairs, 1)
        unknown = f", {self.missing:,} missing" if self.missing else ""
        lines = [
            f"{self.objects:,} objects, {self.pairs:,} distances{unknown}; "
            f"directions differ by up to {self.asymmetry:.6g}",
        ]
        if self.is_metric:
            how = "without a tolerance" if self.exact else "up to rounding"
            return "\n".join([*lines, f"every triangle inequality holds, {how}"])
        lines += [
            f"broken: {self.broken_pairs:,} pairs ({share:.1%}) have a shorter way through others, "
            f"{self.broken_triples:,} triples",
            f"worst: a distance is {self.worst_excess:.6g} longer than the shortest path between its objects",
            *(f"  {triangle}" for triangle in self.worst),
            f"decrease-only (shortest paths) changes J = {self.closure_change:.3g} of the matrix",
        ]
        if self.nearest_change is not None:
            lines.append(f"the nearest metric changes J = {self.nearest_change:.3g} (gap {self.nearest_gap:.1g})")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {**asdict(self), "is_metric": self.is_metric}


def audit_matrix(
    matrix: ArrayLike, *, names: Sequence[str] | None = None, nearest: bool = False, max_seconds: float | None = None
) -> MatrixAudit:
    """Count the broken triangles of a matrix, find the worst, and measure how much repairs change.

    Args:
        matrix: `(n, n)` distances from row to column, with zeros on the diagonal; NaN for unknown distances.
        names: of the objects, for the report; by default their numbers.
        nearest: whether to compute the nearest metric too, which takes longer.
        max_seconds: time limit for computing the nearest metric.

    Returns:
        The numbers, and the worst triangles by name.

    Examples:
        >>> print(audit_matrix([[0, 1, 5], [1, 0, 1], [5, 1, 0]], nearest=True))
        3 objects, 6 distances; directions differ by up to 0
        broken: 2 pairs (33.3%) have a shorter way through others, 2 triples
        worst: a distance is 3 longer than the shortest path between its objects
          from 0 to 2 is 5, but 2 through 1
          from 2 to 0 is 5, but 2 through 1
        decrease-only (shortest paths) changes J = 0.577 of the matrix
        the nearest metric changes J = 0.333 (gap 0)
    """
    given = _checked(matrix)
    n = len(given)
    called = [str(i) for i in range(n)] if names is None else list(names)
    if len(called) != n:
        raise ValueError(f"names: expected one for each of the {n} objects, got {len(called)}")
    unknown = np.isnan(given)
    far = np.where(unknown, np.inf, given)
    largest = float(np.nanmax(given, initial=0.0))
    rounding = COUNT_TOLERANCE * largest
    product, middles = shortest_detours(far, rounding)
    known = ~unknown & ~np.eye(n, dtype=bool)
    middles = np.where(known, middles, -1)
    excess = np.where(middles >= 0, far - product, 0.0)
    paths = closure(far)
    both = known & known.T
    with np.errstate(invalid="ignore"):
        asymmetry = float(np.where(both, np.abs(given - given.T), 0.0).max(initial=0.0))
        over = np.where(known, far - paths, 0.0)
    broken = int((over > rounding).sum())
    best = nearest_metric(given, missing="nan", max_seconds=max_seconds) if nearest and known.any() else None
    return MatrixAudit(
        objects=n,
        pairs=int(known.sum()),
        missing=int(unknown.sum()),
        exact=bool((product >= far)[known].all()),
        broken_pairs=broken,
        broken_triples=_count_triples(far, known, rounding) if broken else 0,
        worst_excess=float(over.max(initial=0.0)),
        worst=_worst(far, excess, middles, called),
        asymmetry=asymmetry,
        closure_change=_relative_change(over[known], given[known]),
        nearest_change=None if best is None else best.distortion,
        nearest_gap=None if best is None else best.gap,
    )


def _relative_change(change: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """||change|| / ||values||, also where squares of the entries leave the range of floating point."""
    largest = float(values.max(initial=0.0))
    if not largest:
        return 0.0
    return float(np.linalg.norm(change / largest) / np.linalg.norm(values / largest))


def _checked(matrix: ArrayLike) -> NDArray[np.float64]:
    checks.unmasked("matrix", matrix, hint="matrix.filled(numpy.nan) makes them unknown distances")
    given = np.array(matrix, np.float64)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
        raise ValueError(f"matrix: expected a square one, got shape {given.shape}")
    np.fill_diagonal(given, np.where(np.isnan(np.diagonal(given)), 0.0, np.diagonal(given)))
    bad = ~(given >= 0) & ~np.isnan(given) | np.isinf(given)
    if bad.any():
        i, j = (int(k) for k in np.argwhere(bad)[0])
        raise ValueError(f"matrix: expected finite distances >= 0, got {given[i, j]:g} in row {i}, column {j}")
    if np.diagonal(given).any():
        i = int(np.diagonal(given).argmax())
        raise ValueError(f"matrix: expected zeros on the diagonal, got {given[i, i]:g} in row {i}")
    return given


def _count_triples(far: NDArray[np.float64], known: NDArray[np.bool_], rounding: float) -> int:
    if np.isfinite(far).all():
        return count_violations(far, rounding)[1]
    count = 0
    for row, sure in zip(far, known, strict=True):
        excess = np.where(sure, row, -np.inf)[:, None] - (row[None, :] + far.T)
        count += int((excess > rounding).sum())
    return count


def _worst(
    far: NDArray[np.float64], excess: NDArray[np.float64], middles: NDArray[Any], names: list[str]
) -> tuple[BrokenTriangle, ...]:
    order = np.argsort(-excess, axis=None, kind="stable")[:WORST]
    found = []
    for i, j in zip(*np.unravel_index(order, excess.shape), strict=True):
        k = int(middles[i, j])
        if k >= 0:
            detour = float(far[i, k] + far[k, j])
            found.append(BrokenTriangle(names[i], names[k], names[j], float(far[i, j]), detour))
    return tuple(found)
