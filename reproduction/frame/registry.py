"""The experiments by name.  Their files import torch; this one does not, so that help and errors come at once."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reproduction.frame.experiment import Experiment


@dataclass(frozen=True)
class Entry:
    """Where an experiment is and what it is about."""

    target: str
    """module:Class"""
    about: str
    makes: tuple[str, ...]
    """labels of the paper's tables and figures"""

    def load(self) -> Experiment[Any]:
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(module), name)()


EXPERIMENTS: dict[str, Entry] = {
    "figure1": Entry(
        "reproduction.experiments.figure1.experiment:Figure1",
        "the four-node graph that no Euclidean space can hold",
        ("figure_motivation",),
    ),
    "norms-2d": Entry(
        "reproduction.experiments.norms_2d.experiment:Norms2D",
        "random norms of the plane, learned from 16 or 128 vectors",
        (
            "table_2d_norm_results",
            "table_2d_norm_results_2",
            "table_2d_norm_results_0.5",
            "figure_2d_norm_balls",
            "figure_2d_norm_balls_appendix_squares",
            "figure_2d_norm_balls_appendix_hull",
        ),
    ),
    "nearness": Entry(
        "reproduction.experiments.nearness.experiment:Nearness",
        "metric nearness: triangle fixing, learned metrics and the exact optimum",
        ("table_mn_1", "figure_mn_curves"),
    ),
    "graphs": Entry(
        "reproduction.experiments.graphs.experiment:Graphs",
        "shortest paths of six graphs from noisy landmarks; without a flag, our fast protocol",
        (
            "table_graph_stats",
            "table_graph_results",
            "figure_symmetric_graph_learning_curves",
            "figure_asymmetric_graph_learning_curves",
        ),
    ),
    "graphs-astar": Entry(
        "reproduction.experiments.graphs.astar:GraphsAstar",
        "what the paper's search returns on directed graphs",
        ("table_graph_astar",),
    ),
    "leaderboard": Entry(
        "reproduction.experiments.leaderboard.experiment:Leaderboard",
        "every head on graphs, matrices to repair and norms: ranks, times, which to use when",
        ("table_leaderboard_ranks",),
    ),
    "values": Entry(
        "reproduction.experiments.values.experiment:Values",
        "value functions of grid worlds: planning to goals never trained on",
        (
            "figure_value_it_sparsity",
            "figure_value_it_viz",
            "figure_value_it_dataset",
            "table_vi_arches",
            "figure_value_it_sparsity_app",
            "figure_value_iteration_value_heatmaps",
            "figure_value_iteration_se_heatmaps",
            "figure_value_iteration_spl_heatmaps",
        ),
    ),
    "values-search": Entry(
        "reproduction.experiments.values.search:ValuesSearch",
        "which head plans best, on goals held out of the training goals",
        ("table_value_search",),
    ),
    "pairwise-time": Entry(
        "reproduction.experiments.computation_time.experiment:ComputationTime",
        "computation time of all pairs, from the benchmarks' results",
        ("table_computation",),
    ),
}


def find(name: str) -> Entry:
    """An experiment of this project, or one of your own as `module:Class`."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    if ":" in name:
        return Entry(name, "your own", ())
    raise KeyError(name)
