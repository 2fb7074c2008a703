"""Learn a map of 50 x 50 cells with walls and one-way doors from a logged random walk, and walk to unseen goals.

Only the log is used: which cell followed which, and at what cost.  A tenth of the cells is never a goal in training.  A
metric and an MLP, with the same encoder, log and number of steps, then find the way to those cells, one greedy step
after the other over the moves of the log.

    python examples/large_grid.py
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import tyro
from gymnasium.wrappers import TimeLimit
from scipy.sparse.csgraph import connected_components

import trimetric as tm
from trimetric import rl
from trimetric.rl.planning.pictures import save_plan
from trimetric.rl.worlds.environment import GridEnvironment

DIM = 64
TD_SHARE = 16  # its targets change once per epoch, so its epochs are short
OPEN, ONWARD, BACK, CLOSED = range(4)


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings of the example."""

    steps: int = 80_000
    """steps of the random walk"""
    epochs: int = 20
    """passes over the pairs"""
    pairs: int = 50_000
    """number of random pairs to push apart, and of constraints"""
    judged: int = 1000
    """pairs of a state and an unseen goal to judge by"""
    size: int = 50
    """cells on each side of the map, walls included"""
    rooms: int = 3
    """rooms on each side of the map"""
    heads: tuple[Literal["metric", "MLP"], ...] = ("metric", "MLP")
    """heads to train"""
    methods: tuple[rl.Method, ...] = ("constrained", "td")
    """ways to train them"""
    seed: int = 0
    """seed of the map, the walk and the networks"""
    picture: Path | None = Path("large_grid.png")
    """file for a picture of paths and the learned distance"""


def rooms_map(size: int, rooms: int, seed: int) -> str:
    """Make a map of rooms with open doors, one-way doors or none between neighbors; every room reaches every other.

    Args:
        size: cells on each side, walls included.
        rooms: rooms on each side.
        seed: seed of the doors.

    Returns:
        The text of the map.
    """
    generator = np.random.default_rng(seed)
    sides = [
        (row, column, down)
        for row in range(rooms)
        for column in range(rooms)
        for down in (0, 1)
        if max(row + down, column + 1 - down) < rooms
    ]
    while True:
        kinds = generator.choice(4, len(sides), p=[0.35, 0.25, 0.25, 0.15])
        ways = np.zeros((rooms**2, rooms**2))
        for (row, column, down), kind in zip(sides, kinds, strict=True):
            here, there = row * rooms + column, (row + down) * rooms + column + 1 - down
            ways[here, there], ways[there, here] = kind in (OPEN, ONWARD), kind in (OPEN, BACK)
        if connected_components(ways, connection="strong")[0] == 1:
            break
    walls = np.linspace(0, size - 1, rooms + 1).round().astype(int)
    signs = np.full((size, size), " ")
    signs[walls], signs[:, walls] = "#", "#"
    for (row, column, down), kind in zip(sides, kinds, strict=True):
        along = column if down else row
        place = int(generator.integers(walls[along] + 1, walls[along + 1]))
        cell = (walls[row + 1], place) if down else (place, walls[column + 1])
        signs[cell] = (" v^#" if down else " ><#")[kind]
    return "\n".join("".join(line) for line in signs)


def run(config: Config) -> dict[str, rl.Score]:
    """Train every head by every method.

    Args:
        config: settings.

    Returns:
        The score of each on unseen goals.
    """
    env = GridEnvironment(rooms_map(config.size, config.rooms, config.seed), observations="cells")
    # Walks of 100 steps from random cells; they ignore the goal of the environment.
    transitions = rl.collect(TimeLimit(env, 100), config.steps, seed=config.seed)
    moves = rl.KnownMoves(transitions)
    seen, held = rl.hold_out_goals(moves, 0.1, seed=config.seed)
    pairs = rl.goal_pairs(moves, held, config.judged, seed=config.seed)
    print(f"{len(transitions):,} steps: {moves.num_states:,} states and {len(moves.edges):,} moves seen")
    models: dict[str, tm.Siamese | tm.Distance] = {}
    scores: dict[str, rl.Score] = {}
    heads = {
        "metric": lambda: tm.recommended(DIM, symmetric=False),
        "MLP": lambda: tm.Calibrated(tm.MLPDistance(DIM, inputs="concatenation")),
    }
    for method in config.methods:
        share = 1 if method == "constrained" else TD_SHARE
        for name in config.heads:
            torch.manual_seed(config.seed)
            encoder = tm.MLP(2, DIM, widths=(256, 256), waves=4)
            encoder.standardize.measure(moves.states)
            model = tm.Siamese(encoder, heads[name]())
            start = time.perf_counter()
            rl.learn_from_transitions(
                model,
                moves,
                method=method,
                goals=seen,
                pairs=2 * config.pairs // share if share > 1 else config.pairs,
                config=rl.transitions_config(epochs=config.epochs * share, learning_rate=2e-3, seed=config.seed),
            )
            seconds = time.perf_counter() - start
            score = rl.judge(moves, pairs, rl.plan(model, moves, pairs))
            scores[f"{name}, {method}"], models[f"{name}, {method}"] = score, model
            print(
                f"{name}, {method}: success {score.success:.3f}, SPL {score.spl:.3f} "
                f"on {score.pairs} pairs with unseen goals, {seconds:.0f} s",
                flush=True,
            )
    if config.picture is not None:
        starts = pairs[:6, 0]
        walks = torch.cat([torch.stack([starts, goal.expand(6)], dim=1) for goal in held[[0, -1]]])
        chosen = {name: model for name, model in models.items() if name.endswith(config.methods[0])}
        print(f"picture: {save_plan(config.picture, chosen, moves, walks, labels=('row', 'column'))}")
    return scores


if __name__ == "__main__":
    run(tyro.cli(Config, description=__doc__))
