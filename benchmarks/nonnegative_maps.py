"""Compare maps from a free parameter to a non-negative weight by the test error after training.

A Deep Norm Neural Metric learns shortest-path lengths of a small pusher world (the paper's `push` on a 9x9 grid:
6480 states, directed, random weights) from noisy landmark features.  All maps start from the same weights.
The error is the test MSE at mean distance 50; lower is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from unittest import mock

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor, nn
from torch.nn import functional as F

import trimetric as tm
from trimetric.norms.deep import NonNegativeLinear

SIDE, SOURCES, LANDMARKS, TRAIN, TEST, EPOCHS, BATCH = 9, 250, 16, 20_000, 5_000, 12, 256


class _ClipWithReturningGradient(torch.autograd.Function):
    """max(w, 0), whose gradient still pulls a negative w back toward 0."""

    @staticmethod
    def forward(ctx, raw: Tensor) -> Tensor:  # type: ignore[override]
        ctx.save_for_backward(raw)
        return raw.clamp(min=0)

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[override]
        (raw,) = ctx.saved_tensors
        return torch.where((raw < 0) & (grad > 0), 0, grad)


@dataclass(frozen=True)
class Map:
    """A map and how it is trained."""

    value: Callable[[Tensor], Tensor]
    """from the parameter to the weight"""
    raw_of: Callable[[Tensor], Tensor] = lambda value: value
    """its inverse"""
    clip_after_step: bool = False
    """whether negative parameters are set to 0 after each step"""


MAPS = {
    "|w| (ours)": Map(torch.abs),
    "clip after each step (the paper)": Map(lambda raw: raw, clip_after_step=True),
    "clip with returning gradient": Map(_ClipWithReturningGradient.apply),  # type: ignore[arg-type]
    "w^2": Map(torch.square, torch.sqrt),
    "softplus": Map(F.softplus, lambda value: torch.log(torch.expm1(value))),
}


def push_world(seed: int) -> csr_array:
    """Build the graph of states (agent, box); a box pushed into a wall swaps places with the agent."""
    cells = [(r, c) for r in range(SIDE) for c in range(SIDE)]
    states = {(agent, box): i for i, (agent, box) in enumerate((a, b) for a in cells for b in cells if a != b)}
    arcs = []
    for (agent, box), state in states.items():
        for dr, dc in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            ahead = (agent[0] + dr, agent[1] + dc)
            beyond = (ahead[0] + dr, ahead[1] + dc)
            if 0 <= ahead[0] < SIDE and 0 <= ahead[1] < SIDE:
                pushed = beyond if 0 <= beyond[0] < SIDE and 0 <= beyond[1] < SIDE else agent
                arcs.append((state, states[ahead, pushed if ahead == box else box]))
    rows, columns = np.array(arcs).T
    weights = np.random.default_rng(seed).integers(1, 101, len(arcs)) / 100
    return csr_array((weights, (rows, columns)), shape=(len(states), len(states)))


@dataclass(frozen=True)
class Data:
    """Noisy landmark features of the states; pairs (start, end, distance) to train and test on."""

    features: Tensor
    train: tuple[Tensor, Tensor, Tensor]
    test: tuple[Tensor, Tensor, Tensor]


def make_data(seed: int) -> Data:
    """Draw weights, landmarks and pairs."""
    generator = np.random.default_rng(seed)
    graph = push_world(seed)
    n = len(graph.indptr) - 1
    sources = generator.choice(n, SOURCES, replace=False)
    distances = dijkstra(graph, indices=sources)
    landmarks = generator.choice(n, LANDMARKS, replace=False)
    features = np.concatenate([dijkstra(graph, indices=landmarks), dijkstra(graph.T.tocsr(), indices=landmarks)]).T
    features = (features - features.mean(0)) / features.std(0) + generator.normal(0, 0.2, features.shape)
    picks = generator.choice(SOURCES * n, TRAIN + TEST, replace=False)
    from_node, to_node = sources[picks // n], picks % n
    targets = distances[picks // n, picks % n]
    targets = targets / targets.mean()

    def part(chosen: slice) -> tuple[Tensor, Tensor, Tensor]:
        ends = torch.as_tensor(from_node[chosen]), torch.as_tensor(to_node[chosen])
        return *ends, torch.as_tensor(targets[chosen], dtype=torch.float32)

    return Data(torch.as_tensor(features, dtype=torch.float32), part(slice(TRAIN)), part(slice(TRAIN, TRAIN + TEST)))


def train(data: Data, how: Map, seed: int) -> float:
    """Train a model with a map; returns its test MSE."""
    torch.manual_seed(seed)
    with mock.patch("trimetric.norms.deep.nonnegative", how.value):
        encoder = nn.Sequential(nn.Linear(2 * LANDMARKS, 64), nn.ReLU(), nn.Linear(64, 64))
        model = tm.Siamese(encoder, tm.NeuralMetric(tm.DeepNorm(64, widths=(64, 64, 64))))
        hidden = [m for m in model.modules() if isinstance(m, NonNegativeLinear)]
        for layer in hidden:
            layer.raw_weight.data = how.raw_of(layer.raw_weight.data.abs())
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        steps = EPOCHS * (TRAIN // BATCH)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        start, end, target = data.train
        for _ in range(EPOCHS):
            for batch in torch.randperm(TRAIN).split(BATCH)[: TRAIN // BATCH]:
                optimizer.zero_grad()
                predicted = model(data.features[start[batch]], data.features[end[batch]])
                (predicted - target[batch]).square().mean().backward()
                optimizer.step()
                schedule.step()
                if how.clip_after_step:
                    for layer in hidden:
                        layer.raw_weight.data.clamp_(min=0)
        start, end, target = data.test
        with torch.no_grad():
            error = model(data.features[start], data.features[end]) - target
        return 50**2 * error.square().mean().item()


def run(seeds: int = 5) -> dict[str, list[float]]:
    """Train with each map and `seeds` seeds; returns the test errors by map."""
    results: dict[str, list[float]] = {name: [] for name in MAPS}
    for seed in track(range(seeds), "non-negative maps", console=Console(stderr=True)):
        data = make_data(seed)
        for name, how in MAPS.items():
            results[name].append(train(data, how, seed))
    return results


def show(results: dict[str, list[float]], console: Console) -> None:
    """Print what `run` has returned."""
    seeds = len(next(iter(results.values())))
    table = Table(title=f"Test MSE of a Deep Norm on push 9x9, {EPOCHS} epochs, {seeds} seeds")
    for column in ("map to non-negative weights", "mean", "spread", "wins"):
        table.add_column(column, justify="left" if column.startswith("map") else "right")
    best = np.argmin(list(results.values()), axis=0)
    for i, (name, values) in enumerate(results.items()):
        table.add_row(name, f"{np.mean(values):.2f}", f"{np.std(values):.2f}", str(int((best == i).sum())))
    console.print(table)
