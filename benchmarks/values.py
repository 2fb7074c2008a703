"""A training step of a value function: the recipe as written, ours, and several seeds at once."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import trimetric as tm
from benchmarks.timing import best_seconds
from trimetric.rl import Split, World, learn_values, paper_config, split_pairs, value_model

SEEDS = 6
EPOCHS = 12
"""epochs of ours in one call, so that its set-up has no more weight than in a long run"""
HEADS: dict[str, Callable[[], tm.Norm | tm.Distance]] = {
    "Euclidean": lambda: tm.Euclidean(64),
    "Deep Norm": lambda: tm.NeuralMetric(tm.DeepNorm(64, widths=(64,) * 3, pool="mean")),
    "Wide Norm, rectified": lambda: tm.NeuralMetric(tm.WideNorm(64, width=64, pool="mean")),
}


def run(budget: float = 12.0) -> dict[str, dict[str, float]]:
    """Measure a step of one model, including its share of computing the targets.

    Args:
        budget: seconds to measure each head.

    Returns:
        Seconds by head and way.
    """
    world = World("FourRoom", asymmetric=True)
    split = split_pairs(world, 0.25)
    return {name: _measure(world, split, head, budget) for name, head in HEADS.items()}


def _measure(world: World, split: Split, head: Callable[[], tm.Norm | tm.Distance], budget: float) -> dict[str, float]:
    models = [value_model(world, head()) for _ in range(SEEDS)]
    config = paper_config(epochs=EPOCHS)

    def ours(members: int) -> Callable[[], object]:
        own = models[:members]
        arguments = {"seeds": range(members), "config": config, "measure": False, "progress": "silent"}
        return lambda: learn_values(own, [world] * members, [split] * members, **arguments)  # type: ignore[arg-type]

    ways = {"plain": lambda: _plain(models[0], world, split), "ours": ours(1), "seeds": ours(SEEDS)}
    seconds = best_seconds(ways, budget=budget)
    steps = -(-len(split.train) // config.batch_size)
    shares = {"plain": steps, "ours": steps * EPOCHS, "seeds": steps * EPOCHS * SEEDS}
    return {way: seconds[way] / share for way, share in shares.items()}


def _plain(model: tm.Siamese, world: World, split: Split) -> None:
    """Train as the recipe is written: each step passes the images of each pair and of all its next states through the
    networks."""
    target = deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for batch in split.train.split(128):
        state, goal = batch.unbind(1)
        predicted = model(world.observations[state], world.observations[goal])
        loss = (predicted - _targets(target, world, state, goal)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def _targets(target: tm.Siamese, world: World, state: Tensor, goal: Tensor) -> Tensor:
    ends = world.next_state[state]
    row, action = ((ends >= 0) & (ends != goal.unsqueeze(1))).nonzero().unbind(1)
    ahead = torch.zeros(ends.shape)
    ahead[row, action] = target(world.observations[ends[row, action]], world.observations[goal[row]])
    return (world.cost[state].float() + ahead).amin(dim=1)


def show(results: dict[str, dict[str, float]], console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(
        title="Value functions: ms per model for a step of 128 pairs in the four rooms, with its share of the targets"
    )
    for column in ("head", "as written", "ours", "x faster", f"{SEEDS} seeds at once", "x faster"):
        table.add_column(column, justify="left" if column == "head" else "right")
    for name, seconds in results.items():
        plain, ours, seeds = (1e3 * seconds[way] for way in ("plain", "ours", "seeds"))
        numbers = (plain, ours, plain / ours, seeds, plain / seeds)
        table.add_row(name, *(f"{number:.1f}" for number in numbers))
    console.print(table)
