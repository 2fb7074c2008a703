"""Quasimetric reinforcement learning: heads and objectives in worlds with goals; not in the paper."""

from reproduction.frame.registry import Entry

EXPERIMENTS = (
    Entry(
        name="rl",
        target="reproduction.experiments.rl.experiment:Reinforcement",
        about="distances from logged episodes: which head, which objective, in which world",
        sections={
            "table_rl_pointmaze": "Beyond the paper: the pointmaze of OGBench",
            "table_rl_directed": "Beyond the paper: a world whose distances are directed",
            "table_rl_objectives": "Beyond the paper: objectives for distances from logged episodes",
        },
        claims={
            "table_rl_pointmaze": "Do actors reach what QRL reached, and planners more?",
            "table_rl_directed": "Must the head be asymmetric where the world is?",
            "table_rl_objectives": "Which objective?",
        },
    ),
)
