"""The states of small worlds on a square grid: `taxi` and `push` of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric.graphs.generators.torus import random_weights
from trimetric.graphs.graph import Graph

SIDE = 25


def taxi(*, seed: int, side: int = SIDE) -> Graph:
    """Make the states of a taxi and a passenger on a grid that does not wrap around (the paper's `taxi`).

    By default it has 391,250 nodes and 751,825 edges.  With `c = side^2` cells, the passenger waits in state
    `taxi * c + passenger` and is on board in state `c * c + taxi`.  The taxi moves to a neighboring cell; where both
    are in the same cell, the passenger gets in or out.  The weight of each edge is drawn from {.01, .02, ..., 1.00}.

    To move the passenger, the taxi must first drive to the passenger, and afterwards it drives on alone.  So between
    states whose passenger waits in different cells p and q, the distance is the sum of a toll of the first state
    (to p), a distance between p and q, and a toll of the last state (from q).

    Args:
        seed: for the weights.
        side: cells along each side of the grid, at least 2.

    Examples:
        >>> print(taxi(seed=0, side=2))
        20 nodes, 24 edges
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
    """Make the states of an agent that pushes a box on a grid (the paper's `push`).

    By default it has 390,000 nodes and 1,497,600 arcs.  With `c = side^2` cells, the state is `agent * (c - 1) + box`,
    where the box is numbered among the `c - 1` cells without the agent.  The agent moves to a neighboring cell and
    pushes a box there one cell further; if a wall blocks the box, they swap places.  The weight of each arc is drawn
    from {.01, .02, ..., 1.00}.

    Args:
        seed: for the weights.
        side: cells along each side of the grid, at least 2.

    Examples:
        >>> print(push(seed=0, side=2))
        12 nodes, 24 arcs
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
    """List the moves from each cell to each of its neighbors in the grid."""
    if checks.positive_int("side", side) < 2:
        raise ValueError(f"side: expected at least 2, got {side}")
    cell = np.arange(side**2).reshape(side, side)
    across, down = (cell[:, :-1], cell[:, 1:]), (cell[:-1], cell[1:])
    onward = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (across, down)])
    return np.concatenate([onward, onward[:, ::-1]])


def _beyond(here: int, there: int, side: int) -> int:
    """The cell that a box in `there` moves to when an agent from `here` pushes it."""
    rows, columns = divmod(there, side)
    row, column = 2 * rows - here // side, 2 * columns - here % side
    return row * side + column if 0 <= row < side and 0 <= column < side else here
