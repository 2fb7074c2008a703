"""The runs of the graph experiments: which head on which graph, by which protocol."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from reproduction.experiments.graphs.data import ASYMMETRIC, GENERATED, ROADS, SYMMETRIC, map_file
from reproduction.experiments.graphs.heads import HEADS

BASELINE = "landmarks"
"""instead of a head: the landmark bounds, which need no training, and the statistics of the graph"""
SAMPLE = 150_000
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
FAST_EPOCHS, FAST_STEPS, QUICK_STEPS = 20, 2_000, 400
"""with few pairs, there are more epochs, so that the number of steps is at least this"""
PAPER_EPOCHS = {"paper": 1000, "tenth": 100}
"""epochs of the paper's protocol, and of the same with a tenth of them, to see whether the ranks agree"""
QUICK_SIDES = {"3d": 12, "3dd": 12, "3dr": 12, "taxi": 6, "push": 6}
BATCH = 256


@dataclass(frozen=True)
class Cell:
    """One head on one graph."""

    graph: str
    head: str
    depth: int
    """layers of the encoder"""
    pairs: int
    """training pairs"""
    protocol: str
    seed: int
    epochs: int = 0
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    schedule: str = "step"
    activation: str = "relu"
    """activation of the encoder"""
    calibrated: bool = True
    side: int = 0
    """side of the grid; 0 for the paper's"""
    sample: int = SAMPLE
    """pairs that were drawn, for training, validation and testing"""
    landmarks: str = "farthest"
    map: str = ""
    """name of the file, if the graph is a road network"""


def available_graphs() -> dict[str, str]:
    """The graphs that can be made, with the name of the map for roads; without a map, there are no roads."""
    file = map_file()
    roads = {} if file is None else dict.fromkeys(ROADS, file.name)
    return {name: roads.get(name, "") for name in (*SYMMETRIC, *ASYMMETRIC) if name in GENERATED or name in roads}


def cells_of(
    protocol: str,
    heads: Iterable[str],
    depths: Iterable[int],
    sizes: Iterable[int],
    seeds: Iterable[int],
    *,
    weight_decay: float = 0.0,
) -> Iterator[Cell]:
    """Combine graphs, heads, depths and sizes into cells, graph by graph because loading the data of one takes seconds.

    Args:
        protocol: name of the protocol.
        heads: heads to train, or `BASELINE`.
        depths: layers of the encoder.
        sizes: numbers of training pairs.
        seeds: starts of the network.
        weight_decay: of the optimizer.
    """
    for (graph, map_name), size, depth, head in itertools.product(available_graphs().items(), sizes, depths, heads):
        if head == BASELINE:
            yield Cell(graph, head, 0, size, "none", 0, map=map_name)
            continue
        own = HEADS[head]
        if (
            (depth == 0 and own.encoded)
            or (own.asymmetric and graph in SYMMETRIC)
            or graph not in (own.only or (graph,))
        ):
            continue
        if head == "MLP calibrated" and protocol not in PAPER_EPOCHS:  # in other protocols the MLP already is
            continue
        for seed in seeds:
            cell = Cell(graph, head, depth, size, protocol, seed, weight_decay=weight_decay, map=map_name)
            yield replace(cell, **_recipe(protocol, head, size))


def _recipe(protocol: str, head: str, size: int) -> dict[str, Any]:
    if protocol in PAPER_EPOCHS:
        return {"epochs": PAPER_EPOCHS[protocol], "calibrated": not HEADS[head].paper}
    steps_per_epoch = -(-size // BATCH)
    if protocol == "quick":
        epochs = -(-QUICK_STEPS // steps_per_epoch)
    else:
        epochs = max(FAST_EPOCHS, -(-FAST_STEPS // steps_per_epoch))
    return {"epochs": epochs, "schedule": "cosine", "activation": "silu"}


def shrink(cells: Iterable[Cell]) -> Iterator[Cell]:
    """Replace the graphs by small grids, whose data take seconds; cells of maps are dropped."""
    for cell in cells:
        if cell.graph in QUICK_SIDES:
            yield replace(cell, side=QUICK_SIDES[cell.graph], sample=8_000)
