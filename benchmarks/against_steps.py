"""Training steps of this checkout against those of an earlier commit, step by step in turns.

A process of each version has the same models and batches; they take their steps in turns, so that what else the machine
does falls on both.  The best step of each counts, by the processor's clock, on one thread.  The model is an MLP
16-128-128-128 below the head, on pairs of 2000 objects, trained as `fit` trains.  For Wide Norms the matrix products of
the step are timed alone: what they take of the earlier step bounds how many times faster any step can be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.step_products import product_seconds

BATCHES = (256, 1024)

# Runs in either version, so it uses only names that both have.  Reads the names of cases, answers with seconds.
STEPS = """
import json, sys, time, warnings
import torch
import trimetric as tm
from trimetric.training.loop import take_step
from trimetric.training.pairs import PairData
from trimetric.training.processes import Processes
from trimetric.training.run import TrainingRun
from trimetric.training.trainee import SingleModel

try:  # as `fit` does where the version has it
    from trimetric._support.memory import keep_freed_memory
except ImportError:
    pass
else:
    keep_freed_memory()

warnings.simplefilter("ignore")
torch.set_num_threads(1)
wide = dict(components=32, width=32)
HEADS = {
    "IQE": lambda: tm.IntervalQuasimetric(128),
    "DN 3x128": lambda: tm.DeepNorm(128, widths=(128,) * 3),
    "WN 32x32 rectified": lambda: tm.WideNorm(128, **wide),
    "WN 32x32 paper": lambda: tm.WideNorm(128, form="paper", **wide),
    "WN 32x32 symmetric": lambda: tm.WideNorm(128, symmetric=True, **wide),
    "MRN": lambda: tm.ResidualMetric(128),
    "WN 32x32, concave": lambda: tm.NeuralMetric(tm.WideNorm(128, **wide)),
    "recommended": lambda: tm.recommended(128, symmetric=False),
    "tolls, WN 32x32": lambda: tm.TollMetric(tm.WideNorm(126, **wide)),
}


def make(head, batch, compiled):
    torch.manual_seed(0)
    model = tm.Siamese(tm.MLP(16, 128, widths=(128, 128)), HEADS[head]())
    objects, pairs = torch.randn(2000, 16), torch.randint(2000, (20 * batch, 2))
    targets = torch.rand(len(pairs)) + 0.1
    config = tm.TrainingConfig(epochs=10**6, batch_size=batch, compile=compiled)
    data, processes = PairData(pairs, targets, objects, model=model), Processes()
    run = TrainingRun(SingleModel(model, data, config, processes), [data], [], {}, [0], config, processes)
    return lambda: take_step(run)


print(json.dumps(list(HEADS)), flush=True)
made = {}
for line in sys.stdin:
    head, batch, compiled, steps = case = json.loads(line)
    key = head, batch, compiled
    if key not in made:
        made.clear()
        made[key] = make(*key)
        for _ in range(5):
            made[key]()
    best = float("inf")
    for _ in range(steps):
        before = time.process_time()
        made[key]()
        best = min(best, time.process_time() - before)
    print(json.dumps(best), flush=True)
"""


class Version:
    """A process that takes training steps in one version of the library.

    Args:
        folder: where that version is checked out.
    """

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", STEPS],
            env={**os.environ, "PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.heads: list[str] = self._answer()

    def seconds(self, head: str, batch: int, *, compiled: bool, steps: int) -> float:
        """Take some steps.

        Args:
            head: one of `heads`.
            batch: pairs per step.
            compiled: with `compile=True`.
            steps: how many.

        Returns:
            The processor time of the fastest.
        """
        print(json.dumps([head, batch, compiled, steps]), file=self.process.stdin, flush=True)
        return self._answer()

    def close(self) -> None:
        """End the process."""
        self.process.communicate()

    def _answer(self) -> Any:
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise RuntimeError("the measurement of training steps failed; its error is above")
        return json.loads(line)


def show_steps(
    earlier: Path,
    now: Path,
    *,
    turns: int = 12,
    steps: int = 6,
    compiled: bool = False,
    only: Sequence[str] | None = None,
) -> None:
    """Measure and print a line for each head and batch size.

    Args:
        earlier: where the earlier version is checked out.
        now: where this one is.
        turns: of each version, for each head and batch size.
        steps: in a turn.
        compiled: also with `compile=True` in this version, which takes a minute to compile.
        only: the heads to measure; None for all.
    """
    versions = [Version(earlier), Version(now)]
    if unknown := set(only or ()) - set(versions[1].heads):
        raise ValueError(f"only: expected some of {versions[1].heads}, got {sorted(unknown)}")
    columns = "  compiled against not" if compiled else ""
    print(
        f"{'training step':<32} {'earlier, ms':>12} {'now, ms':>9} {'products':>9}  times faster now, at most{columns}"
    )
    try:
        for head in only or versions[1].heads:
            for batch in BATCHES:
                ways = [(versions[0], False), (versions[1], False)] + [(Version(now), True)] * compiled
                best = [float("inf")] * len(ways)
                products = product_seconds(head, batch)
                for _ in range(turns):
                    for i, (version, own) in enumerate(ways):
                        best[i] = min(best[i], version.seconds(head, batch, compiled=own, steps=steps))
                before, after = best[:2]
                again = product_seconds(head, batch)
                text = f"{f'{head}, batch {batch}':<32} {before * 1e3:>12.3g} {after * 1e3:>9.3g}"
                if products is None or again is None:
                    text += f" {'':>9}  {before / after:<16.2f}{'':>9}"
                else:
                    least = min(products, again)
                    text += f" {least * 1e3:>9.3g}  {before / after:<16.2f}{before / least:>9.2f}"
                if compiled:
                    ways[2][0].close()
                    text += f"{after / best[2]:>20.2f}"
                print(text, flush=True)
    finally:
        for version in versions:
            version.close()
