"""The runs: a world, a head, an objective, a budget and a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reproduction.experiments.rl.heads import HEADS
from reproduction.frame.experiment import Scale
from trimetric._support.optional import installed

POINTMAZES = ("medium-navigate", "large-navigate", "giant-navigate", "medium-stitch", "large-stitch", "giant-stitch")
MEDIUM_AND_LARGE = ("medium-navigate", "large-navigate", "medium-stitch", "large-stitch")
TELEPORTS = ("teleport-navigate", "teleport-stitch")
DIRECTED = "directed"
MAIN = "MRN grouped"
OBJECTIVE_NAMES = ("sqrt", "log", "linear", "softplus", "TD", "contrastive", "TMD", "MQE", "Eikonal")
NONE = "none"
"""the head and the objective of baselines, which learn no distance"""
STEPS = {DIRECTED: 5000, "medium": 3000, "large": 4000, "giant": 8000, "teleport": 4000}
"""gradient steps in each world"""
BATCH = 256
EPISODES, FEW_EPISODES = 50, 10
"""for each task; few for planners, in the directed world, which has twice as many tasks, and for baselines"""
QUICK_STEPS = 50


@dataclass(frozen=True)
class Cell:
    """One run; its hash identifies it in the ledger."""

    world: str
    """a data set of pointmaze, or "directed\""""
    head: str
    """one of `HEADS`, or "none" for the baselines"""
    objective: str
    """one of `objectives.OBJECTIVES`, or "none\""""
    steps: int
    """gradient steps of the distance; a baseline has none"""
    batch: int
    episodes: int
    """of the actor and the clone, for each task"""
    planner_episodes: int
    """of the planners, which take ten times as long"""
    seed: int
    """of the data, the weights, and the episodes"""


def cells_of(scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
    """List the runs, the most informative first; without MuJoCo those of the directed world alone.

    Args:
        scale: "quick" trains for seconds, in the directed world and one maze; the others are the same.
        seeds: replaces 0, 1 and 2.
    """
    seeds = seeds or ((0,) if scale == "quick" else (0, 1, 2))
    cells = dict.fromkeys(_ordered(seeds, quick=scale == "quick"))
    worlds = {cell.world for cell in cells}
    if scale == "quick":
        worlds = {DIRECTED, "medium-navigate"}
    if not installed("ogbench"):
        worlds = {DIRECTED}
    return [cell for cell in cells if cell.world in worlds]


def _ordered(seeds: tuple[int, ...], *, quick: bool) -> Iterator[Cell]:
    def cell(world: str, seed: int, head: str = MAIN, objective: str = "sqrt") -> Cell:
        few = 2 if quick else FEW_EPISODES
        episodes = few if quick or head == NONE or world == DIRECTED else EPISODES
        steps, batch = (QUICK_STEPS, 64) if quick else (STEPS[world.split("-")[0]], BATCH)
        if head == NONE:
            return Cell(world, NONE, NONE, QUICK_STEPS if quick else 0, 0, episodes, few, seed)
        return Cell(world, head, objective, steps, batch, episodes, few, seed)

    first, *later = seeds
    for world in MEDIUM_AND_LARGE:
        yield cell(world, first)
    for head in (MAIN, "Euclidean", "MLP", "IQE", NONE):
        yield cell(DIRECTED, first, head)
    for world in POINTMAZES:
        yield cell(world, first)
    for head in HEADS:
        yield cell(DIRECTED, first, head)
    for world in POINTMAZES:
        yield cell(world, first, NONE)
    for seed in later:
        for head in HEADS:
            yield cell(DIRECTED, seed, head)
    for objective in OBJECTIVE_NAMES:
        yield cell(DIRECTED, first, objective=objective)
    for seed in later:
        for world in POINTMAZES:
            yield cell(world, seed)
    for seed in seeds:
        for head in HEADS:
            yield cell("medium-navigate", seed, head)
    for world in TELEPORTS:
        yield cell(world, first, NONE)
        for objective in OBJECTIVE_NAMES:
            yield cell(world, first, objective=objective)
