"""How much of the exact directed distances a model has recovered: correlation, scale, and regret."""

from __future__ import annotations

import numpy as np
import torch
from scipy.stats import spearmanr

import trimetric as tm
from trimetric import rl

STARTS, GOALS = 200, 20
DIRECTIONS, LOOKAHEAD = 32, 5


@torch.no_grad()
def recovered(model: tm.Siamese, world: rl.DirectedPoint) -> dict[str, float]:
    """Compare learned with exact distances, between places that are always the same.

    Regret is what five steps in the direction that the model prefers, among 32, cost more than in the best direction,
    by the exact distances; "random regret" that of a random direction.

    Args:
        model: a learned distance.
        world: the directed world.
    """
    generator = np.random.default_rng(12345)
    places = world.exact.places
    starts, goals = (places[generator.integers(len(places), size=count)] for count in (STARTS, GOALS))
    truth = world.exact.between(starts, goals)
    here, there = (torch.from_numpy(own.astype(np.float32)) for own in (starts, goals))
    found = tm.all_pairs(model, here, there).numpy()
    far = truth > 3 * LOOKAHEAD
    angles = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False)
    after = np.repeat(starts[:, None], DIRECTIONS, axis=1).reshape(-1, 2)
    actions = np.tile(np.stack([np.cos(angles), np.sin(angles)], axis=1), (STARTS, 1))
    for _ in range(LOOKAHEAD):
        after = world.flow.move(after, actions)
    left = world.exact.between(after, goals).reshape(STARTS, DIRECTIONS, GOALS)
    judged = tm.all_pairs(model, torch.from_numpy(after.astype(np.float32)), there).numpy().reshape(left.shape)
    chosen = np.take_along_axis(left, judged.argmin(axis=1)[:, None], axis=1)[:, 0]
    best = left.min(axis=1)
    backward = tm.all_pairs(model, there, here).numpy().T
    true_backward = world.exact.between(goals, starts).T
    return {
        "correlation": _correlation(found[far], truth[far]),
        "scale": float(np.median(found[far] / truth[far])),
        "error": float(np.median(np.abs(found / np.median(found[far] / truth[far]) - truth)[far] / truth[far])),
        "asymmetry correlation": _correlation((found - backward)[far], (truth - true_backward)[far]),
        "regret": float((chosen - best)[far].mean()),
        "random regret": float((left.mean(axis=1) - best)[far].mean()),
    }


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's; 0 where x is constant, as for a symmetric head."""
    return float(spearmanr(x, y)[0]) if np.ptp(x) > 1e-6 else 0.0  # type: ignore[arg-type]
