"""`rl.evaluate`: what counts as success, SPL, per task, and the old call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import trimetric as tm
from trimetric.rl import DirectedPoint, Evaluation, GymnasiumTasks, Task, comparison_table, evaluate, mean_over_seeds


class Line:
    """A point on a line that moves by its action, at most 1; goals at 5 and at 50."""

    max_steps = 20
    most_instances: int | None = None
    tasks = (Task("near", (0.0,), (5.0,)), Task("far", (0.0,), (50.0,)))

    def reset(self, task_numbers: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        self.x = generator.uniform(-0.4, 0.4, (len(task_numbers), 1)).astype(np.float32)
        self.goals = np.array([self.tasks[number].goal for number in task_numbers], dtype=np.float32)
        self.begin = self.x.copy()
        return self.x, self.goals

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.x = self.x + np.clip(actions, -1, 1)
        return self.x, (np.abs(self.x - self.goals) <= 0.5)[:, 0]

    def optimal_costs(self) -> np.ndarray:
        return np.ceil(np.abs(self.goals - self.begin) - 0.5)[:, 0]


def walk(observations: Tensor, goals: Tensor) -> Tensor:
    return (goals - observations).clamp(-1, 1)


def dawdle(observations: Tensor, goals: Tensor) -> Tensor:
    return 0.5 * walk(observations, goals)


def test_success_steps_and_spl_per_task() -> None:
    found = evaluate(Line(), walk, episodes=7)
    assert found.per_task() == {"near": 1.0, "far": 0.0}
    assert (found.success, found.spl) == (0.5, 0.5)
    assert set(found.steps[0]) <= {4, 5}
    assert (found.steps[1] == 20).all()
    slow = evaluate(Line(), dawdle, episodes=7)
    assert slow.success == 0.5
    assert slow.spl is not None
    assert 0.2 < slow.spl < 0.3
    assert slow.per_task("spl")["near"] == pytest.approx(2 * slow.spl)


def test_the_same_seed_gives_the_same_starts_to_every_policy() -> None:
    one, other = evaluate(Line(), walk, record=True, seed=3), evaluate(Line(), dawdle, record=True, seed=3)
    assert one.paths is not None
    assert other.paths is not None
    assert np.array_equal(one.paths[:, :, 0], other.paths[:, :, 0])
    elsewhere = evaluate(Line(), walk, record=True, seed=4)
    assert elsewhere.paths is not None
    assert not np.array_equal(one.paths[:, :, 0], elsewhere.paths[:, :, 0])


def test_paths_end_at_their_goals() -> None:
    found = evaluate(Line(), walk, episodes=3, record=True)
    assert found.paths is not None
    assert found.paths.shape == (2, 3, 21, 1)
    assert np.abs(found.paths[0, :, -1] - 5).max() <= 0.5


def test_only_instances_on_their_way_are_asked() -> None:
    asked: list[int] = []

    def counting(observations: Tensor, goals: Tensor) -> Tensor:
        asked.append(len(observations))
        return walk(observations, goals)

    evaluate(Line(), counting, episodes=4)
    assert asked[0] == 8
    assert asked[-1] == 4


def test_a_world_of_one_instance_gives_the_same_numbers() -> None:
    world = Line()
    world.most_instances = 1
    assert evaluate(world, walk, episodes=5).success == evaluate(Line(), walk, episodes=5).success


def test_tasks_can_be_chosen() -> None:
    found = evaluate(Line(), walk, tasks=[1], episodes=2, max_steps=3)
    assert (found.tasks, found.steps.max()) == (("far",), 3)


def test_an_environment_that_is_cut_short_has_failed() -> None:
    pytest.importorskip("gymnasium", reason="needs the extra `values`")
    from gymnasium.wrappers import TimeLimit

    from trimetric.rl.worlds.environment import GridEnvironment

    environment = TimeLimit(GridEnvironment("Maze", observations="cells"), 6)
    world = GymnasiumTasks(environment, options=[{"state": 0, "goal": 2}, {"state": 0, "goal": 49}], max_steps=50)

    def east(observations: Tensor, goals: Tensor) -> Tensor:  # noqa: ARG001
        return torch.ones(len(observations), dtype=torch.long)

    assert evaluate(world, east, episodes=2).per_task() == {"task1": 1.0, "task2": 0.0}


def test_intervals_hold_the_mean_and_shrink_with_tasks() -> None:
    generator = np.random.default_rng(0)

    def made(tasks: int) -> Evaluation:
        reached = generator.random((tasks, 40)) < generator.random((tasks, 1))
        return Evaluation(
            tasks=tuple(map(str, range(tasks))),
            reached=reached,
            steps=np.ones((tasks, 40), dtype=int),
            optimal=None,
            seconds_per_action=0.0,
            goals=np.zeros((tasks, 40, 1)),
        )

    few, many = made(4), made(60)
    for found in (few, many):
        low, high = found.interval()
        assert low < found.success < high
    assert np.ptp(many.interval()) < 0.6 * np.ptp(few.interval())
    both = mean_over_seeds([few, few])
    assert both.value == pytest.approx(few.success)
    with pytest.raises(ValueError, match="same tasks"):
        mean_over_seeds([few, many])
    with pytest.raises(ValueError, match="measure: expected 'success'"):
        few.interval("spl")


def test_the_table_has_a_line_for_each_policy() -> None:
    found = {name: evaluate(Line(), policy, episodes=3) for name, policy in (("walk", walk), ("dawdle", dawdle))}
    head, first, second = comparison_table(found).splitlines()
    assert head.split()[:3] == ["near", "far", "all"]
    assert first.split()[:6] == ["walk", "100", "%", "0", "%", "50"]
    assert second.startswith("dawdle")


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda observations, _: observations[:1], "expected a tensor of 100 actions"),
        (lambda observations, _: observations.numpy(), "got ndarray"),
        (lambda observations, _: observations * torch.nan, "expected finite actions"),
    ],
)
def test_bad_policies_are_refused(policy: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(Line(), policy)


def test_bad_arguments_are_refused() -> None:
    for arguments, message in (
        ({"tasks": [2]}, "tasks: expected numbers from 0 to 1"),
        ({"episodes": 0}, "episodes: expected a positive"),
        ({"max_steps": 21}, "max_steps: expected at most 20"),
        ({"pairs": torch.zeros(1, 2)}, "pairs: expected None"),
        ({"goal_value": "zero"}, "goal_value: expected None"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate(Line(), walk, **arguments)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="policy: expected a function"):
        evaluate(Line(), SimpleNamespace())  # type: ignore[call-overload]


def test_the_old_call_works_and_warns() -> None:
    world = tm.rl.World("Maze")
    with pytest.warns(DeprecationWarning, match="evaluate_values"):
        score = evaluate(world, world.values, world.pairs())
    assert score.success == 1.0
    with pytest.raises(TypeError, match="evaluate_values"):
        evaluate(world, walk)  # type: ignore[call-overload]


def test_spl_in_the_directed_world_is_zero_for_straight_lines() -> None:
    found = evaluate(
        DirectedPoint(), lambda seen, goals: 10 * (goals - seen), episodes=2, tasks=[0, 1, 2], max_steps=200
    )
    assert (found.success, found.spl) == (0.0, 0.0)
    assert found.optimal is not None
    assert (found.optimal > 40).all()
