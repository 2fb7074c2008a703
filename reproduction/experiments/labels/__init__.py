"""Learning a distance from class labels, beside the algorithms of metric-learn."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="labels",
        target="reproduction.experiments.labels.experiment:Labels",
        about="distances from class labels: our heads, a Euclidean Siamese, LMNN, NCA, ITML and no learning",
        sections={"table_labels": "Beyond the paper: distances from class labels"},
        claims={"table_labels": "Does a head other than the Euclidean norm classify better?"},
    ),
)
