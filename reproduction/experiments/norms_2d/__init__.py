"""Norms of the plane, learned from few vectors (section 2.5, appendix C)."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="norms-2d",
        target="reproduction.experiments.norms_2d.experiment:Norms2D",
        about="random norms of the plane, learned from 16 or 128 vectors",
        sections={
            "table_2d_norm_results": "Norms of the plane: test MSE at norm value 1",
            "table_2d_norm_results_2": "Norms of the plane: test MSE at norm value 2",
            "table_2d_norm_results_0.5": "Norms of the plane: test MSE at norm value 0.5",
            "figure_2d_norm_balls": "Learned norms of the plane",
            "figure_2d_norm_balls_appendix_squares": "Learned norms: the square and the diamond",
            "figure_2d_norm_balls_appendix_hull": "Learned norms: random hulls",
        },
    ),
)
