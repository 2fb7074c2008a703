"""Logs of random walks in Gymnasium environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from trimetric.rl import (
    bins_of,
    collect,
)


class Counter(gymnasium.Env):
    """Steps of a counter to 5, seen as the space says."""

    def __init__(self, space: spaces.Space, reward: float = -1.5) -> None:
        self.observation_space, self.action_space = space, spaces.Discrete(2)
        self.reward, self.at = reward, 0

    def _seen(self) -> Any:
        seen = {"Discrete": self.at + 3, "MultiDiscrete": np.array([self.at, 1]), "Box": np.array([self.at * 1.0])}
        return seen[type(self.observation_space).__name__]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = 0 if options is None else options["at"]
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at += int(action)
        return self._seen(), self.reward, self.at == 5, False, {}


def test_walks_of_discrete_spaces() -> None:
    env = Counter(spaces.Discrete(6, start=3))
    hot = collect(env, 60, seed=0)
    assert hot.states.shape == (6, 6)
    assert (hot.states.sum(axis=1) == 1).all()
    assert (hot.observations[0] == np.eye(6)[0]).all()
    plain = collect(env, 60, seed=0, discrete="coordinates")
    assert (plain.observations[:, 0] == hot.observations.argmax(axis=1)).all()
    assert plain.terminals is not None
    assert (plain.next_observations[plain.terminals] == 5).all()
    assert plain.terminals.sum() > 2
    assert (plain.observations[1:][plain.terminals[:-1]] == 0).all()  # a new episode
    pair = collect(Counter(spaces.MultiDiscrete([6, 2])), 60, seed=0)
    assert pair.states.shape == (6, 8)
    assert (pair.states[:, 6:] == [0, 1]).all()


def test_walks_repeat_actions_and_sum_their_costs() -> None:
    env = Counter(spaces.Box(0, 6, (1,)))
    log = collect(env, 40, seed=0, repeat=3, reset_options={"at": 1})
    rise = (log.next_observations - log.observations)[:, 0]
    assert set(rise.tolist()) == {0.0, 1.0, 3.0}  # 1 from 4 to 5, where the episode ends
    assert set(log.costs[rise != 1].tolist()) == {4.5}
    assert set(log.costs[rise == 1].tolist()) == {1.5}
    coarse = collect(env, 40, seed=0, observe=bins_of(env, 2))
    assert set(coarse.states[:, 0].tolist()) == {1.5, 4.5}


def test_environments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="env: expected rewards below 0, as a step costs something, got 1"):
        collect(Counter(spaces.Box(0, 6, (1,)), reward=1.0), 5, seed=0)
    with pytest.raises(ValueError, match="env: expected Box, Discrete, MultiDiscrete or MultiBinary observations"):
        collect(Counter(spaces.Text(5)), 5, seed=0)
    with pytest.raises(ValueError, match="env: expected an 'observation' in its dictionaries, got picture"):
        collect(Counter(spaces.Dict(picture=spaces.Discrete(3))), 5, seed=0)
    with pytest.raises(ValueError, match="bins: expected an environment with bounded Box observations"):
        bins_of(Counter(spaces.Discrete(3)), 4)
