"""The batched simulator of pointmaze against OGBench's environment, step by step, and the recipe of its data."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ogbench", reason="needs the extra `rl`")

import gymnasium

from trimetric.rl import GymnasiumTasks, PointMaze, Task, pointmaze_trajectories


def pushed(maze: str, steps: int, seed: int) -> tuple[float, float, int, int]:
    """The largest differences of places and observations, and how many steps touched a wall or jumped."""
    world = PointMaze(maze)  # type: ignore[arg-type]
    environment = gymnasium.make(f"pointmaze-{maze}-v0", terminate_at_goal=False, max_episode_steps=10**6)
    inner = environment.unwrapped
    generator = np.random.default_rng(seed)
    environment.reset(options={"task_id": 1 + seed % 5})
    world.place(inner.get_xy()[None], np.random.default_rng(0))  # type: ignore[attr-defined]
    world.goals = np.array([inner.cur_goal_xy])  # type: ignore[attr-defined]
    heading, worst, seen_worst, jumps = np.zeros(2), 0.0, 0.0, 0
    for step in range(steps):
        if step % 12 == 0:
            heading = 1.5 * generator.normal(size=2)
        action = np.clip(heading + 0.3 * generator.normal(size=2), -1, 1)
        expected, _, _, _, info = environment.step(action)
        seen, arrived = world.step(action[None])
        assert bool(arrived[0]) == bool(info["success"])
        place = inner.get_xy()  # type: ignore[attr-defined]
        if not np.array_equal(place, expected):  # both have jumped, each to an exit of its own
            jumps += 1
            assert (np.linalg.norm(world._exits - world.places[0], axis=1) == 0).any()
            world.places[0] = place
        worst = max(worst, float(np.abs(place - world.places[0]).max()))
        seen_worst = max(seen_worst, float(np.abs(expected - seen[0]).max()))
    return worst, seen_worst, world.contacts, jumps


@pytest.mark.parametrize("maze", ["medium", "giant"])
def test_every_step_is_that_of_the_environment(maze: str) -> None:
    worst, seen, contacts, _ = pushed(maze, 250, seed=1)
    assert contacts > 20, "the walk must run into walls, or nothing is tested"
    assert worst == 0.0
    assert seen < 1e-5  # observations are float32


def test_jumps_happen_where_they_do_in_the_environment() -> None:
    results = [pushed("teleport", 300, seed) for seed in (3, 4)]
    assert max(worst for worst, *_ in results) == 0.0
    assert sum(jumps for *_, jumps in results) > 0


def test_instances_do_not_disturb_each_other() -> None:
    world, generator = PointMaze("medium"), np.random.default_rng(5)
    starts = world.map.centers(world.map.cells[generator.integers(len(world.map.cells), size=4)])
    actions = generator.uniform(-1, 1, (60, 4, 2)) + np.array([0.8, -0.6])
    world.place(starts, generator)
    for action in actions:
        world.step(action)
    assert world.contacts > 40
    for row in range(4):
        alone = PointMaze("medium")
        alone.place(starts[[row]], generator)
        for action in actions:
            alone.step(action[[row]])
        assert np.array_equal(world.places[row], alone.places[0])


def test_tasks_are_those_of_ogbench_and_can_be_replaced() -> None:
    world = PointMaze("large")
    assert [task.name for task in world.tasks] == ["task1", "task2", "task3", "task4", "task5"]
    assert world.tasks[0].goal == tuple(world.map.centers(np.array([7, 10])))
    own = PointMaze("large", tasks=(Task("near", (0.0, 0.0), (4.0, 0.0)),))
    seen, goals = own.reset(np.zeros(50, dtype=int), np.random.default_rng(0))
    assert np.abs(seen).max() <= 1
    assert np.abs(goals - [4, 0]).max() <= 1


def test_the_oracle_is_that_of_ogbench() -> None:
    world = PointMaze("giant")
    inner = gymnasium.make("pointmaze-giant-v0").unwrapped
    for start, goal in np.random.default_rng(0).integers(len(world.map.cells), size=(60, 2)):
        ends = world.map.centers(world.map.cells[[start, goal]])
        expected, _ = inner.get_oracle_subgoal(*ends)  # type: ignore[attr-defined]
        found = world.map.centers(world.map.cells[world.map.next_cell[start, goal]])
        assert found.tolist() == expected.tolist()


def test_navigate_walks_far_and_stitch_stays_near() -> None:
    train, held_out = pointmaze_trajectories("medium-navigate", episodes=10)
    again, _ = pointmaze_trajectories("medium-navigate", episodes=10)
    assert (len(train), train.num_episodes, held_out.num_episodes) == (10_010, 10, 1)
    assert np.array_equal(train.observations, again.observations)
    assert train.actions is not None
    assert np.abs(train.actions).max() == 1.0
    moved = np.diff(train.observations[:1001], axis=0)
    in_the_open = np.abs(moved - 0.2 * train.actions[:1000]).max(axis=1) < 1e-5
    assert in_the_open.mean() > 0.95
    stitch, _ = pointmaze_trajectories("medium-stitch", episodes=40)
    world = PointMaze("medium")
    ends = world.map.numbers_at(stitch.observations.reshape(40, 201, 2)[:, [0, -1]])
    apart = world.map.steps_between[ends[:, 0], ends[:, 1]]
    assert apart.max() <= 5
    assert np.median(apart) == 4


def test_in_teleport_data_places_jump() -> None:
    train, _ = pointmaze_trajectories("teleport-navigate", episodes=10)
    leaps = np.linalg.norm(np.diff(train.observations.reshape(10, 1001, 2), axis=1), axis=2)
    assert (leaps > 2).sum() >= 3
    assert ((leaps > 0.3) & (leaps < 2)).sum() == 0


def test_the_environment_itself_can_be_evaluated() -> None:
    world = GymnasiumTasks(gymnasium.make("pointmaze-medium-v0"))
    assert (len(world.tasks), world.max_steps) == (5, 1000)
    before = np.random.get_state()[1].copy()  # type: ignore[union-attr]
    seen, goals = world.reset(np.array([1]), np.random.default_rng(0))
    again, same = world.reset(np.array([1]), np.random.default_rng(0))
    assert np.array_equal(goals, same)
    assert np.array_equal(seen, again)
    assert np.array_equal(before, np.random.get_state()[1]), "the global random numbers are the user's"
    after, arrived = world.step(np.array([[1.0, 0.0]]))
    assert after.shape == (1, 2)
    assert not arrived[0]


def test_wrong_names_are_refused() -> None:
    with pytest.raises(ValueError, match="maze: expected"):
        PointMaze("huge")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="name: expected"):
        pointmaze_trajectories("medium-explore")  # type: ignore[arg-type]
