"""A checkpoint belongs to one run: not to that of another encoder, log, or number of goals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from small_worlds import box_walks
from torch import Tensor

import trimetric as tm
from trimetric import rl
from trimetric._support.tensor_files import CheckpointError

FAST: dict[str, Any] = {"steps": 50, "batch_size": 8, "progress": "silent"}
LOG = box_walks(6, 10)


def model_of(seed: int) -> tm.Siamese:
    return rl.goal_model(LOG, dim=4, widths=(4,), seed=seed)


def towards(here: Tensor, goal: Tensor) -> Tensor:
    return goal - here


def dynamics(number: int, file: Path) -> object:
    return rl.learn_dynamics(LOG, model=model_of(number), widths=(4,), checkpoint=file, **FAST)


def clone(number: int, file: Path) -> object:
    return rl.clone_behavior(LOG, encoder=model_of(number).encoder, widths=(4,), checkpoint=file, **FAST)


def distilled(number: int, file: Path) -> object:
    encoder = model_of(number).encoder
    return rl.distil_policy(towards, LOG, encoder=encoder, widths=(4,), states=70, checkpoint=file, **FAST)


def fewer_goals(number: int, file: Path) -> object:
    return rl.distil_policy(towards, LOG, goals=70 - number, states=70, widths=(4,), checkpoint=file, **FAST)


def held_out(number: int, file: Path) -> object:
    other = box_walks(2, 10, seed=5 + number) if number < 2 else None
    return rl.learn_distance(model_of(0), LOG, held_out=other, checkpoint=file, **FAST)


@pytest.mark.parametrize("learn", [dynamics, clone, distilled, fewer_goals, held_out])
def test_the_checkpoint_of_another_run_is_refused(learn: Callable[[int, Path], object], tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    learn(0, file)
    learn(0, file)
    for number in (1, 2):
        with pytest.raises(CheckpointError, match="differ"):
            learn(number, file)


class Plain(rl.Objective):
    """An objective without a repr: settings in its attributes."""

    def __init__(self, weight: float, table: Any = None) -> None:
        self.weight, self.table = weight, table

    def draw(self, sampler: Any, shape: tuple[int, int]) -> dict[str, Tensor]:
        return {"here": sampler.states(shape), "goal": sampler.others(shape)}

    def loss(self, batch: Any, extras: Any) -> Tensor:  # noqa: ARG002
        points = batch.embed("here", "goal")
        return self.weight * points.square().mean()


def test_an_objective_without_a_repr_resumes_by_its_attributes(tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"

    def learn(objective: rl.Objective) -> Tensor:
        model = model_of(0)
        rl.learn_distance(model, LOG, objective=objective, checkpoint=file, **FAST)
        return torch.cat([p.detach().flatten() for p in model.parameters()])

    assert torch.equal(learn(Plain(1.0)), learn(Plain(1.0)))
    with pytest.raises(CheckpointError, match="differ"):
        learn(Plain(2.0))


def test_an_objective_that_cannot_be_compared_is_refused_with_a_checkpoint(tmp_path: Path) -> None:
    vague = Plain(1.0, table=object())
    with pytest.raises(ValueError, match=r"checkpoint: expected None with Plain, .* define __repr__"):
        rl.learn_distance(model_of(0), LOG, objective=vague, checkpoint=tmp_path / "run.checkpoint", **FAST)
    assert rl.learn_distance(model_of(0), LOG, objective=vague, **FAST).objective is vague
