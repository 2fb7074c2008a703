"""Batches so small that an objective has nothing to compare, and models in float64."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from small_worlds import box_walks

from trimetric import rl

LOG = box_walks(4, 8)
OBJECTIVES: list[rl.Objective] = [
    rl.Constrained(),
    rl.TemporalDifference(),
    rl.Contrastive(),
    rl.ActionInvariant(),
    rl.Multistep(),
    rl.Eikonal(),
]


@pytest.mark.parametrize("kind", [rl.Contrastive, rl.ActionInvariant])
def test_a_single_goal_cannot_be_told_apart(kind: Any) -> None:
    with pytest.raises(ValueError, match="group: expected at least 2"):
        kind(group=1)
    model = rl.goal_model(LOG, dim=4, widths=(4,))
    with pytest.raises(ValueError, match=f"batch_size: expected at least 2 with {kind.__name__}, .* got 1"):
        rl.learn_distance(model, LOG, objective=kind(), steps=50, batch_size=1, progress="silent")


@pytest.mark.parametrize("kind", [rl.Constrained, rl.Eikonal])
def test_a_state_needs_another_as_its_goal(kind: Any) -> None:
    model = rl.goal_model(LOG, dim=4, widths=(4,))
    with pytest.raises(ValueError, match=f"batch_size: expected at least 2 with {kind.__name__}, .* got 1"):
        rl.learn_distance(model, LOG, objective=kind(), steps=50, batch_size=1, progress="silent")


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda own: type(own).__name__)
def test_batches_of_two_keep_weights_finite(objective: rl.Objective) -> None:
    model = rl.goal_model(LOG, dim=4, widths=(4,))
    found = rl.learn_distance(model, LOG, objective=objective, steps=100, batch_size=2, progress="silent")
    assert all(math.isfinite(epoch.loss) for epoch in found.history.epochs)
    assert all(bool(p.isfinite().all()) for p in model.parameters())


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda own: type(own).__name__)
def test_models_in_float64_learn_by_every_objective(objective: rl.Objective) -> None:
    model = rl.goal_model(LOG, dim=4, widths=(4,)).double()
    before = [p.detach().clone() for p in model.parameters()]
    rl.learn_distance(model, LOG, objective=objective, steps=50, batch_size=8, progress="silent")
    changed = [not torch.equal(p, old) for p, old in zip(model.parameters(), before, strict=True)]
    assert any(changed)
    assert {p.dtype for p in model.parameters()} == {torch.float64}
