"""Log transitions of a Gymnasium environment by random walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from trimetric._support import checks
from trimetric.rl.transitions.log import Transitions

if TYPE_CHECKING:
    import gymnasium

Observe = Callable[[Any], np.ndarray]
DiscreteAs = Literal["one-hot", "coordinates"]


def collect(
    env: gymnasium.Env[Any, Any],
    steps: int,
    *,
    seed: int,
    repeat: int = 1,
    observe: Observe | None = None,
    discrete: DiscreteAs = "one-hot",
    reset_options: dict[str, Any] | None = None,
) -> Transitions:
    """Take that many random steps, starting anew whenever an episode ends.

    The reward of a step must be below 0; its cost is minus the reward.

    Args:
        env: whose observations are numbers, or dictionaries with these under "observation".
        steps: transitions to log.
        seed: of the environment and of the actions.
        repeat: how often each action is taken, for one transition; its costs are summed.
        observe: from an observation of the environment to what is logged of it, such as `bins_of(env, 40)`.
        discrete: how whole numbers of Discrete and MultiDiscrete spaces are logged.
        reset_options: for `env.reset`.
    """
    checks.positive_int("steps", steps)
    checks.positive_int("repeat", repeat)
    see = observe or _observer(observation_space(env), discrete)
    env.action_space.seed(seed)
    rows: dict[str, list[Any]] = {"observations": [], "next_observations": [], "costs": [], "terminals": []}
    actions: list[Any] = []
    here = see(_inner(env.reset(seed=seed, options=reset_options)[0]))
    for _ in range(steps):
        action = env.action_space.sample()
        seen, cost, ended, cut = None, 0.0, False, False
        for _ in range(repeat):
            seen, reward, ended, cut, _ = env.step(action)
            if not float(reward) < 0:
                raise ValueError(
                    f"env: expected rewards below 0, as a step costs something, got {float(reward):g}; "
                    "wrap it, for example in gymnasium.wrappers.TransformReward"
                )
            cost -= float(reward)
            if ended or cut:
                break
        there = see(_inner(seen))
        for name, value in zip(rows, (here, there, cost, ended), strict=True):
            rows[name].append(value)
        actions.append(action)
        here = see(_inner(env.reset(options=reset_options)[0])) if ended or cut else there
    logged = {name: np.array(values) for name, values in rows.items()}
    taken = np.array(actions)
    return Transitions(**logged, actions=taken if np.issubdtype(taken.dtype, np.integer) and taken.ndim == 1 else None)


def bins_of(env: gymnasium.Env[Any, Any], bins: int) -> Observe:
    """Round each coordinate of a bounded Box to the middle of one of so many equal parts: so states come again."""
    from gymnasium import spaces

    checks.positive_int("bins", bins)
    space = observation_space(env)
    if not isinstance(space, spaces.Box) or not space.is_bounded():
        raise ValueError(f"bins: expected an environment with bounded Box observations, got {space}")
    low, width = space.low.astype(np.float64), (space.high.astype(np.float64) - space.low) / bins

    def observe(seen: Any) -> np.ndarray:
        numbers = np.clip(np.floor((np.asarray(seen, dtype=np.float64) - low) / width), 0, bins - 1)
        return (low + (numbers + 0.5) * width).astype(np.float32)

    return observe


def observation_space(env: gymnasium.Env[Any, Any]) -> Any:
    """The space of what the agent sees; for a goal-conditioned environment, of its "observation"."""
    from gymnasium import spaces

    space: Any = env.observation_space
    if isinstance(space, spaces.Dict):
        if "observation" not in space.spaces:
            raise ValueError(f"env: expected an 'observation' in its dictionaries, got {', '.join(space.spaces)}")
        return space.spaces["observation"]
    return space


def _inner(seen: Any) -> Any:
    return seen["observation"] if isinstance(seen, Mapping) else seen


def _observer(space: Any, discrete: DiscreteAs) -> Observe:
    from gymnasium import spaces

    checks.one_of("discrete", discrete, ("one-hot", "coordinates"))
    if isinstance(space, spaces.Box):
        return lambda seen: np.atleast_1d(np.asarray(seen, dtype=np.float32))
    if isinstance(space, spaces.MultiBinary):
        return lambda seen: np.asarray(seen, dtype=np.float32).ravel()
    if not isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        raise ValueError(
            f"env: expected Box, Discrete, MultiDiscrete or MultiBinary observations, alone or as 'observation' of a "
            f"dictionary, got {space}; observe= turns others into numbers"
        )
    sizes = np.atleast_1d(space.n if isinstance(space, spaces.Discrete) else space.nvec.ravel())
    start = np.atleast_1d(np.asarray(space.start).ravel())
    if discrete == "coordinates":
        return lambda seen: (np.atleast_1d(seen).ravel() - start).astype(np.float32)
    offsets = np.cumsum(sizes) - sizes

    def one_hot(seen: Any) -> np.ndarray:
        row = np.zeros(int(sizes.sum()), dtype=np.float32)
        row[offsets + np.atleast_1d(seen).ravel() - start] = 1
        return row

    return one_hot
