"""The control worlds against Gymnasium's environments, step by step, and their goals and data."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="needs the extra `values`")

import gymnasium

from trimetric.rl import MountainCar, Pendulum, random_trajectories


def test_mountain_car_is_gymnasiums() -> None:
    world, generator = MountainCar(), np.random.default_rng(0)
    environment = gymnasium.make("MountainCar-v0").unwrapped
    at_goal = 0
    for _ in range(30):
        world.scatter(1, generator)
        world._goals = np.array([world.tasks[0].goal]).reshape(1, 4, 2)
        environment.state = tuple(world.states[0])  # type: ignore[attr-defined]
        for action in generator.integers(3, size=60):
            expected, _, terminated, _, _ = environment.step(action)
            seen, arrived = world.step(np.array([action]))
            assert np.array_equal(seen[0], expected)
            assert bool(arrived[0]) == terminated
            at_goal += terminated
    assert at_goal > 10


def test_pendulum_is_gymnasiums() -> None:
    world, generator = Pendulum(), np.random.default_rng(0)
    environment = gymnasium.make("Pendulum-v1").unwrapped
    environment.reset(seed=0)
    for _ in range(10):
        world.scatter(1, generator)
        environment.state = world.states[0].copy()  # type: ignore[attr-defined]
        for torque in generator.uniform(-3, 3, 80):
            expected, *_ = environment.step(np.array([torque]))
            seen, _ = world.step(np.array([[torque]]))
            assert np.allclose(seen[0], expected, atol=1e-6)


def test_a_goal_set_is_reached_at_any_member() -> None:
    world = MountainCar()
    _, goals = world.reset(np.array([0, 0, 2]), np.random.default_rng(0))
    assert goals.shape == (3, 4, 2)
    world.states = np.array([[0.52, 0.01], [0.52, 0.065], [-np.pi / 6, 0.0]])
    _, arrived = world.step(np.array([2, 2, 1]))
    assert arrived.tolist() == [True, True, True]


def test_pendulum_goals() -> None:
    world = Pendulum()
    world.reset(np.array([0, 1, 2]), np.random.default_rng(0))
    _, arrived = world.step(np.zeros((3, 1)))
    assert not arrived.any()
    world.states = np.array([[2 * np.pi, 0.0], [-np.pi, 0.1], [np.pi / 2, -0.2]])
    _, arrived = world.step(np.zeros((3, 1)))
    assert arrived.tolist() == [True, True, False]  # gravity moves the third


def test_the_goal_of_the_car_cannot_be_reached_by_full_force() -> None:
    world = MountainCar()
    world.reset(np.zeros(20, dtype=int), np.random.default_rng(0))
    assert not any(world.step(np.full(20, 2))[1].any() for _ in range(world.max_steps))


def test_data() -> None:
    train, held_out = random_trajectories(MountainCar(), episodes=100, seed=3)
    assert (train.num_episodes, held_out.num_episodes, len(train)) == (100, 10, 20_100)
    assert train.actions is not None
    assert set(train.actions.tolist()) == {0, 1, 2}
    assert (train.observations.reshape(100, 201, 2)[:, 0, 0] > 0).any()
    assert (np.diff(train.actions.reshape(100, 201)[:, :8], axis=1) == 0).all()
    torques, _ = random_trajectories(Pendulum(), episodes=10)
    assert torques.actions is not None
    assert torques.actions.shape == (2010, 1)
    assert torques.observations.shape == (2010, 3)
