"""What our rows say about a claim of the paper: in how many of the cases that were asked it holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "holds in part", "fails"]


def judge(held: int, asked: int) -> Verdict:
    """Judge a claim.

    Args:
        held: in how many cases it holds.
        asked: number of cases.

    Returns:
        "holds" if it does in all of them, "fails" if in fewer than half.

    Examples:
        >>> judge(23, 24)
        'holds in part'
    """
    return "holds" if held == asked else "fails" if 2 * held < asked else "holds in part"


@dataclass(frozen=True)
class Check:
    """One part of a claim, asked in several cases."""

    words: str
    """what was asked, continued by "in 23 of 24 cells\""""
    held: int
    asked: int
    unit: str = "cells"

    def __str__(self) -> str:
        return f"{self.words} in {self.held} of {self.asked} {self.unit}".strip()


@dataclass(frozen=True)
class Finding:
    """A line of the report's overview."""

    text: str
    verdict: Verdict | None = None
    """None where nothing is claimed that could fail"""


def check(words: str, cases: Iterable[bool], unit: str = "cells") -> Check:
    """Count the cases in which a part of a claim holds.

    Args:
        words: what is asked.
        cases: whether it holds, case by case.
        unit: what the cases are.

    Examples:
        >>> str(check("lower error", [True, False, True], "graphs"))
        'lower error in 2 of 3 graphs'
    """
    found = list(cases)
    return Check(words, sum(found), len(found), unit)


def find(*checks: Check, note: str = "") -> Finding | None:
    """Combine the checks of a claim.

    Args:
        checks: its parts; those without cases are left out.
        note: is appended.

    Returns:
        The finding, judged over all cases; None without cases.

    Examples:
        >>> find(Check("lower error", 2, 3, "graphs")).verdict
        'holds in part'
    """
    asked = [part for part in checks if part.asked]
    if not asked:
        return None
    verdict = judge(sum(part.held for part in asked), sum(part.asked for part in asked))
    return Finding("; ".join([*map(str, asked), *([note] if note else [])]), verdict)
