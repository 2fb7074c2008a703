"""The overview: a row per table or figure, with what the paper claims and what our rows show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from reproduction.frame.findings import Check, Finding, find
from reproduction.frame.paper import PRINTED_AS

MARKS = {"holds": "●", "holds in part": "◐", "fails": "○", "": ""}
"""a verdict is told by its words and a mark, not by a color alone"""


@dataclass(frozen=True)
class OverviewRow:
    """A row of the overview."""

    label: str
    """of the section to which it links"""
    name: str
    """how the paper numbers it; for what is not in the paper, the name of the experiment"""
    claim: str
    found: str
    verdict: str
    """"holds", "holds in part", "fails", or empty if nothing was judged"""

    @property
    def mark(self) -> str:
        """The sign of the verdict."""
        return MARKS[self.verdict]


def overview_row(
    label: str,
    name: str,
    title: str,
    claim: str,
    finding: Finding | None,
    cells: Mapping[str, int],
    *,
    runs: bool,
    figures: int,
) -> OverviewRow:
    """Make the row of a section.

    Args:
        label: of the section.
        name: of the experiment, shown if the paper has no such table or figure.
        title: of the section, shown if there is no claim.
        claim: what the paper claims; may be empty.
        finding: what the experiment found; None if it says nothing.
        cells: how many cells of the section's tables beat, match or miss the paper's.
        runs: whether there are any.
        figures: how many the section has.
    """
    if not runs:
        finding = Finding("no runs yet")
    elif finding is None:
        finding = _from_cells(cells) or Finding(f"{figures} {'figure' if figures == 1 else 'figures'}, not judged")
    return OverviewRow(label, PRINTED_AS.get(label, name), claim or title, finding.text, finding.verdict or "")


def _from_cells(cells: Mapping[str, int]) -> Finding | None:
    reached = cells.get("matches", 0) + cells.get("beats", 0)
    return find(Check("matches or beats the paper", reached, reached + cells.get("misses", 0)))


def count_verdicts(rows: list[OverviewRow]) -> Counter[str]:
    """Count the verdicts of the rows that have one."""
    return Counter(row.verdict for row in rows if row.verdict)
