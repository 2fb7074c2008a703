"""What is wrong with an entry of a matrix, said by each caller in words of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

Cell = tuple[int, int]
Remedy = Literal["missing", "known", "average"]

REMEDIES: dict[Remedy, str] = {
    "missing": "missing='nan' says that NaN stands for distances that are not known",
    "known": "an infinite distance is none; put NaN where it is not known, and say missing='nan'",
    "average": "(D + D.T) / 2 has the same nearest symmetric metric",
}


class EntryError(ValueError):
    """Entries that cannot be used, and where they are.

    Args:
        expected: of the entry.
        matrix: that has it.
        cells: indices (i, j) of the entries to show.
        more: how many others are wrong in the same way.
        remedy: what a caller can do about it.
    """

    def __init__(
        self,
        expected: str,
        matrix: np.ndarray,
        *cells: Cell,
        more: int = 0,
        remedy: Remedy | None = None,
    ) -> None:
        self.expected, self.cells, self.more = expected, cells, more
        self.remedy: Remedy | None = remedy
        self.values = [float(matrix[cell]) for cell in cells]
        super().__init__(expected)

    def __str__(self) -> str:
        return self.in_words("D", lambda cell, value: f"D[{cell[0]}, {cell[1]}] = {value}", REMEDIES)

    def in_words(self, subject: str, show: Callable[[Cell, str], str], remedies: dict[Remedy, str]) -> str:
        """One line.

        Args:
            subject: what the line is about, such as a place in a file.
            show: from the row and column of an entry, and its value, to what is said of it.
            remedies: what can be done, in the caller's words.
        """
        shown = [show(cell, f"{value:.12g}") for cell, value in zip(self.cells, self.values, strict=True)]
        more = f" and {self.more:,} more" if self.more else ""
        remedy = f"; {remedies[self.remedy]}" if self.remedy else ""
        return f"{subject}: expected {self.expected}, got {' and '.join(shown)}{more}{remedy}"


def wrong_entry(expected: str, matrix: np.ndarray, bad: np.ndarray, *, remedy: Remedy | None = None) -> EntryError:
    """The error of the first entry of those that are marked."""
    i, j = np.argwhere(bad)[0]
    return EntryError(expected, matrix, (int(i), int(j)), more=int(bad.sum()) - 1, remedy=remedy)
