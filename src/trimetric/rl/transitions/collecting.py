"""Log transitions of a Gymnasium environment by a random walk."""

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
    """Log random steps in an environment, which is reset whenever an episode ends.

    The reward of a step must be below 0; its cost is minus the reward.

    Args:
        env: an environment whose observations are numbers, or dictionaries with numbers under "observation".
        steps: number of transitions to log.
        seed: seed of the environment and of the actions.
        repeat: how often each action is taken for one transition; the costs are summed.
        observe: maps an observation of the environment to what is logged of it, such as `bins_of(env, 40)`.
        discrete: how the integers of Discrete and MultiDiscrete spaces are logged: "one-hot" or "coordinates".
        reset_options: options for `env.reset`.

    Returns:
        The log, with actions where these are integers.

    Examples:
        >>> from trimetric.rl import GridEnvironment
        >>> log = collect(GridEnvironment("Maze", observations="cells"), 20, seed=0)
        >>> len(log), log.observations.shape
        (20, (20, 2))
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
    """Make a function that rounds each coordinate to the middle of one of `bins` equal parts, so that states recur.

    Args:
        env: an environment with bounded Box observations.
        bins: number of parts of each coordinate.

    Returns:
        A function for the argument `observe` of `collect`.

    Examples:
        >>> from trimetric.rl import GridEnvironment
        >>> observe = bins_of(GridEnvironment("Maze", observations="cells"), 5)  # rows and columns from 0 to 10
        >>> observe(np.array([1.0, 7.0])).tolist()
        [1.0, 7.0]
        >>> observe(np.array([0.0, 7.9])).tolist()
        [1.0, 7.0]
    """
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
    """Find the space of what the agent sees; for a goal-conditioned environment, that of its "observation".

    Args:
        env: the environment.

    Returns:
        A Gymnasium space.
    """
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
