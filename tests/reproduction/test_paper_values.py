"""Every number of every table of the paper is in the file, as printed."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from places import ROOT

from reproduction.frame.paper import LABELS, SETTINGS, labels, last_digit, paper_values, printed_values

# Tables of the paper that print numbers, with how many; `table_norm_props` prints none, and
# `table_graph_stats_and_results` is the frame around two others.
NUMBERS = {
    "figure_motivation": 3,
    "table_mn_1": 16,
    "table_graph_stats": 24,
    "table_graph_results": 30,
    "table_computation": 19,
    "table_2d_norm_results": 32,
    "table_2d_norm_results_2": 32,
    "table_2d_norm_results_0.5": 32,
    "table_vi_arches": 10,
}


def test_every_table_is_there_with_all_its_numbers() -> None:
    assert {label: sum(map(len, paper_values(label).values())) for label in labels()} == NUMBERS
    assert set(NUMBERS) <= set(LABELS)
    assert set(SETTINGS) <= set(NUMBERS)


@pytest.mark.parametrize(
    ("label", "row", "column", "value"),
    [
        ("figure_motivation", "Mahalanobis", "MSE", "0.057"),
        ("figure_motivation", "Wide Norm", "MSE", "0.000"),
        ("table_mn_1", "TF", "broken (S)", "7.7e3"),
        ("table_mn_1", "DN", "J (A)", "7.29e-2"),
        ("table_mn_1", "Eucl", "J (S)", "9.12e-2"),
        ("table_graph_stats", "to", "max(d)", "145.7"),
        ("table_graph_stats", "push", "edges", "1498e3"),
        ("table_graph_stats", "3dd", "sigma_d", "13.4"),
        ("table_graph_results", "to", "WN", "6.6"),
        ("table_graph_results", "taxi", "MLP", "5.8"),
        ("table_graph_results", "3dd", "DN_N", "157.7"),
        ("table_computation", "DN 2x400", "2048", "293"),
        ("table_computation", "WN 64x64", "128", "13.4"),
        ("table_2d_norm_results", "sym 16", "DN", "1.5e-5"),
        ("table_2d_norm_results", "diamond 128", "WN", "2.3e-10"),
        ("table_2d_norm_results", "asym 128", "MLP", "3.0e-5"),
        ("table_2d_norm_results_2", "asym 16", "DN", "1.6e-2"),
        ("table_2d_norm_results_2", "square 128", "WN", "3.7e-8"),
        ("table_2d_norm_results_0.5", "sym 128", "Maha", "8.1e-4"),
        ("table_2d_norm_results_0.5", "diamond 128", "WN", "5.8e-11"),
        ("table_vi_arches", "WideNorm", "layers / components", "32"),
    ],
)
def test_cells(label: str, row: str, column: str, value: str) -> None:
    found = printed_values(label)[row][column]
    assert isinstance(found, Decimal | int)
    assert Decimal(found).as_tuple() == Decimal(value).as_tuple()  # the digits too
    assert paper_values(label)[row][column] == float(value)


def test_words_are_kept_and_are_no_numbers() -> None:
    assert printed_values("table_computation")["DN 3x600"]["2048"] == "OOM"
    assert "2048" not in paper_values("table_computation")["DN 3x600"]


def test_rows_of_a_table_have_the_same_columns() -> None:
    for label in set(labels()) - set(SETTINGS):
        assert len({tuple(row) for row in printed_values(label).values()}) == 1


@pytest.mark.parametrize(
    ("value", "unit"), [("0.057", 1e-3), ("7.7e3", 100), ("278e3", 1000), ("0.000", 1e-3), ("293", 1)]
)
def test_last_digit(value: str, unit: float) -> None:
    assert last_digit(Decimal(value)) == pytest.approx(unit)


def test_no_other_file_holds_one() -> None:
    """Checked with numbers that cannot be anything else."""
    telling = re.compile(r"\b(145\.7|111\.2|211\.8|252\.7|157\.7|199\.5|7\.29e-2|9\.12e-2|2\.44e-2)\b")
    root = ROOT
    files = [path for folder in ("src", "reproduction", "benchmarks") for path in (root / folder).rglob("*.py")]
    assert [str(path) for path in files if telling.search(path.read_text())] == []
