"""A training step of every kind of head: the straightforward step, ours, ours with `compile=True`, and torchqmet's.

All of them train a 3x128 encoder below the head on the same batches of pairs of objects, with Adam, on one thread, and
are timed in turns by the processor's clock.  The straightforward step encodes both ends of each pair, computes the
definition of the head in plain torch and steps with unfused Adam.  torchqmet is timed where it is installed, for the
heads that it has too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from unittest.mock import patch

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

import trimetric as tm
from benchmarks.timing import best_seconds
from trimetric._support.memory import keep_freed_memory
from trimetric.kernels import products
from trimetric.kernels.rows import fused
from trimetric.training.loop import take_step
from trimetric.training.pairs import PairData
from trimetric.training.processes import Processes
from trimetric.training.run import TrainingRun
from trimetric.training.trainee import SingleModel

DIM, FEATURES, OBJECTS, BATCHES = 128, 16, 2000, 20

STRAIGHTFORWARD, EAGER, COMPILED, TORCHQMET = "straightforward", "ours", "ours, compile=True", "torchqmet"

HEADS: dict[str, Callable[[], tm.Norm | tm.Distance]] = {
    "IQE": lambda: tm.IntervalQuasimetric(DIM),
    "DN 3x128": lambda: tm.DeepNorm(DIM, widths=(128,) * 3),
    "WN 32x32 rectified": lambda: tm.WideNorm(DIM, components=32, width=32),
    "WN 32x32 paper": lambda: tm.WideNorm(DIM, components=32, width=32, form="paper"),
    "WN 32x32 symmetric": lambda: tm.WideNorm(DIM, components=32, width=32, symmetric=True),
    "MRN": lambda: tm.ResidualMetric(DIM),
    "WN 32x32, concave": lambda: tm.NeuralMetric(tm.WideNorm(DIM, components=32, width=32)),
    "DN 3x128, concave": lambda: tm.NeuralMetric(tm.DeepNorm(DIM, widths=(128,) * 3)),
    "recommended": lambda: tm.recommended(DIM, symmetric=False),
    "tolls, WN 32x32": lambda: tm.TollMetric(tm.WideNorm(DIM - 2, components=32, width=32)),
    "Mahalanobis (no fused pass)": lambda: tm.Mahalanobis(DIM),
    "PQE (no fused pass)": lambda: tm.PoissonQuasimetric(DIM),
    "Randers (no fused pass)": lambda: tm.RandersMetric(DIM),
    "MLP of both ends (no fused pass)": lambda: tm.MLPDistance(DIM),
}


def run(batches: tuple[int, ...] = (256, 1024), budget: float = 120.0) -> dict[str, dict[str, float]]:
    """Measure a step of each head, each way.

    Args:
        batches: pairs per step.
        budget: seconds for all of them together, without the time to compile.

    Returns:
        Seconds by way, for each head and batch.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    keep_freed_memory()  # as `fit` does
    try:
        share = budget / len(batches) / len(HEADS)
        return {f"{name}, batch {batch}": _measure(name, batch, share) for batch in batches for name in HEADS}
    finally:
        torch.set_num_threads(threads)


