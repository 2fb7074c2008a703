"""A table next to the paper's: the runs behind each cell, and whether it matches, beats or misses the paper."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from reproduction.frame.paper import Printed, last_digit, printed_values
from reproduction.frame.rows import Row, longest_trained

Verdict = Literal["beats", "matches", "misses"]
Statistic = Literal["mean", "best"]


@dataclass(frozen=True)
class Measured:
    """A number and the runs behind it."""

    value: float
    spread: float | None
    """standard deviation over the seeds; None for a single seed, and for the best of several"""
    seeds: int
    epochs: int
    statistic: Statistic
    worst: float
    """the largest value among the seeds"""
    runs: frozenset[tuple[str, int]]
    """configuration and seed of each run"""


def summarize(rows: list[Row], statistic: Statistic = "mean") -> Measured | None:
    """Summarize the rows of one table cell: of the configuration that was trained longest.

    Args:
        rows: of one metric.
        statistic: the mean over the seeds, or the smallest value ("best": the best of several starts).

    Returns:
        The number with its runs; None without rows.
    """
    chosen = longest_trained(rows)
    if not chosen:
        return None
    values = [float(row.value) for row in chosen]
    return Measured(
        value=statistics.fmean(values) if statistic == "mean" else min(values),
        spread=_spread(values) if statistic == "mean" else None,
        seeds=len(values),
        epochs=max(row.epochs for row in chosen),
        statistic=statistic,
        worst=max(values),
        runs=frozenset((row.config, row.seed) for row in chosen),
    )


def _spread(values: list[float]) -> float | None:
    if len(values) < 2:
        return None
    return statistics.stdev(values) if all(map(math.isfinite, values)) else math.nan


@dataclass(frozen=True)
class Column:
    """A column: how it is formatted, and how it compares with the paper's."""

    name: str
    better: Literal["lower", "higher", "equal"] | None = "lower"
    """"equal" if ours should be the same as the paper's; None if they cannot be compared"""
    format: str = ".3g"
    tolerance: float = 0.0
    """relative difference from the paper's number that still matches, for statistics of random data"""


@dataclass(frozen=True)
class Table:
    """Rows by columns.  A cell is a measured number, a text, or absent, which is shown as "no run".

    The paper's numbers come from `paper_values.toml`, by label, row and column.
    """

    label: str
    """label of the paper's table, or a new one if the paper has none"""
    title: str
    columns: list[Column]
    rows: list[str]
    cells: dict[tuple[str, str], Measured | str | None]
    corner: str = ""
    """heading of the first column"""
    note: str = ""
    command: str | None = None
    """the command that makes it, if that is not the experiment's"""
    trained_in: Literal["epochs", "steps"] = "epochs"
    """what the `epochs` of the runs count"""
    other_data: frozenset[str] = frozenset()
    """rows whose data are not the paper's: shown next to its numbers, but not compared with them"""
    paper: dict[str, dict[str, Printed]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "paper", printed_values(self.label))
        names = {column.name for column in self.columns}
        if stray := [cell for cell in self.cells if cell[0] not in self.rows or cell[1] not in names]:
            raise ValueError(f"cells: expected rows of {self.rows} and columns of {sorted(names)}, got {stray[0]}")

    def printed(self, row: str, column: str) -> Printed | None:
        """What the paper prints in a cell."""
        return self.paper.get(row, {}).get(column)

    def has_paper(self, column: Column) -> bool:
        """Whether the paper prints anything in a column."""
        return any(self.printed(row, column.name) is not None for row in self.rows)

    def comparable(self, row: str, column: Column) -> bool:
        """Whether the paper has a number with which ours is compared."""
        return column.better is not None and row not in self.other_data and self.printed(row, column.name) is not None

    def verdict(self, row: str, column: Column) -> Verdict | None:
        """Compare a cell with the paper's.

        It matches within the spread over our seeds or the column's tolerance, or if it is equal in the printed digits.
        None if there is nothing to compare.
        """
        ours, theirs = self.cells.get((row, column.name)), self.printed(row, column.name)
        if column.better is None or not self.comparable(row, column):
            return None
        if not isinstance(ours, Measured) or not isinstance(theirs, Decimal | int):
            return None
        # The tolerance is widened by rounding: .0575 and .057 differ by half a unit in binary, or a little more.
        rounding = last_digit(theirs) / 2 * (1 + 1e-9)
        tolerance = max(ours.spread or 0.0, rounding, column.tolerance * abs(float(theirs)))
        difference = ours.value - float(theirs)
        if abs(difference) <= tolerance:
            return "matches"
        wanted = {"lower": difference < 0, "higher": difference > 0, "equal": False}
        return "beats" if wanted[column.better] else "misses"

    @property
    def runs(self) -> set[tuple[str, int]]:
        """All runs behind the table."""
        return {run for cell in self.cells.values() if isinstance(cell, Measured) for run in cell.runs}


def format_printed(value: Printed) -> str:
    """Format a number of the paper as a reader expects it: 0.057, 3.4e-5, 278,000."""
    if isinstance(value, str):
        return value
    number = Decimal(value)
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return f"{number:,f}"
    return _short(f"{number:e}")


def format_value(cell: Measured, column: Column) -> str:
    """Format our number as the column says; three digits become 1.00 and 1,180 rather than 1 and 1.18e3."""
    if column.format != ".3g" or not math.isfinite(cell.value) or cell.value == int(cell.value) < 1000:
        return _short(format(cell.value, column.format))
    if 1000 <= abs(cell.value) < 1e7:
        return format(cell.value, ",.0f")
    return _short(format(cell.value, "#.3g").rstrip("."))


def format_spread(cell: Measured, column: Column) -> str:
    """Format how much the seeds differ; empty for a single seed."""
    if cell.statistic == "best":
        return f"worst {_short(format(cell.worst, column.format))}" if cell.seeds > 1 else ""
    precision = ".0e" if column.format.endswith("e") else ".1g"
    if cell.spread is not None and 10 <= cell.spread < 1e5 and precision == ".1g":
        precision = ",.0f"  # 12, and not 1e1
    return "" if cell.spread is None else f"± {_short(format(cell.spread, precision))}"


def _short(text: str) -> str:
    """Remove the zeros that Python puts into exponents: 1e-05 becomes 1e-5."""
    mantissa, e, exponent = text.lower().partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text
