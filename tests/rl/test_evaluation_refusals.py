"""`rl.evaluate`: episodes that an environment ends, and what is refused instead of answered wrongly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from trimetric.rl import DirectedPoint, Evaluation, GymnasiumTasks, MountainCar, evaluate


class Cliff:
    """An environment as of Gymnasium: the second step falls off a cliff; whoever goes on is told of success."""

    def __init__(self, **ending: Any) -> None:
        self.ending, self.taken = ending, 0
        self.unwrapped = SimpleNamespace()
        self.spec = SimpleNamespace(max_episode_steps=9)
        self.action_space = SimpleNamespace(shape=(2,))

    def reset(self, *, seed: int, options: Any) -> tuple[np.ndarray, dict[str, Any]]:  # noqa: ARG002
        self.taken = 0
        return np.zeros(2, dtype=np.float32), {"goal": np.ones(2, dtype=np.float32)}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:  # noqa: ARG002
        self.taken += 1
        assert self.taken <= 2, "stepped after the end"
        return np.zeros(2, dtype=np.float32), -1.0, self.taken == 2, False, dict(self.ending)


def still(observations: Tensor, goals: Tensor) -> Tensor:  # noqa: ARG001
    return torch.zeros(len(observations), 2)


def test_an_episode_that_terminates_with_failure_is_over() -> None:
    found = evaluate(GymnasiumTasks(Cliff(success=False)), still, episodes=3)
    assert found.success == 0.0
    assert found.steps.tolist() == [[2, 2, 2]]
    world = GymnasiumTasks(Cliff(is_success=False))
    world.reset(np.array([0]), np.random.default_rng(0))
    for _ in range(2):
        world.step(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="actions: expected none, because the environment has ended this episode"):
        world.step(np.zeros((1, 2)))


def test_termination_is_success_where_nothing_else_tells() -> None:
    found = evaluate(GymnasiumTasks(Cliff()), still, episodes=2)
    assert (found.success, found.steps.tolist()) == (1.0, [[2, 2]])


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda seen, goals: (goals - seen)[:, :1], r"policy: expected actions of shape \(b, 2\), got shape \(20, 1\)"),
        (lambda seen, _: torch.zeros(len(seen), 3), r"policy: expected actions of shape \(b, 2\), got shape"),
        (lambda seen, _: torch.zeros(len(seen)), r"policy: expected actions of shape \(b, 2\), got shape"),
    ],
)
def test_actions_of_another_size_are_refused(policy: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(DirectedPoint(), policy, episodes=2)


def test_actions_of_another_size_are_refused_in_an_environment() -> None:
    with pytest.raises(ValueError, match=r"policy: expected actions of shape \(b, 2\), got shape \(1, 3\)"):
        evaluate(GymnasiumTasks(Cliff()), lambda *_: torch.zeros(1, 3), episodes=1)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (torch.zeros(7), r"expected numbers of actions, shape \(b,\), got shape \(3, 7\)"),
        (torch.tensor(3), "expected numbers of actions from 0 to 2, got 3"),
        (torch.tensor(0.5), "expected numbers of actions from 0 to 2, got 0.5"),
    ],
)
def test_numbers_of_actions_are_checked(action: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=f"policy: {message}"):
        evaluate(MountainCar(), lambda seen, _: action.expand(len(seen), *action.shape), episodes=1)


@pytest.mark.parametrize(
    ("world", "options", "error", "message"),
    [
        ("directed", {}, TypeError, "world: expected a world with tasks, such as DirectedPoint"),
        (DirectedPoint(), {"tasks": 3}, TypeError, "tasks: expected a sequence of numbers of tasks, got 3"),
        (DirectedPoint(), {"tasks": [0.7]}, ValueError, r"tasks: expected numbers from 0 to 9, got \[0.7\]"),
        (DirectedPoint(), {"tasks": [True]}, ValueError, r"tasks: expected numbers from 0 to 9, got \[True\]"),
    ],
)
def test_worlds_and_tasks_are_checked(world: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        evaluate(world, still, **options)


def test_measures_are_checked() -> None:
    found = Evaluation(
        tasks=("a",),
        reached=np.array([[True]]),
        steps=np.array([[3]]),
        optimal=np.array([[3.0]]),
        seconds_per_action=0.0,
        goals=np.zeros((1, 1, 1)),
    )
    for call in (found.interval, found.per_task, found.of_episodes):
        with pytest.raises(ValueError, match="measure: expected one of 'success', 'spl', got 'foo'"):
            call("foo")  # type: ignore[arg-type]
