"""What the paper says of norms of the plane, judged by our rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from reproduction.norms_2d_data import KINDS, SIZES
from reproduction.paper import paper_values
from reproduction.rows import Row
from reproduction.tables import Measured

WIDE = ("WN", "WN rectified")
Measure = Callable[[list[Row], str, int, str, str], Measured | None]
"""the mean test error of a model on a kind of norm, from so many vectors, at a norm value"""


def claims(rows: list[Row], measure: Measure) -> list[str]:
    """A sentence for each claim; those without runs are left out."""

    def error(kind: str, size: int, model: str, value: str = "1") -> float | None:
        found = measure(rows, kind, size, model, value)
        return None if found is None else found.value

    return [text for text in (_other_values(error), _corners(error), _rectified(error)) if text]


def _other_values(error: Callable[..., float | None]) -> str | None:
    """At half the norm a homogeneous model has a quarter of the squared error; one that is not has any."""
    growth: dict[str, list[float]] = {"DN": [], "MLP": []}
    for model, kind, size in itertools.product(growth, KINDS, SIZES):
        half, whole = error(kind, size, model, "0.5"), error(kind, size, model)
        if half is not None and whole:
            growth[model].append(half / whole)
    if not all(growth.values()):
        return None
    deep, mlp = growth["DN"], growth["MLP"]
    verdict = "holds" if max(deep) < 1 < min(mlp) else "fails"
    return (
        f'"Metrics generalise to other norm values and the MLP does not" {verdict}: from norm value 1 to 0.5 the error '
        f"of a Deep Norm becomes {min(deep):.2g} to {max(deep):.2g} times itself, that of the MLP {min(mlp):.2g} to "
        f"{max(mlp):.2g} times."
    )


def _corners(error: Callable[..., float | None]) -> str | None:
    """Whether Wide Norms have the least error on square and diamond."""
    won, lost = [], []
    for kind, size in itertools.product(("square", "diamond"), SIZES):
        found = {model: error(kind, size, model) for model in ("Maha", "DN", *WIDE, "MLP")}
        there = {model: value for model, value in found.items() if value is not None}
        if len(there) < len(found):
            continue
        best = min(there, key=lambda model: there[model])
        (won if best in WIDE else lost).append(f"{kind} {size} ({best})")
    if not won and not lost:
        return None
    verdict = "holds" if not lost else "fails" if not won else "holds in part"
    elsewhere = f"; not on {', '.join(lost)}" if lost else ""
    return f'"Wide Norms win on square and diamond" {verdict}: on {", ".join(won) or "none"}{elsewhere}.'


def _rectified(error: Callable[..., float | None]) -> str | None:
    """The rectified form against the paper's number for its own asymmetric one."""
    printed = paper_values("table_2d_norm_results")
    found = {size: error("asym", size, "WN rectified") for size in SIZES}
    parts = [
        f"{printed[f'asym {size}']['WN'] / value:.2g} times less with {size} vectors"
        for size, value in found.items()
        if value
    ]
    if not parts:
        return None
    return f"The rectified Wide Norm's error on asymmetric hulls against the paper's: {', '.join(parts)}."
