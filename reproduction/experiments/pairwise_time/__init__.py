"""Computation time of all pairs, as the benchmarks have measured it."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="pairwise-time",
        target="reproduction.experiments.pairwise_time.experiment:PairwiseTime",
        about="computation time of all pairs, from the results of the benchmarks",
        sections={
            "table_computation": "Computation time of all pairs, ms by mini-batch",
        },
        claims={
            "table_computation": "Only Wide Norms are fast enough for large mini-batches",
        },
    ),
)
