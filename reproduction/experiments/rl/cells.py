"""The runs: a world, a head, an objective, a budget and a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reproduction.experiments.rl.heads import HEADS
from reproduction.frame.experiment import Scale, added_later
from trimetric._support.optional import installed

POINTMAZES = ("medium-navigate", "large-navigate", "giant-navigate", "medium-stitch", "large-stitch", "giant-stitch")
MEDIUM_AND_LARGE = ("medium-navigate", "large-navigate", "medium-stitch", "large-stitch")
TELEPORTS = ("teleport-navigate", "teleport-stitch")
DIRECTED = "directed"
MAIN = "MRN grouped"
OBJECTIVE_NAMES = ("sqrt", "log", "linear", "softplus", "TD", "contrastive", "TMD", "MQE", "Eikonal")
NONE = "none"
"""the head and the objective of baselines, which learn no distance"""
STEPS = {"medium": 10_000, "large": 10_000, "giant": 20_000}
"""gradient steps of the main distance in each maze"""
BATCH = 512
COMPARED_STEPS, COMPARED_BATCH = 5000, 256
"""where heads or objectives are compared: the directed world, one maze, and teleport"""
LONG_HEAD, LONG_STEPS = "IQE", 20_000
"""what learns the directed world with the batches of the mazes, to see how far it gets"""
COMPARED_MAZE = "medium-navigate"
LOOKAHEAD = 5.0
EPISODES, FEW_EPISODES = 50, 10
"""for each task; few in the directed world, which has twice as many tasks, and where planners alone are compared"""
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
    """of the actor and the clone, for each task; 0 for planners alone"""
    planner_episodes: int
    """of the planners, for each task"""
    seed: int
    """of the data, the weights, and the episodes"""
    lookahead: float = added_later(0.0)
    """of the waypoints, in radii"""


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
    few = 2 if quick else FEW_EPISODES
    full = few if quick else EPISODES

    def maze(world: str, seed: int) -> Cell:
        steps = QUICK_STEPS if quick else STEPS[world.split("-")[0]]
        return Cell(world, MAIN, "sqrt", steps, 64 if quick else BATCH, full, full, seed, LOOKAHEAD)

    def compared(world: str, seed: int, head: str = MAIN, objective: str = "sqrt") -> Cell:
        steps, batch = (QUICK_STEPS, 64) if quick else (COMPARED_STEPS, COMPARED_BATCH)
        return Cell(world, head, objective, steps, batch, few if world == DIRECTED else 0, few, seed, LOOKAHEAD)

    def baseline(world: str, seed: int) -> Cell:
        episodes = few if world == DIRECTED else full
        return Cell(world, NONE, NONE, QUICK_STEPS if quick else 0, 0, episodes, few, seed, LOOKAHEAD)

    first, *later = seeds
    for world in POINTMAZES:
        yield maze(world, first)
    for world in (DIRECTED, *POINTMAZES):
        yield baseline(world, first)
    for head in HEADS:
        yield compared(DIRECTED, first, head)
    if not quick:
        yield Cell(DIRECTED, LONG_HEAD, "sqrt", LONG_STEPS, BATCH, few, few, first, LOOKAHEAD)
    for seed in later:
        for world in POINTMAZES:
            yield maze(world, seed)
    for objective in OBJECTIVE_NAMES:
        yield compared(DIRECTED, first, objective=objective)
    yield baseline(TELEPORTS[0], first)
    for objective in OBJECTIVE_NAMES:
        yield compared(TELEPORTS[0], first, objective=objective)
    for seed in seeds:
        for head in HEADS:
            yield compared(DIRECTED, seed, head)
            yield compared(COMPARED_MAZE, seed, head)
    for seed in later:
        for world in POINTMAZES:
            yield baseline(world, seed)
    for world in TELEPORTS[1:]:
        yield baseline(world, first)
        for objective in OBJECTIVE_NAMES:
            yield compared(world, first, objective=objective)
