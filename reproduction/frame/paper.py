"""The numbers that the paper prints, with exactly the digits that it prints."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "paper_values.toml"

Printed = Decimal | int | str
"""a number as printed, or the word that is printed instead ("OOM")"""

LABELS = (
    "figure_motivation",
    "figure_2d_norm_balls",
    "table_mn_1",
    "table_graph_stats",
    "table_graph_results",
    "figure_value_it_viz",
    "figure_value_it_sparsity",
    "table_computation",
    "table_2d_norm_results",
    "table_2d_norm_results_2",
    "table_2d_norm_results_0.5",
    "figure_2d_norm_balls_appendix_squares",
    "figure_2d_norm_balls_appendix_hull",
    "figure_mn_curves",
    "figure_symmetric_graph_learning_curves",
    "figure_asymmetric_graph_learning_curves",
    "figure_value_it_dataset",
    "table_vi_arches",
    "figure_value_it_sparsity_app",
    "figure_value_iteration_value_heatmaps",
    "figure_value_iteration_se_heatmaps",
    "figure_value_iteration_spl_heatmaps",
)
"""every table with numbers and every figure with results, in the order of the paper"""

PRINTED_AS = {
    "figure_motivation": "Figure 1",
    "figure_2d_norm_balls": "Figure 3",
    "table_mn_1": "Table 2",
    "table_graph_stats": "Table 3a",
    "table_graph_results": "Table 3b",
    "figure_value_it_viz": "Figure 4",
    "figure_value_it_sparsity": "Figure 5",
    "table_computation": "Figure 6",  # a table that is numbered as a figure
    "table_2d_norm_results": "Table 4",
    "table_2d_norm_results_2": "Table 5",
    "table_2d_norm_results_0.5": "Table 6",
    "figure_2d_norm_balls_appendix_squares": "Figure 7",
    "figure_2d_norm_balls_appendix_hull": "Figure 8",
    "figure_mn_curves": "Figure 9",
    "figure_symmetric_graph_learning_curves": "Figure 10",
    "figure_asymmetric_graph_learning_curves": "Figure 11",
    "figure_value_it_dataset": "Figure 12",
    "table_vi_arches": "Table 7",
    "figure_value_it_sparsity_app": "Figures 13, 14",
    "figure_value_iteration_value_heatmaps": "Figure 15",
    "figure_value_iteration_se_heatmaps": "Figure 16",
    "figure_value_iteration_spl_heatmaps": "Figure 17",
}
"""their numbers, counted in the source of the paper; Figure 2 and Table 1 describe the architectures"""

SETTINGS = ("table_vi_arches",)
"""tables of settings: their numbers are used, not measured"""


@cache
def _tables() -> dict[str, dict[str, dict[str, Printed]]]:
    with FILE.open("rb") as file:
        return tomllib.load(file, parse_float=Decimal)


def labels() -> list[str]:
    """The labels of the tables and figures that print numbers."""
    return list(_tables())


def printed_values(label: str) -> dict[str, dict[str, Printed]]:
    """What a table or figure prints, by row and column; empty if it prints no number."""
    return _tables().get(label, {})


def paper_values(label: str) -> dict[str, dict[str, float]]:
    """The numbers of a table or figure as floats, by row and column, without the words among them."""
    return {
        row: {column: float(value) for column, value in columns.items() if not isinstance(value, str)}
        for row, columns in _tables()[label].items()
    }


def last_digit(value: Decimal | int) -> float:
    """One unit of the last printed digit: 0.001 for 0.057, 100 for 7.7e3."""
    exponent = Decimal(value).as_tuple().exponent
    return 10.0**exponent if isinstance(exponent, int) else 0.0
