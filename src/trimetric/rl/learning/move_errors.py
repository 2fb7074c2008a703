"""Measure a value function while it is trained: how far its distances are from the moves that were seen."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from trimetric.rl.transitions.known_moves import KnownMoves
from trimetric.training.teachers import Probe

MOVES = 1024
STARTS = 32
GOALS_PER_START = 32
TOO_LONG = 0.05
"""share of its cost by which the distance of a move may exceed it without being counted"""


def move_errors(moves: KnownMoves, *, seed: int) -> Probe:
    """Make a probe of how far distances are from the cheapest paths over known moves, and how many moves are too long.

    It measures up to 1024 moves and 1024 pairs of a start and a goal.  The loss of these distances rises with its
    penalty, so it says little about them.

    Args:
        moves: the moves that were seen, with their costs.
        seed: seed of the choice of what is measured.

    Returns:
        The probe, for `trimetric.fit`.
    """
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(moves.edges), generator=generator)[:MOVES]
    bounds = moves.costs[order].double()
    starts = torch.randperm(moves.num_states, generator=generator)[:STARTS]
    found = moves.distances_from(starts).double()
    near = found.isfinite() & (found > 0)
    picked = torch.rand(found.shape, generator=generator).masked_fill(~near, 2).argsort(dim=1)[:, :GOALS_PER_START]
    row, place = near.gather(1, picked).nonzero().unbind(1)
    goals = picked[row, place]
    truth = found[row, goals]

    def measure(answers: Tensor) -> Mapping[str, float]:
        of_moves, of_paths = answers.double().cpu().split([len(bounds), len(truth)])
        return {
            "distance_error": float(((of_paths - truth).abs() / truth).mean()),
            "mean_distance": float(of_paths.mean()),
            "mean_cheapest_path": float(truth.mean()),
            "moves_too_long": float((of_moves > (1 + TOO_LONG) * bounds).double().mean()),
        }

    pairs = torch.cat([moves.edges[order], torch.stack([starts[row], goals], dim=1)])
    return Probe(pairs=pairs, measure=measure, text=move_errors_text)


def move_errors_text(found: Mapping[str, float]) -> str:
    """Put the numbers of `move_errors` into words.

    Args:
        found: what the probe measured.

    Returns:
        A sentence.
    """
    return (
        f"distances are off by {found['distance_error']:.1%} of the cheapest paths that were seen "
        f"(mean {found['mean_distance']:.4g}, of the paths {found['mean_cheapest_path']:.4g}); "
        f"{found['moves_too_long']:.1%} of the moves are too long"
    )
