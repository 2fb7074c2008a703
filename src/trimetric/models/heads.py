"""Every head that can be chosen by name: the one registry that the command line, the estimators and the docs read.

A new head is one entry in `HEADS`, and its name in `HeadName`.

The classes are reached through the lazy package (`tm.WideNorm`), so this module loads without torch: the command line
lists the names in its help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import trimetric as tm

if TYPE_CHECKING:
    from trimetric.distances import Calibrated, Distance
    from trimetric.norms import Norm

HeadName = Literal["wide", "deep", "interval", "mahalanobis", "euclidean", "recommended", "mlp"]
"""the keys of `HEADS`, for type checkers and the choices of the command line"""


@dataclass(frozen=True)
class Head:
    """A head that can be chosen by name.

    Attributes:
        about: what it is, in one line of Markdown.
        build: makes it from the size of the vectors and whether it must be symmetric.
        symmetry: whether $d(x, y) = d(y, x)$ is up to the caller ("optional"), always holds or cannot be promised.
        metric: whether it keeps the triangle inequality.
        concave: whether learned concave units can be put on its components.

    Examples:
        >>> HEADS["mahalanobis"].symmetry, HEADS["mlp"].metric
        ('always', False)
    """

    about: str
    build: Callable[[int, bool], Norm | Distance]
    symmetry: Literal["optional", "always", "never"] = "optional"
    metric: bool = True
    concave: bool = True


def recommended(dim: int, *, symmetric: bool, tolls: bool = False) -> Calibrated:
    """Build the head to try first: a sum of parts for different kinds of costs.

    The parts are an interval quasimetric (costs that several coordinates share), a metric residual (a length, and the
    worst of several one-sided costs) and a small Wide Norm (costs of moving).  They are added with learned weights, and
    multiplied by an output scale that `fit` sets before the first step.

    It has the best mean rank of all heads on the leaderboard (`python -m reproduction leaderboard`;
    docs/evidence/heads.md has the evidence): it is seldom the best head, but close to it on graphs and matrices.  On
    norms of the plane, intervals alone do better.

    Args:
        dim: length of the embedding.
        symmetric: whether d(x, y) = d(y, x).
        tolls: also add costs that depend on one end alone, such as fetching a passenger, read from the last two
            coordinates (one if symmetric).  They increase the error if the data has no such costs.

    Returns:
        A `Calibrated` distance on vectors of size `dim`.

    Examples:
        >>> import torch
        >>> head = recommended(64, symmetric=False)
        >>> head(torch.randn(5, 64), torch.randn(5, 64)).shape
        torch.Size([5])
    """
    return tm.Calibrated(_sum_of_parts(dim, symmetric, tolls))


def make_head(name: HeadName, dim: int, *, symmetric: bool = False, concave_units: int = 0) -> Distance:
    """Build the head with the given name, a distance on vectors of size `dim`.

    Args:
        name: one of `HEADS`.  All of them keep the triangle inequality except `mlp`, the unconstrained reference.
        dim: length of the vectors.
        symmetric: whether d(x, y) = d(y, x) must hold; an error if the head cannot promise it.
        concave_units: learned concave units per component (a `NeuralMetric`); with 0 the distance of a norm is
            $||y - x||$.  `recommended` and `mlp` have no such units and ignore this argument.

    Returns:
        The untrained distance, without an output scale (see `Calibrated`).

    Examples:
        >>> make_head("wide", 8).axioms.triangle
        True
    """
    from trimetric._support import checks
    from trimetric.distances import as_distance

    checks.one_of("head", name, HEADS)
    head = HEADS[name]
    if symmetric and head.symmetry == "never":
        raise ValueError(f"symmetric: expected a head that can promise it, got {name!r}")
    built = head.build(dim, bool(symmetric))
    if head.concave and (isinstance(concave_units, bool) or concave_units != 0):
        return tm.NeuralMetric(built, concave_units=concave_units)
    return as_distance("head", built)


def _sum_of_parts(dim: int, symmetric: bool, tolls: bool = False) -> Distance:
    """The head of `recommended`, without its output scale."""
    from trimetric._support import checks

    checks.boolean("symmetric", symmetric)
    checks.boolean("tolls", tolls)
    taken = (1 if symmetric else 2) if tolls else 0
    if checks.positive_int("dim", dim) <= taken:
        raise ValueError(f"dim: expected more than the {taken} that the tolls take, got {dim}")
    own = dim - taken
    moving = tm.WideNorm(own, components=8, width=8, symmetric=symmetric)
    others: list[Distance] = [tm.ResidualMetric(own), tm.IntervalQuasimetric(own)]
    parts = [moving, *(tm.SymmetrizedMetric(part) if symmetric else part for part in others)]
    head = tm.WideMetric(parts, pool="mean")
    return tm.TollMetric(head) if tolls else head


def _deep(dim: int, symmetric: bool) -> Norm:
    norm = tm.DeepNorm(dim, widths=(64, 64))
    return tm.Symmetrized(norm) if symmetric else norm


def _interval(dim: int, symmetric: bool) -> Distance:
    distance = tm.IntervalQuasimetric(dim)
    return tm.SymmetrizedMetric(distance) if symmetric else distance


HEADS: dict[HeadName, Head] = {
    "wide": Head("a rectified `WideNorm`", lambda dim, symmetric: tm.WideNorm(dim, symmetric=symmetric)),
    "deep": Head("a `DeepNorm` of two layers", _deep),
    "interval": Head("an `IntervalQuasimetric`", _interval),
    "mahalanobis": Head("a `Mahalanobis` norm", lambda dim, _: tm.Mahalanobis(dim), symmetry="always"),
    "euclidean": Head("the `Euclidean` norm", lambda dim, _: tm.Euclidean(dim), symmetry="always"),
    "recommended": Head("`tm.recommended`: intervals + residual + a small Wide Norm", _sum_of_parts, concave=False),
    "mlp": Head(
        "an `MLPDistance`: a free network of both points, for reference",
        lambda dim, _: tm.MLPDistance(dim),
        symmetry="never",
        metric=False,
        concave=False,
    ),
}


def heads_table() -> str:
    """Describe all heads in a Markdown table, as docs/howto/choose-a-head.md shows it.

    Returns:
        The lines of the table, joined.

    Examples:
        >>> print(heads_table().splitlines()[0])
        | name | head | triangle inequality | symmetric | concave units |
    """
    rows = [
        f"| `{name}` | {head.about} | {'yes' if head.metric else '**no**'} | {head.symmetry} | "
        f"{'yes' if head.concave else 'no'} |"
        for name, head in HEADS.items()
    ]
    return "\n".join(
        ["| name | head | triangle inequality | symmetric | concave units |", "|---|---|---|---|---|", *rows]
    )
