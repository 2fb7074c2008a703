"""Losses and schedules of the learning rate."""

from __future__ import annotations

from typing import get_args

import pytest
import torch

import trimetric as tm
from trimetric.training.losses import FINITE_AT_INFINITY, LOSSES, LossName
from trimetric.training.schedules import make_schedule


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_zero_at_the_target_and_have_finite_gradients(name: LossName) -> None:
    loss, config = LOSSES[name], tm.TrainingConfig()
    target = torch.tensor([0.5, 2.0, 7.0])
    assert loss(target, target, config).abs().max() < 1e-12
    predicted = torch.tensor([1.0, 1.0, 9.0], requires_grad=True)
    loss(predicted, target, config).sum().backward()
    assert torch.isfinite(predicted.grad).all()  # type: ignore[arg-type]


def test_the_discounted_loss_takes_unreachable_pairs() -> None:
    found = LOSSES["discounted"](torch.tensor([1.0]), torch.tensor([torch.inf]), tm.TrainingConfig(gamma=0.5))
    assert found.item() == pytest.approx(0.25)


def test_bounds() -> None:
    predicted, bound, config = torch.tensor([1.0, 3.0]), torch.tensor([2.0, 2.0]), tm.TrainingConfig()
    assert LOSSES["lower_bound"](predicted, bound, config).tolist() == [1, 0]
    assert LOSSES["upper_bound"](predicted, bound, config).tolist() == [0, 1]


def test_every_name_has_a_loss() -> None:
    assert set(get_args(LossName)) == set(LOSSES)
    assert set(FINITE_AT_INFINITY) <= set(LOSSES)


def test_schedules() -> None:
    assert [make_schedule("step")(t) for t in (0, 0.24, 0.25, 0.5, 0.99, 1)] == pytest.approx(
        [1, 1, 1 / 5, 1 / 25, 1 / 125, 1 / 125]
    )
    assert [make_schedule("cosine")(t) for t in (0, 0.5, 1)] == pytest.approx([1, 0.5, 0])
    assert [make_schedule("one_cycle")(t) for t in (0, 0.3, 1)] == pytest.approx([0.04, 1, 0])
    assert make_schedule("constant")(0.7) == 1
