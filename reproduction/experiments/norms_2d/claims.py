"""The paper's claims about norms of the plane, checked with our rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from reproduction.data.plane_norms import KINDS, SIZES
from reproduction.frame.paper import paper_values

WIDE = ("WN", "WN rectified")
Error = Callable[[str, int, str, str], float | None]
"""the mean test error by kind of norm, number of training vectors, model and norm value; None without runs"""


def claims(protocols: dict[str, Error]) -> list[str]:
    """Write a sentence for each claim; claims without runs are left out.

    Args:
        protocols: errors by name of the protocol.  All claims are checked with the first; which model wins on square
            and diamond, with every one.
    """
    first = next(iter(protocols.values()))
    corners = [text for name, error in protocols.items() if (text := _corners(error, name))]
    return [text for text in (_other_values(first), *corners, _rectified(first)) if text]


def _other_values(error: Error) -> str | None:
    """At half the norm, a homogeneous model has a quarter of the squared error; another model may have any error."""
    growth: dict[str, list[float]] = {"DN": [], "MLP": []}
    for model, kind, size in itertools.product(growth, KINDS, SIZES):
        half, whole = error(kind, size, model, "0.5"), error(kind, size, model, "1")
        if half is not None and whole:
            growth[model].append(half / whole)
    if not all(growth.values()):
        return None
    deep, mlp = growth["DN"], growth["MLP"]
    verdict = "holds" if max(deep) < 1 < min(mlp) else "fails"
    return (
        f'"Metrics generalize to other norm values and the MLP does not" {verdict}: from norm value 1 to 0.5 the error '
        f"of a Deep Norm becomes {min(deep):.2g} to {max(deep):.2g} times itself, that of the MLP {min(mlp):.2g} to "
        f"{max(mlp):.2g} times."
    )


def corner_winners(error: Error) -> dict[str, str]:
    """The model with the smallest error on square and diamond, among the models of the protocol."""
    winners = {}
    for kind, size in itertools.product(("square", "diamond"), SIZES):
        found = {model: error(kind, size, model, "1") for model in ("Maha", "DN", *WIDE, "MLP")}
        there = {model: value for model, value in found.items() if value is not None}
        if {"DN", *WIDE} <= there.keys():
            winners[f"{kind} {size}"] = min(there, key=lambda model: there[model])
    return winners


def _corners(error: Error, protocol: str) -> str | None:
    """Say whether Wide Norms win on square and diamond."""
    winners = corner_winners(error)
    won, lost = (
        [f"{case} ({best})" for case, best in winners.items() if (best in WIDE) == wide] for wide in (True, False)
    )
    if not winners:
        return None
    verdict = "holds" if not lost else "fails" if not won else "holds in part"
    elsewhere = f"; not on {', '.join(lost)}" if lost else ""
    return f'"Wide Norms win on square and diamond", {protocol}, {verdict}: on {", ".join(won) or "none"}{elsewhere}.'


def _rectified(error: Error) -> str | None:
    """Compare the rectified form with the paper's number for its own asymmetric form."""
    printed = paper_values("table_2d_norm_results")
    found = {size: error("asym", size, "WN rectified", "1") for size in SIZES}
    parts = [
        f"{printed[f'asym {size}']['WN'] / value:.2g} times less with {size} vectors"
        for size, value in found.items()
        if value
    ]
    if not parts:
        return None
    return f"The rectified Wide Norm's error on asymmetric hulls against the paper's: {', '.join(parts)}."
