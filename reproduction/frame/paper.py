"""The numbers that the paper prints, with the digits that it prints."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "paper_values.toml"

Printed = Decimal | int | str
"""A number as printed, or the word that stands in its place ("OOM")."""

TITLES = {
    "figure_motivation": "Four nodes that no Euclidean space can hold",
    "figure_2d_norm_balls": "Learned norms of the plane",
    "table_mn_1": "Metric nearness, 200 x 200 matrices",
    "table_graph_stats": "The graphs",
    "table_graph_results": "Shortest paths: test MSE with 50,000 training pairs",
    "figure_value_it_viz": "Value functions: errors and success by cell",
    "figure_value_it_sparsity": "Value functions: success (SPL) by the fraction of goals seen",
    "table_computation": "Computation time of all pairs, ms by mini-batch",
    "table_2d_norm_results": "Norms of the plane: test MSE at norm value 1",
    "table_2d_norm_results_2": "Norms of the plane: test MSE at norm value 2",
    "table_2d_norm_results_0.5": "Norms of the plane: test MSE at norm value 0.5",
    "figure_2d_norm_balls_appendix_squares": "Learned norms: the square and the diamond",
    "figure_2d_norm_balls_appendix_hull": "Learned norms: random hulls",
    "figure_mn_curves": "Metric nearness: learning curves",
    "figure_symmetric_graph_learning_curves": "Symmetric graphs: learning curves",
    "figure_asymmetric_graph_learning_curves": "Asymmetric graphs: learning curves",
    "figure_value_it_dataset": "Value functions: the environments",
    "table_vi_arches": "Value functions: the architectures (settings)",
    "figure_value_it_sparsity_app": "Value functions: SPL and MSE, training and test",
    "figure_value_iteration_value_heatmaps": "Value functions: learned values",
    "figure_value_iteration_se_heatmaps": "Value functions: squared errors",
    "figure_value_iteration_spl_heatmaps": "Value functions: SPL",
    "table_graph_astar": "Beyond the paper: its search on directed graphs",
    "table_value_search": "Beyond the paper: the search for a head of value functions",
    "table_leaderboard_ranks": "Beyond the paper: the leaderboard of heads",
}
"""Every table with numbers and every figure with results, by label, in the order of the paper; then what it lacks."""

SETTINGS = ("table_vi_arches",)
"""tables of settings: what is printed there is used, not measured"""


@cache
def _tables() -> dict[str, dict[str, dict[str, Printed]]]:
    with FILE.open("rb") as file:
        return tomllib.load(file, parse_float=Decimal)


def labels() -> list[str]:
    """The labels under which numbers are printed."""
    return list(_tables())


def printed(label: str) -> dict[str, dict[str, Printed]]:
    """What is printed in a table or figure, by row and column; empty where it prints no number."""
    return _tables().get(label, {})


def paper_values(label: str) -> dict[str, dict[str, float]]:
    """The numbers of a table or figure, by row and column."""
    return {
        row: {column: float(value) for column, value in columns.items() if not isinstance(value, str)}
        for row, columns in _tables()[label].items()
    }


def last_digit(value: Decimal | int) -> float:
    """One unit of the last printed digit: 0.001 for 0.057, 100 for 7.7e3."""
    exponent = Decimal(value).as_tuple().exponent
    return 10.0**exponent if isinstance(exponent, int) else 0.0
