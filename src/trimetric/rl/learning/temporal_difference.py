"""Targets of temporal-difference learning."""

from __future__ import annotations

import hashlib

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric.rl.learning.splits import Split, ends_of_keys
from trimetric.rl.transitions.known_moves import KnownMoves
from trimetric.rl.worlds.world import World
from trimetric.training.teachers import Teacher

POLYAK = 0.95


def temporal_difference(world: World | KnownMoves, split: Split, *, polyak: float = POLYAK) -> Teacher:
    r"""Make the teacher whose targets are $\min_{s'}\, c(s, s') + [s' \ne g]\, \bar d(s', g)$.

    Args:
        world: the moves from each state, with their costs.
        split: its training pairs are taught.
        polyak: share of the target network that is kept in each epoch.

    Returns:
        A teacher that asks the target network for the distances from the next states of the training pairs.
    """
    state, goal = split.train.unbind(1)
    ends, costs = world.next_state[state], world.cost[state]  # pairs, actions
    done, n = ends == goal.unsqueeze(1), world.num_states
    asked = (ends >= 0) & ~done
    keys, answer = torch.unique((ends * n + goal.unsqueeze(1))[asked], return_inverse=True)
    where = torch.zeros_like(ends)
    where[asked] = answer

    def targets(distances: Float[Tensor, " m"]) -> Float[Tensor, " k"]:
        ahead = torch.where(asked, distances[where], 0)
        return (costs.to(distances.dtype) + ahead).amin(dim=1)

    identity = hashlib.sha256(world.cost.numpy().tobytes() + world.next_state.numpy().tobytes()).hexdigest()
    return Teacher(pairs=ends_of_keys(keys, n), targets=targets, decay=polyak, identity=identity)
