"""`python -m benchmarks.against COMMIT`: this checkout against an earlier commit, as ratios of processor time.

The public functions that both versions have are timed in turn, first in one version and then in the other, so that
what else the machine does falls on both.  The best of all rounds counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.against_nearness import show_nearness
from benchmarks.against_steps import show_steps

ROOT = Path(__file__).parents[1]

# Runs in either version, so it uses only names that both have.
COMMON = """
import json, time
import numpy as np
import torch
import trimetric as tm

torch.set_num_threads(1)
torch.manual_seed(0)


def seconds(work, budget=0.4):
    work()
    best, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < budget:
        before = time.process_time()
        work()
        best = min(best, time.process_time() - before)
    return best


found = {}
"""

# The matrices that the fused kernels were made for; `torch.cdist` is the same in both versions.
MATRICES = """
from trimetric.models.networks import make_network

MATRICES = {
    "IQE, 512": (512, 128, lambda: tm.IntervalQuasimetric(128)),
    "IQE, 2048": (2048, 128, lambda: tm.IntervalQuasimetric(128)),
    "rectified WN 32x32, 512": (512, 128, lambda: tm.WideNorm(128, components=32, width=32)),
    "query head, 512": (512, 64, lambda: make_network("wide", objects=1, dim=64, concave_units=5).head),
    "64 landmark bounds, max, 512": (512, 64, lambda: tm.LandmarkBound(64)),
    "Euclidean, 512": (512, 128, lambda: tm.Euclidean(128)),
    "torch.cdist, 512": (512, 128, None),
    "Euclidean, 2048": (2048, 128, lambda: tm.Euclidean(128)),
    "torch.cdist, 2048": (2048, 128, None),
}
for name, (n, dim, make) in MATRICES.items():
    x, leaf = torch.randn(n, dim), torch.randn(n, dim, requires_grad=True)
    head = None if make is None else make()

    def matrix(points):
        return torch.cdist(points, points) if head is None else tm.all_pairs(head, points)

    with torch.no_grad():
        found[f"{name}, forward"] = seconds(lambda: matrix(x))
    found[f"{name}, forward + backward"] = seconds(lambda: matrix(leaf).sum().backward())
print(json.dumps(found))
"""

# Other public functions.
TIMED = """
HEADS = {
    "Euclidean": lambda: tm.Euclidean(128),
    "WN symmetric": lambda: tm.WideNorm(128, components=32, width=32, symmetric=True),
    "WN rectified": lambda: tm.WideNorm(128, components=32, width=32),
    "DN": lambda: tm.DeepNorm(128, widths=(128, 128)),
    "IQE": lambda: tm.IntervalQuasimetric(128),
    "recommended": lambda: tm.recommended(128, symmetric=False),
}
x = torch.randn(512, 128)
for name, make in HEADS.items():
    head = make()
    with torch.no_grad():
        found[f"all pairs, 512, {name}"] = seconds(lambda: tm.all_pairs(head, x))
    leaf = x.clone().requires_grad_()
    found[f"all pairs with gradient, 512, {name}"] = seconds(lambda: tm.all_pairs(head, leaf).sum().backward())

objects, pairs = torch.randn(2000, 16), torch.randint(2000, (20 * 256, 2))
targets = torch.rand(len(pairs)) + 0.1
for name, make in HEADS.items():
    encoder = torch.nn.Sequential(torch.nn.Linear(16, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128))
    model = tm.Siamese(encoder, make())
    config = tm.TrainingConfig(epochs=1, batch_size=256)
    run = lambda: tm.fit(model, pairs, targets, objects=objects, config=config, progress="silent")
    found[f"20 steps of fit, {name}"] = seconds(run, 1.0)

model = tm.Model(tm.NormInduced(tm.WideNorm(16)), [str(i) for i in range(2000)], objects)
names = [str(i) for i in range(2000)]
found["Model.distances, 2000 pairs"] = seconds(lambda: model.distances(names, names[::-1]))
found["Model.distances, 1 pair"] = seconds(lambda: model.distances(["0"], ["1"]))
found["audit, 500 points"] = seconds(lambda: tm.audit(tm.WideNorm(16), objects[:500]), 1.0)
noisy = np.random.default_rng(0).uniform(0, 5, (150, 150))
np.fill_diagonal(noisy, 0)
found["nearest_metric, n = 150"] = seconds(lambda: tm.nearness.nearest_metric(noisy, tolerance=1e-6), 1.5)
print(json.dumps(found))
"""


# What a person or a service waits for: a single query, and commands, which are processes of their own.
ANSWERS = """
import os, resource, subprocess, sys, tempfile
from pathlib import Path
from trimetric.models.heads import make_head

