"""The paper's claims about metric nearness, checked with our rows."""

from __future__ import annotations

from itertools import pairwise

from reproduction.frame.findings import Check, Finding, check, find
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import summarize

COMPARABLE = 1.25
"""how many times the J of triangle fixing is still comparable: the paper says so of a ratio of 1.21"""
ORDER = ("DN", "WN", "Eucl")
"""by the end of the paper's curves, the best first"""
BY = {"rows": "by our recipe", "paper": "by the paper's"}
PAPER_EPOCHS = 1500


def findings(rows: list[Row]) -> dict[str, Finding]:
    """Judge the claims, by label.

    Args:
        rows: of the ledger.
    """
    n = max((row.settings["n"] for row in rows), default=0)
    against = [check for recipe in BY if (check := _against_fixing(rows, recipe, n)) is not None]
    found = {"table_mn_1": find(*against), "figure_mn_curves": _order(rows, n)}
    return {label: finding for label, finding in found.items() if finding is not None}


def _distortion(rows: list[Row], reading: str, method: str, recipe: str, n: int) -> float | None:
    found = summarize(pick(rows, "J", {"reading": reading, "method": method, "recipe": recipe, "n": n}))
    return None if found is None else found.value


def _against_fixing(rows: list[Row], recipe: str, n: int) -> Check | None:
    """Compare with triangle fixing, which in our form also solves asymmetric matrices (deviation D18)."""
    if recipe == "paper":  # a part of its epochs says nothing of it
        rows = [row for row in rows if row.settings["recipe"] != recipe or row.settings["epochs"] == PAPER_EPOCHS]
    cases, ratios = [], []
    for reading, method, limit in (("S", "DN", COMPARABLE), ("S", "WN", COMPARABLE), ("A", "DN", 1.0)):
        learned, fixed = (_distortion(rows, reading, name, own, n) for name, own in ((method, recipe), ("TF", "")))
        if learned is not None and fixed is not None:
            cases.append(learned < limit * fixed)
            ratios.append(f"{method} ({reading}) {learned / fixed:.3g}")
    return check(f"{BY[recipe]}: J over triangle fixing's: {', '.join(ratios)}; as claimed", cases) if cases else None


def _order(rows: list[Row], n: int) -> Finding | None:
    """Check which of two models ends lower on symmetric matrices, by each recipe."""
    cases = []
    for low, high in pairwise(ORDER):
        for recipe in BY:
            compared = _of_equal_length(rows, (low, high)) if recipe == "paper" else rows
            first, second = (_distortion(compared, "S", method, recipe, n) for method in (low, high))
            if first is not None and second is not None:
                cases.append(first < second)
    return find(check("in this order", cases, "comparisons of two recipes"))


def _of_equal_length(rows: list[Row], methods: tuple[str, str]) -> list[Row]:
    """The rows of the paper's recipe with the most epochs that both methods were trained for."""
    own = [row for row in rows if row.settings["recipe"] == "paper" and row.settings["reading"] == "S"]
    both = set.intersection(
        *({row.settings["epochs"] for row in own if row.settings["method"] == method} for method in methods)
    )
    return [row for row in own if row.settings["epochs"] == max(both)] if both else []
