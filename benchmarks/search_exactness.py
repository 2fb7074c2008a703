"""Search: the answers of an index against the definition of every pair, for every head, bit by bit."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

import trimetric as tm
from trimetric.search import passes

WEIGHTS = ("fresh", "normal", "signs")
KINDS = ("awkward", "duplicates", "grid", "outliers")


@dataclass(frozen=True)
class Exactness:
    """What was compared."""

    neighbors: int
    different: int
    heads: int
    cases: int
    seconds: float


@torch.no_grad()
def run(*, neighbors: int = 10_000_000) -> Exactness:
    """Answer queries with every head of the contract suite until enough neighbors are compared.

    Args:
        neighbors: how many to compare at least.
    """
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    import zoo  # type: ignore[import-not-found]
    from search.brute_force import differences, every_distance  # type: ignore[import-not-found]
    from search.points import hard_points  # type: ignore[import-not-found]

    torch.set_num_threads(1)
    usual = passes.PAIRED_FLOATS
    heads = [name for name, make in zoo.DISTANCES.items() if make(zoo.DIM).axioms.triangle]
    answered = different = cases = 0
    start = time.perf_counter()
    seed = 0
    while answered < neighbors:
        for name in heads:
            dtype = (torch.float32, torch.float64)[cases % 2]
            kind, weights = KINDS[cases // 2 % len(KINDS)], WEIGHTS[cases // 3 % len(WEIGHTS)]
            passes.PAIRED_FLOATS = usual if cases // 5 % 2 else 0  # pair by pair, and block by block
            torch.manual_seed(seed)
            head = zoo.reweight(zoo.DISTANCES[name](zoo.DIM).to(dtype), weights, seed)
            points, _ = hard_points(kind, zoo.DIM, dtype, n=400, seed=seed)
            index = tm.search.Index(head, points, leaf_size=64, pivots=6)
            for direction in ("from", "to"):
                every = every_distance(head, points, points, direction=direction)
                for k in (10, 50):
                    found = index.nearest(points, k=k, direction=direction)
                    wrong = differences(found.rows, found.distances, every, k)
                    answered += found.distances.numel()
                    different += wrong
                    if wrong:
                        print(f"{wrong} different: {name}, {kind}, {weights}, {dtype}, {direction}, k {k}, seed {seed}")
            cases += 1
        seed += 1
    passes.PAIRED_FLOATS = usual
    return Exactness(answered, different, len(heads), cases, time.perf_counter() - start)


def show(found: Exactness, console: Console) -> None:
    """Print what `run` has returned."""
    console.print(
        f"{found.neighbors:,} neighbors of {found.heads} heads in {found.cases} cases, both directions: "
        f"{found.different} different from brute force ({found.seconds:.0f} s)"
    )