def _measure(name: str, batch: int, budget: float) -> dict[str, float]:
    ways = {STRAIGHTFORWARD: _straightforward(_model(name), batch), EAGER: _ours(name, batch, compiled=False)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled = _ours(name, batch, compiled=True)
    if not any("training runs uncompiled" in str(warning.message) for warning in caught):
        ways[COMPILED] = compiled
    theirs = _torchqmet(name)
    if theirs is not None:
        encoder = _encoder()
        ways[TORCHQMET] = _plain_step(nn.ModuleList([encoder, theirs]), batch, encoder, theirs, fused_adam=True)
    for way in ways.values():
        for _ in range(3):
            way()  # compiles
    return best_seconds(ways, budget=budget, rounds=1000, processor=True)


def _encoder() -> tm.MLP:
    torch.manual_seed(0)
    return tm.MLP(FEATURES, DIM, widths=(128, 128))


def _model(name: str) -> tm.Siamese:
    return tm.Siamese(_encoder(), HEADS[name]())


def _data(batch: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    objects = torch.randn(OBJECTS, FEATURES, generator=generator)
    pairs = torch.randint(OBJECTS, (BATCHES * batch, 2), generator=generator)
    return objects, pairs, torch.rand(len(pairs), generator=generator) + 0.1


def _ours(name: str, batch: int, *, compiled: bool) -> Callable[[], object]:
    """A step as `fit` takes it."""
    model, (objects, pairs, targets) = _model(name), _data(batch)
    config = tm.TrainingConfig(epochs=10**6, batch_size=batch, compile=compiled)
    data, processes = PairData(pairs, targets, objects, model=model), Processes()
    training = TrainingRun(SingleModel(model, data, config, processes), [data], [], {}, [0], config, processes)
    return lambda: take_step(training)


def _straightforward(model: tm.Siamese, batch: int) -> Callable[[], object]:
    head = model.head
    step = _plain_step(model, batch, model.encoder, lambda x, y: head.pool(head.components(x, y)), fused_adam=False)

    def in_plain_torch() -> None:
        with (
            patch.object(fused, "_has_numba", return_value=False),
            patch.object(products, "prefers_onednn", return_value=False),
        ):
            step()

    return in_plain_torch


def _plain_step(
    module: nn.Module,
    batch: int,
    encoder: Callable[[Tensor], Tensor],
    head: Callable[[Tensor, Tensor], Tensor],
    *,
    fused_adam: bool,
) -> Callable[[], None]:
    """A step in a few lines of torch: both ends of each pair are encoded."""
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3, fused=fused_adam)
    objects, pairs, targets = _data(batch)
    position = 0

    def step() -> None:
        nonlocal position
        rows = slice(position * batch, (position + 1) * batch)
        position = (position + 1) % BATCHES
        start, end = pairs[rows].unbind(1)
        optimizer.zero_grad(set_to_none=True)
        predicted = head(encoder(objects[start]), encoder(objects[end]))
        (predicted - targets[rows]).square().mean().backward()
        optimizer.step()

    return step


def _torchqmet(name: str) -> nn.Module | None:
    """The same head of torchqmet; None where it has none or is not installed."""
    if find_spec("torchqmet") is None:
        return None
    import torchqmet  # pyright: ignore[reportMissingImports]

    made: dict[str, Callable[[], nn.Module]] = {
        "IQE": lambda: torchqmet.IQE(DIM, dim_per_component=16),
        "DN 3x128": lambda: torchqmet.DeepNorm(DIM, 128, 3, "maxrelu", "relu", transforms=()),
        "DN 3x128, concave": lambda: torchqmet.DeepNorm(DIM, 128, 3, "maxrelu", "relu"),
        "WN 32x32 paper": lambda: torchqmet.WideNorm(DIM, 32, 32, transforms=()),
        "WN 32x32 symmetric": lambda: torchqmet.WideNorm(DIM, 32, 32, symmetric=True, transforms=()),
    }
    return made[name]() if name in made else None


def show(seconds: dict[str, dict[str, float]], console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(title="A training step: a 3x128 encoder below a head; times faster than the straightforward step")
    table.add_column("head, pairs per step")
    table.add_column(f"{STRAIGHTFORWARD}, ms", justify="right")
    others = (EAGER, COMPILED, TORCHQMET)
    for way in others:
        table.add_column(way, justify="right")
    for name, found in seconds.items():
        reference = found[STRAIGHTFORWARD]
        ratios = [f"{reference / found[way]:.2f}" if way in found else "" for way in others]
        if COMPILED not in found:
            ratios[1] = "not compiled"
        table.add_row(name, f"{1e3 * reference:.2f}", *ratios)
    console.print(table)
