"""Metric nearness (section 3.2, appendix D)."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="nearness",
        target="reproduction.experiments.nearness.experiment:Nearness",
        about="metric nearness: triangle fixing, learned metrics and the exact optimum",
        sections={
            "table_mn_1": "Metric nearness, 200 x 200 matrices",
            "figure_mn_curves": "Metric nearness: learning curves",
        },
        claims={
            "table_mn_1": "Norms come near to triangle fixing; asymmetric Deep Norms beat it",
            "figure_mn_curves": "Deep Norms end below Wide Norms, and these below Euclidean",
        },
    ),
)
