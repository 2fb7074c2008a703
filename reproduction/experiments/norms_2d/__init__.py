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
        claims={
            "table_2d_norm_results": "Deep Norms win on random hulls, Wide Norms on square and diamond",
            "table_2d_norm_results_2": "Norms generalize to norm value 2, the MLP does not",
            "table_2d_norm_results_0.5": "Norms generalize to norm value 0.5, the MLP does not",
            "figure_2d_norm_balls": "With 16 vectors the MLP overfits; with 128 it has no ball of 0.5",
            "figure_2d_norm_balls_appendix_squares": "Square, diamond: Wide Norms fit best, no MLP ball of 0.5",
            "figure_2d_norm_balls_appendix_hull": "Random hulls: norms have all balls, the MLP none of 0.5",
        },
    ),
)
