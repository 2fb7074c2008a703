"""Train eight seeds at once by `fit_many`, against eight runs of `fit` one after another."""

from __future__ import annotations

from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

import trimetric as tm
from benchmarks.timing import best_seconds

SEEDS = list(range(8))
STEPS = 10


def _two_dimensional_norm() -> tuple[Callable[[], nn.Module], tuple, int]:
    x = torch.randn(128, 2)
    ends = torch.zeros_like(x), x
    return lambda: tm.NormInduced(tm.DeepNorm(2, widths=(50, 50, 50))), (ends, x.norm(dim=1)), 128


def _table_of_objects(head: Callable[[], tm.Norm]) -> tuple[Callable[[], nn.Module], tuple, int]:
    pairs = torch.randint(200, (STEPS * 256, 2))
    model = lambda: tm.Siamese(nn.Embedding(200, 64), tm.Calibrated(tm.NeuralMetric(head())))  # noqa: E731
    return model, (pairs, torch.rand(len(pairs))), 256


def _features() -> tuple[Callable[[], nn.Module], tuple, int]:
    ends = torch.randn(STEPS * 256, 64), torch.randn(STEPS * 256, 64)
    head = lambda: tm.Calibrated(tm.NeuralMetric(tm.WideNorm(128)))  # noqa: E731
    model = lambda: tm.Siamese(tm.MLP(64, 128, widths=(128, 128)), head())  # noqa: E731
    return model, (ends, torch.rand(len(ends[0]))), 256


TASKS = {
    "Deep Norm 3x50 on 128 vectors in the plane": _two_dimensional_norm,
    "Wide Norm 8x8 on 200 objects, batch 256": lambda: _table_of_objects(
        lambda: tm.WideNorm(64, components=8, width=8)
    ),
    "Deep Norm 2x64 on 200 objects, batch 256": lambda: _table_of_objects(lambda: tm.DeepNorm(64, widths=(64, 64))),
    "3x128 MLP and Wide Norm 32x32, batch 256": _features,
}


def run(budget: float = 15.0) -> dict[str, dict[str, float]]:
    """Measure STEPS steps of all seeds, both ways.

    Args:
        budget: seconds to measure each task.

    Returns:
        Seconds by task and way.
    """
    results = {}
    for name, make in TASKS.items():
        torch.manual_seed(0)
        model, (pairs, targets), batch = make()
        epochs = STEPS * batch // len(targets)
        config = tm.TrainingConfig(epochs=epochs, batch_size=batch, calibrate=False)
        models = [model() for _ in SEEDS]

        def one_after_another(models=models, pairs=pairs, targets=targets, config=config) -> None:
            for each in models:
                tm.fit(each, pairs, targets, config=config, progress="silent")

        def at_once(models=models, pairs=pairs, targets=targets, config=config) -> None:
            tm.fit_many(models, pairs, targets, seeds=SEEDS, config=config, progress="silent")

        ways = {"one after another": one_after_another, "at once": at_once}
        results[name] = best_seconds(ways, budget=budget)
    return results


def show(results: dict[str, dict[str, float]], console: Console) -> None:
    """Print what `run` has returned."""
    table = Table(title=f"{len(SEEDS)} seeds, {STEPS} steps: fit_many against fit in a loop")
    for column in ("", "one after another, ms", "at once, ms", "x faster"):
        table.add_column(column, justify="left" if not column else "right")
    for name, seconds in results.items():
        slow, fast = seconds["one after another"], seconds["at once"]
        table.add_row(name, f"{1e3 * slow:.0f}", f"{1e3 * fast:.0f}", f"{slow / fast:.1f}")
    console.print(table)
