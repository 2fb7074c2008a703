"""States of small worlds on a square grid: `taxi` and `push` of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric.graphs.generators.torus import random_weights
from trimetric.graphs.graph import Graph

SIDE = 25


def taxi(*, seed: int, side: int = SIDE) -> Graph:
    """A taxi and a passenger on a grid without wrap-around: 391,250 nodes, 751,825 edges (the paper's `taxi`).

    With `c = side^2` cells, state `taxi * c + passenger` has the passenger waiting, and state `c * c + taxi` has them
    on board.  The taxi moves to a neighboring cell; where both are in one cell the passenger gets in or out.  Each edge
    has one weight, from {.01, .02, ..., 1.00}.
    """
    moves = _moves(side)
    here, there = moves[moves[:, 0] < moves[:, 1]].T
    cells = side**2
    waiting = np.arange(cells)
    tails = [(here[:, None] * cells + waiting).ravel(), cells * cells + here, waiting * cells + waiting]
    heads = [(there[:, None] * cells + waiting).ravel(), cells * cells + there, cells * cells + waiting]
    ends = np.concatenate(tails), np.concatenate(heads)
    weights = random_weights(np.random.default_rng(seed), len(ends[0]))
    return Graph.from_arcs(cells * cells + cells, *ends, weights, directed=False)


def push(*, seed: int, side: int = SIDE) -> Graph:
    """An agent and a box on a grid: 390,000 nodes, 1,497,600 arcs (the paper's `push`).

    State `agent * (c - 1) + box`, with the box counted among the `c - 1` cells that are not the agent's.  The agent
    moves to a neighboring cell, and pushes a box that is there one cell on; where that is a wall they swap places.
    Each arc has a weight of its own, from {.01, .02, ..., 1.00}.
    """
    moves = _moves(side)
    cells = side**2
    agent, box = (part.ravel() for part in np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"))
    agent, box = agent[agent != box], box[agent != box]
    number = np.full((cells, cells), -1)
    number[agent, box] = np.arange(len(agent))
    tails, heads = [], []
    for here, there in moves.tolist():
        boxes = np.delete(np.arange(cells), here)
        after = boxes.copy()
        after[boxes == there] = _beyond(here, there, side)
        tails.append(number[here, boxes])
        heads.append(number[there, after])
    ends = np.concatenate(tails), np.concatenate(heads)
    weights = random_weights(np.random.default_rng(seed), len(ends[0]))
    return Graph.from_arcs(len(agent), *ends, weights, directed=True)


def _moves(side: int) -> NDArray[np.int64]:
    """From each cell to each of its neighbors in the grid."""
    if checks.positive_int("side", side) < 2:
        raise ValueError(f"side: expected at least 2, got {side}")
    cell = np.arange(side**2).reshape(side, side)
    across, down = (cell[:, :-1], cell[:, 1:]), (cell[:-1], cell[1:])
    onward = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (across, down)])
    return np.concatenate([onward, onward[:, ::-1]])


def _beyond(here: int, there: int, side: int) -> int:
    """Where the box goes that is pushed from `there` by an agent who comes from `here`."""
    rows, columns = divmod(there, side)
    row, column = 2 * rows - here // side, 2 * columns - here % side
    return row * side + column if 0 <= row < side and 0 <= column < side else here
