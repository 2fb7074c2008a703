"""The paper's claims about metric nearness, checked with our rows."""

from __future__ import annotations

from itertools import pairwise

from reproduction.frame.findings import Finding, check, find
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import summarize

COMPARABLE = 1.25
"""how many times the J of triangle fixing is still comparable: the paper says so of a ratio of 1.21"""
ORDER = ("DN", "WN", "Eucl")
"""by the end of the paper's curves, the best first"""


def findings(rows: list[Row], recipe: str) -> dict[str, Finding]:
    """Judge the claims, by label.

    Args:
        rows: of the ledger.
        recipe: of the models.
    """
    n = max((row.settings["n"] for row in rows), default=0)
    found = {"table_mn_1": _against_fixing(rows, recipe, n), "figure_mn_curves": _order(rows, n)}
    return {label: finding for label, finding in found.items() if finding is not None}


def _distortion(rows: list[Row], reading: str, method: str, recipe: str, n: int) -> float | None:
    found = summarize(pick(rows, "J", {"reading": reading, "method": method, "recipe": recipe, "n": n}))
    return None if found is None else found.value


def _against_fixing(rows: list[Row], recipe: str, n: int) -> Finding | None:
    """Compare with triangle fixing, which in our form also solves asymmetric matrices (deviation D18)."""
    cases, ratios = [], []
    for reading, method, limit in (("S", "DN", COMPARABLE), ("S", "WN", COMPARABLE), ("A", "DN", 1.0)):
        learned, fixed = (_distortion(rows, reading, name, own, n) for name, own in ((method, recipe), ("TF", "")))
        if learned is not None and fixed is not None:
            cases.append(learned < limit * fixed)
            ratios.append(f"{method} ({reading}) {learned / fixed:.3g}")
    words = f"J over triangle fixing's: {', '.join(ratios)}; as claimed"
    return find(check(words, cases))


def _order(rows: list[Row], n: int) -> Finding | None:
    """Check which of two models ends lower on symmetric matrices, by each recipe."""
    cases = []
    for recipe in ("rows", "paper"):
        ends = [_distortion(rows, "S", method, recipe, n) for method in ORDER]
        cases += [low < high for low, high in pairwise(ends) if low is not None and high is not None]
    return find(check("in this order", cases, "comparisons of two recipes"))
