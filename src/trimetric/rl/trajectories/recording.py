"""Log whole episodes of a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from trimetric._support import checks
from trimetric.rl.trajectories.trajectories import Trajectories

if TYPE_CHECKING:
    import gymnasium


def record(
    env: gymnasium.Env[Any, Any],
    policy: Callable[[Any], Any] | None = None,
    *,
    episodes: int,
    seed: int,
    max_steps: int | None = None,
    costs: bool = False,
) -> Trajectories:
    """Log episodes of an environment.

    Args:
        env: an environment whose observations are numbers, or dictionaries with numbers under "observation".
        policy: the function from an observation of the environment to an action; random actions by default.
        episodes: number of episodes.
        seed: seed of the environment and of random actions.
        max_steps: cuts episodes off; for an environment that does not end them itself.
        costs: whether to log minus the rewards as costs, which must be above 0; otherwise each step costs 1.

    Returns:
        The log, with the range of the actions or their number.

    Examples:
        >>> from trimetric.rl import GridEnvironment
        >>> log = record(GridEnvironment("Maze", observations="cells"), episodes=2, seed=0, max_steps=10)
        >>> log.num_episodes, log.observations.shape[1:], log.num_actions
        (2, (2,), 4)
    """
    from gymnasium import spaces

    checks.positive_int("episodes", episodes)
    if max_steps is not None:
        checks.positive_int("max_steps", max_steps)
    env.action_space.seed(checks.seed("seed", seed))
    logged = []
    for number in range(episodes):
        shown, _ = env.reset(seed=seed if number == 0 else None)
        seen, actions, paid = [_observed(shown)], [], []
        ended = cut = False
        while not (ended or cut):
            action = env.action_space.sample() if policy is None else policy(shown)
            shown, reward, ended, cut, _ = env.step(action)
            seen.append(_observed(shown))
            actions.append(action)
            paid.append(-float(reward))
            cut = cut or len(actions) == max_steps
        own = {"observations": np.array(seen), "actions": np.array(actions), "terminated": bool(ended)}
        logged.append({**own, "costs": np.array(paid)} if costs else own)
    space = env.action_space
    if isinstance(space, spaces.Discrete):
        return Trajectories.from_episodes(logged, num_actions=int(space.start + space.n))
    bounded = isinstance(space, spaces.Box) and space.is_bounded()
    return Trajectories.from_episodes(logged, action_range=(space.low, space.high) if bounded else None)  # type: ignore[attr-defined]


def _observed(shown: Any) -> np.ndarray:
    if isinstance(shown, Mapping):
        if "observation" not in shown:
            raise ValueError(f"env: expected an 'observation' in its dictionaries, got {', '.join(shown)}")
        shown = shown["observation"]
    return np.asarray(shown)
