"""The nearest metric of this checkout against that of an earlier commit, solved in turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

# Runs in either version, so it uses only names that both have.  Each line of input is one solution.
SOLVE = """
import json, sys, time
import numpy as np
import torch
import trimetric as tm

torch.set_num_threads(1)


def noisy_plane(n):
    generator = np.random.default_rng(0)
    points = generator.uniform(0, 1, (n, 2))
    difference = points[None] - points[:, None]
    d = np.linalg.norm(difference, axis=-1) + np.maximum(difference[..., 1], 0) + generator.uniform(0, 0.1, (n, n))
    np.fill_diagonal(d, 0.0)
    return d


tm.nearness.nearest_metric(noisy_plane(20), symmetric=False)  # compiles
for line in sys.stdin:
    d = noisy_plane(int(line))
    start = time.process_time()
    result = tm.nearness.nearest_metric(d, symmetric=False, tolerance=1e-6)
    print(json.dumps([time.process_time() - start, result.rounds, result.gap, result.converged]), flush=True)
"""


def show_nearness(earlier: Path, now: Path, *, n: int = 1000, rounds: int = 2) -> None:
    """Solve the noisy plane, which is asymmetric, in both versions and print the ratio.

    Args:
        earlier: where the earlier version is checked out.
        now: where this one is.
        n: the number of objects.
        rounds: solutions of each version; the faster counts.
    """
    versions = [_start(folder) for folder in (earlier, now)]
    best: list[list[float]] = [[float("inf")], [float("inf")]]
    try:
        for _ in range(rounds):
            for i, process in enumerate(versions):
                print(n, file=process.stdin, flush=True)
                line = process.stdout.readline()  # type: ignore[union-attr]
                if not line:
                    raise RuntimeError("the measurement of the nearest metric failed; its error is above")
                best[i] = min(best[i], json.loads(line))
    finally:
        for process in versions:
            process.communicate()
    for name, found in zip(("earlier", "now"), best, strict=True):
        seconds, steps, gap, converged = found
        print(f"{name:<8} {seconds:8.2f} s  {steps} rounds, gap {gap:.1e}{'' if converged else ', not converged'}")
    print(f"nearest metric, asymmetric, n = {n}: {best[0][0] / best[1][0]:.2f} times faster now")


def _start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SOLVE],
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
