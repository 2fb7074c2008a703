"""Figure 1: four nodes that no Euclidean space can hold."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="figure1",
        target="reproduction.experiments.figure1.experiment:Figure1",
        about="the four-node graph that no Euclidean space can hold",
        sections={
            "figure_motivation": "Four nodes that no Euclidean space can hold",
        },
        claims={
            "figure_motivation": "No Euclidean space holds four nodes that norms fit in the plane",
        },
    ),
)