names, points = [str(i) for i in range(10_000)], torch.randn(10_000, 64)
head = tm.Calibrated(make_head("wide", 64, concave_units=5))
models = {
    "points of a map": tm.Model(head, names, points),
    "embedding": tm.Model(tm.Siamese(torch.nn.Embedding(len(names), 64), head), names),
    "Euclidean": tm.Model(tm.NormInduced(tm.Euclidean(64)), names, points),
}
for name, model in models.items():
    found[f"one pair, {name}"] = seconds(lambda: [model.distances(["1"], ["2"]) for _ in range(50)], 1.0) / 50


def command(folder, *words):
    def used():
        total = resource.getrusage(resource.RUSAGE_CHILDREN)
        return total.ru_utime + total.ru_stime

    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    best = float("inf")
    for _ in range(3):
        before = used()
        subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True)
        best = min(best, used() - before)
    return best


with tempfile.TemporaryDirectory() as folder:
    models["Euclidean"].save(Path(folder) / "model.safetensors")
    asked = ["--from", "1", "--to", "2"]
    found["import torch"] = command(folder, "-c", "import torch")
    found["trimetric predict"] = command(folder, "-m", "trimetric", "predict", "model.safetensors", *asked)
    found["the same, no such file"] = command(folder, "-m", "trimetric", "predict", "missing.safetensors", *asked)
print(json.dumps(found))
"""


def measure(folder: Path, cases: str) -> dict[str, float]:
    """The seconds of each case in the version that is checked out in `folder`."""
    path = os.pathsep.join([str(folder / "src"), str(folder)])
    done = subprocess.run(
        [sys.executable, "-c", COMMON + cases],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{folder}: the measurement failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("commit", help="the earlier version, as git knows it")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each version, in turn")
    parser.add_argument("--matrices", action="store_true", help="only the matrices of fused kernels")
    parser.add_argument("--answers", action="store_true", help="only single queries and the start of commands")
    parser.add_argument("--steps", action="store_true", help="training steps of every head only, both batch sizes")
    parser.add_argument(
        "--nearness", action="store_true", help="only the nearest metric of 1000 objects, asymmetric; takes minutes"
    )
    parser.add_argument("--compiled", action="store_true", help="with --steps: compile=True against eager as well")
    parser.add_argument("--only", nargs="+", metavar="HEAD", help='with --steps: some of the heads, such as "IQE"')
    options = parser.parse_args()
    if options.only and not options.steps:
        parser.error("--only: expected --steps with it")
    if options.matrices + options.answers + options.steps + options.nearness > 1:
        parser.error("expected one of --matrices, --answers, --steps and --nearness")
    if options.compiled and not options.steps:
        parser.error("--compiled: expected --steps with it")
    best: list[dict[str, float]] = [{}, {}]
    with tempfile.TemporaryDirectory() as folder:
        earlier = Path(folder) / "earlier"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(earlier), options.commit], check=True)
        try:
            if options.nearness:
                show_nearness(earlier, ROOT, rounds=options.rounds)
                return
            if options.steps:
                turns = 4 * options.rounds
                show_steps(earlier, ROOT, turns=turns, compiled=options.compiled, only=options.only)
                return
            chosen = (MATRICES,) if options.matrices else (ANSWERS,) if options.answers else (MATRICES, TIMED)
            for cases in chosen:
                for _ in range(options.rounds):
                    for version, place in zip(best, (earlier, ROOT), strict=True):
                        for name, value in measure(place, cases).items():
                            version[name] = min(version.get(name, float("inf")), value)
        finally:
            subprocess.run([*git, "remove", "--force", str(earlier)], check=True)
    print(f"{'':<44} {'earlier, ms':>12} {'now, ms':>9}  times faster now")
    for name, before in best[0].items():
        now = best[1][name]
        print(f"{name:<44} {before * 1e3:>12.3g} {now * 1e3:>9.3g}  {before / now:.2f}")
    if options.answers:
        return
    for n in (512, 2048):
        for work in ("forward", "forward + backward"):
            ratio = best[1][f"torch.cdist, {n}, {work}"] / best[1][f"Euclidean, {n}, {work}"]
            print(f"Euclidean, {n}, {work}: {ratio:.2f} of the speed of torch.cdist")
    for name in ("query head", "64 landmark bounds, max"):
        print(f"{name}: {best[1][f'{name}, 512, forward'] / 512**2 * 1e9:.1f} ns per pair")


if __name__ == "__main__":
    main()
