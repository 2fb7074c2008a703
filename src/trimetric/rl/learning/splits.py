"""Which pairs of a state and a goal are trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from trimetric._support import checks
from trimetric.rl.transitions.known_moves import KnownMoves
from trimetric.rl.worlds.world import World

SplitBy = Literal["goal", "state"]


@dataclass(frozen=True)
class Split:
    """Pairs of a state and a goal, by number.

    Attributes:
        train: pairs to train on (n, 2).
        test: pairs that are held out (m, 2); all pairs where none is.

    Examples:
        >>> pairs = World("Maze").pairs()
        >>> len(Split(train=pairs, test=pairs).train)
        2450
    """

    train: Int[Tensor, "n 2"]
    test: Int[Tensor, "m 2"]


def split_pairs(world: World, fraction: float, *, by: SplitBy = "goal") -> Split:
    """Hold out the last goals (or states) in reading order.

    Split by goal, every state and so every move is seen; split by state, the agent is never in the lower part of the
    map while training.

    Args:
        world: the world whose pairs are split.
        fraction: `round(fraction * n)` of the n goals (or states) are trained on.
        by: "goal" or "state".

    Returns:
        All pairs of the world, in two parts.

    Examples:
        >>> split = split_pairs(World("FourRoom"), 0.75)
        >>> len(split.train), len(split.test)
        (3417, 1139)
    """
    checks.one_of("by", by, ("goal", "state"))
    kept = round(checks.finite_number("fraction", fraction, above=0) * world.num_states)
    if not 1 <= kept <= world.num_states:
        raise ValueError(f"fraction: expected one that keeps from 1 to all {by}s, got {fraction!r}")
    pairs = world.pairs()
    seen = pairs[:, 1 if by == "goal" else 0] < kept
    return Split(pairs[seen], pairs[~seen] if kept < world.num_states else pairs)


def validation_split(split: Split, part: float = 0.3) -> Split:
    """Hold out the last training goals in turn, for choices that must not look at test goals.

    Args:
        split: its training pairs are split again.
        part: share of the training goals to hold out.

    Returns:
        The training pairs, in two parts.

    Examples:
        >>> inner = validation_split(split_pairs(World("FourRoom"), 0.5))
        >>> bool(inner.train[:, 1].max() < inner.test[:, 1].min())
        True
    """
    goals = split.train[:, 1]
    seen = goals.unique()
    kept = round((1 - checks.finite_number("part", part, above=0, below=1)) * len(seen))
    if not 1 <= kept < len(seen):
        raise ValueError(f"part: expected one that holds out some of the {len(seen)} training goals, got {part!r}")
    trained = goals < seen[kept]
    return Split(split.train[trained], split.train[~trained])


def some_pairs(pairs: Int[Tensor, "n 2"], count: int, *, seed: int) -> Int[Tensor, "k 2"]:
    """Draw pairs without replacement.

    Args:
        pairs: pairs to choose from (n, 2).
        count: the most pairs to draw.
        seed: seed of the draw.

    Returns:
        `min(count, n)` of the pairs.

    Examples:
        >>> some_pairs(World("Maze").pairs(), 10, seed=0).shape
        torch.Size([10, 2])
    """
    generator = torch.Generator().manual_seed(seed)
    return pairs[torch.randperm(len(pairs), generator=generator)[:count]]


def hold_out_goals(moves: KnownMoves, fraction: float, *, seed: int) -> tuple[Tensor, Tensor]:
    """Choose the states of a log that are never goals in training.

    Args:
        moves: the moves of the log.
        fraction: share of the states to hold out, from 0 to below 1.
        seed: seed of the choice.

    Returns:
        Numbers of the states that may be goals in training, and of those that may not, both sorted.

    Examples:
        >>> import numpy as np
        >>> from trimetric.rl import Transitions
        >>> line = np.arange(4.0)[:, None]
        >>> moves = KnownMoves(Transitions(observations=line[:-1], next_observations=line[1:], costs=np.ones(3)))
        >>> seen, held_out = hold_out_goals(moves, 0.25, seed=0)
        >>> len(seen), len(held_out)
        (3, 1)
    """
    if not 0 <= fraction < 1:
        raise ValueError(f"fraction: expected a part from 0 to below 1, got {fraction!r}")
    order = torch.randperm(moves.num_states, generator=torch.Generator().manual_seed(seed))
    held = round(fraction * moves.num_states)
    return order[held:].sort().values, order[:held].sort().values


def ends_of_keys(keys: Int[Tensor, " k"], n: int) -> Int[Tensor, "k 2"]:
    """Decode pairs of numbers below n.

    Args:
        keys: `first * n + second` for each pair (k,).
        n: the number of states.

    Returns:
        The pairs (k, 2).
    """
    return torch.stack([keys // n, keys % n], dim=1)
