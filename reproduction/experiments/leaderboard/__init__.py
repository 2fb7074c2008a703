"""The leaderboard of heads, which is not in the paper."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="leaderboard",
        target="reproduction.experiments.leaderboard.experiment:Leaderboard",
        about="every head on graphs, matrices to repair and norms: ranks, times, which to use when",
        sections={
            "table_leaderboard_ranks": "Beyond the paper: the leaderboard of heads",
        },
        claims={
            "table_leaderboard_ranks": "Which head is the best default?",
        },
    ),
)
