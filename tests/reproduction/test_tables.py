"""What is behind a cell, and when it matches, beats or misses the paper."""

from __future__ import annotations

from decimal import Decimal

import pytest

from reproduction.frame.rows import Row
from reproduction.frame.tables import Column, Measured, Table, format_printed, format_spread, format_value, summarize


def rows(*values: float, epochs: int = 10) -> list[Row]:
    return [
        Row("tiny", "c", seed, "mse", value, epochs, 1, "", "", {}, str(seed), (0, 1))
        for seed, value in enumerate(values)
    ]


def verdict(
    *values: float,
    row: str = "to",
    column: str = "WN",
    better: str = "lower",
    best: bool = False,
    tolerance: float = 0.0,
    other_data: bool = False,
) -> str | None:
    """The verdict on values of the paper's table of graphs, where "to", "WN" is 6.6."""
    cell = summarize(rows(*values), "best" if best else "mean")
    column_ = Column(column, better=better, tolerance=tolerance)  # type: ignore[arg-type]
    table = Table(
        label="table_graph_results",
        title="",
        columns=[column_],
        rows=[row],
        cells={(row, column): cell},
        other_data=frozenset({row} if other_data else ()),
    )
    return table.verdict(row, column_)


def test_measured() -> None:
    cell = summarize(rows(1.0, 2.0, 3.0))
    assert cell is not None
    assert (cell.value, cell.spread, cell.seeds, cell.epochs, cell.worst) == (2.0, 1.0, 3, 10, 3.0)
    assert cell.runs == {("c", 0), ("c", 1), ("c", 2)}
    best = summarize(rows(1.0, 2.0), "best")
    assert best is not None
    assert (best.value, best.spread) == (1.0, None)
    assert summarize([]) is None


def test_verdicts() -> None:
    assert verdict(6.2) == "beats"
    assert verdict(7.0) == "misses"
    assert verdict(6.64) == verdict(6.56) == "matches"  # the same in the printed digits
    assert verdict(6.0, 7.0) == "matches"  # 6.5 +- .7
    assert verdict(6.2, 6.21) == "beats"
    assert verdict(6.0, 9.0, best=True) == "beats"  # the spread of several starts excuses nothing
    assert verdict(6.2, better="higher") == "misses"
    assert verdict(7.0, better="higher") == "beats"
    assert verdict(6.2, better="equal") == verdict(7.0, better="equal") == "misses"
    assert verdict(6.61, better="equal") == "matches"
    assert verdict(6.92, better="equal", tolerance=0.05) == "matches"
    assert verdict(6.94, better="equal", tolerance=0.05) == "misses"
    assert verdict(float("nan")) == verdict(float("inf")) == verdict(float("nan"), 6.6) == "misses"
    assert verdict(6.2, column="none of the paper's") is None
    assert verdict() is None


def test_what_cannot_be_compared_has_no_verdict() -> None:
    assert verdict(6.2, other_data=True) is None
    cell = summarize(rows(1.0))
    column = Column("2048", better="lower")
    table = Table(
        label="table_computation", title="", columns=[column], rows=["DN 3x600"], cells={("DN 3x600", "2048"): cell}
    )
    assert table.printed("DN 3x600", "2048") == "OOM"
    assert table.verdict("DN 3x600", column) is None


def test_stray_cells_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"cells: expected rows of \['a'\].*got \('b', 'x'\)"):
        Table(label="new", title="", columns=[Column("x")], rows=["a"], cells={("b", "x"): "text"})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0.057", "0.057"),
        ("0.000", "0.000"),
        ("1.5e-5", "1.5e-5"),
        ("2.0e-10", "2.0e-10"),
        ("278e3", "278,000"),
        ("3.4e-3", "0.0034"),
    ],
)
def test_written(value: str, text: str) -> None:
    assert format_printed(Decimal(value)) == text


def test_ours_and_spread() -> None:
    cell = Measured(1.234e-5, 2e-6, 3, 10, "mean", 2e-5, frozenset())
    assert (format_value(cell, Column("")), format_spread(cell, Column(""))) == ("1.23e-5", "± 2e-6")
    assert format_spread(Measured(58.0, 12.4, 3, 10, "mean", 70.0, frozenset()), Column("")) == "± 12"
    best = Measured(1.0, None, 3, 10, "best", 2.5, frozenset())
    assert (format_value(best, Column("")), format_spread(best, Column(""))) == ("1", "worst 2.5")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (3.0, "3"),
        (1.0004, "1.00"),
        (0.01931, "0.0193"),
        (145.7, "146"),
        (1183.2, "1,183"),
        (3.21e-6, "3.21e-6"),
    ],
)
def test_three_digits(value: float, text: str) -> None:
    cell = summarize(rows(value))
    assert cell is not None
    assert format_value(cell, Column("mse")) == text
