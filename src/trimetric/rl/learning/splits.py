"""Which pairs of a state and a goal are trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from trimetric._support import checks
from trimetric.rl.worlds.world import World

SplitBy = Literal["goal", "state"]


@dataclass(frozen=True)
class Split:
    """Pairs of a state and a goal, by number."""

    train: Int[Tensor, "n 2"]
    test: Int[Tensor, "m 2"]
    """the pairs that were held out; all pairs where none was"""


def split_pairs(world: World, fraction: float, *, by: SplitBy = "goal") -> Split:
    """Hold out the last goals (or states) in reading order: round(fraction * n) of them are trained on.

    By goal every state, and so every move, is seen; by state the agent is never in the lower part of the map.
    """
    checks.one_of("by", by, ("goal", "state"))
    kept = round(checks.finite_number("fraction", fraction, above=0) * world.num_states)
    if not 1 <= kept <= world.num_states:
        raise ValueError(f"fraction: expected one that keeps from 1 to all {by}s, got {fraction!r}")
    pairs = world.pairs()
    seen = pairs[:, 1 if by == "goal" else 0] < kept
    return Split(pairs[seen], pairs[~seen] if kept < world.num_states else pairs)


def validation_split(split: Split, part: float = 0.3) -> Split:
    """Hold out the last `part` of the training goals in turn: for choices that must not look at test goals."""
    goals = split.train[:, 1]
    seen = goals.unique()
    kept = round((1 - checks.finite_number("part", part, above=0, below=1)) * len(seen))
    if not 1 <= kept < len(seen):
        raise ValueError(f"part: expected one that holds out some of the {len(seen)} training goals, got {part!r}")
    trained = goals < seen[kept]
    return Split(split.train[trained], split.train[~trained])


def some_pairs(pairs: Int[Tensor, "n 2"], count: int, *, seed: int) -> Int[Tensor, "k 2"]:
    """At most `count` of the pairs, drawn without replacement."""
    generator = torch.Generator().manual_seed(seed)
    return pairs[torch.randperm(len(pairs), generator=generator)[:count]]
