"""Let a policy act in a world, from the starts of its tasks, until the goals are reached."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import overload

import numpy as np
import torch
from torch import Tensor

from trimetric._support import checks
from trimetric._support.moved import warn
from trimetric.rl.evaluation.result import Evaluation
from trimetric.rl.planning import GoalValue, Score, evaluate_values
from trimetric.rl.worlds.tasks import TaskWorld
from trimetric.rl.worlds.world import World

PolicyFunction = Callable[[Tensor, Tensor], Tensor]


@overload
def evaluate(
    world: TaskWorld,
    policy: PolicyFunction,
    *,
    tasks: Sequence[int] | None = None,
    episodes: int = 50,
    seed: int = 0,
    record: bool = False,
    max_steps: int | None = None,
) -> Evaluation: ...


@overload
def evaluate(
    world: World,
    policy: Tensor,
    pairs: Tensor,
    *,
    goal_value: GoalValue | None = None,
    max_steps: int | None = None,
) -> Score: ...


def evaluate(
    world: TaskWorld | World,
    policy: PolicyFunction | Tensor,
    pairs: Tensor | None = None,
    *,
    tasks: Sequence[int] | None = None,
    episodes: int = 50,
    seed: int = 0,
    record: bool = False,
    goal_value: GoalValue | None = None,
    max_steps: int | None = None,
) -> Evaluation | Score:
    """Let a policy act in a world until its goals are reached: success, SPL and time, per task.

    All episodes of all tasks run at once, as far as the world supports this.  Two policies that are evaluated with the
    same seed get the same starts and goals.

    Args:
        world: a world with tasks, such as `PointMaze`, `DirectedPoint` or `GymnasiumTasks`.
        policy: a function of observations (b, ...) and goals, tensors, to actions (b, A) or numbers of actions (b,).
        pairs: None.  (Calls as in version 0.2, with a grid world, values and pairs, still work for one release; use
            `evaluate_values` instead.)
        tasks: numbers of the tasks, from 0; all by default.
        episodes: how many for each task.
        seed: of starts, goals, and the randomness of the world.
        record: whether to keep the paths, for `classify_failures` and pictures.
        goal_value: None; see `pairs`.
        max_steps: steps after which an episode has failed (default: those of the world).

    Returns:
        The results; `comparison_table` prints several of them.

    Examples:
        >>> from trimetric.rl import DirectedPoint
        >>> straight = lambda observations, goals: goals - observations
        >>> found = evaluate(DirectedPoint(), straight, episodes=3, max_steps=50)
        >>> found.reached.shape, found.success
        ((10, 3), 0.0)
    """
    if isinstance(world, World):
        new_ones = tasks is not None or record or (episodes, seed) != (50, 0)
        if not isinstance(policy, Tensor) or pairs is None or new_ones:
            raise TypeError("world: expected a world with tasks; for the values of a grid world see evaluate_values")
        warn("trimetric.rl.evaluate with a grid world", "trimetric.rl.evaluate_values")
        options = {} if max_steps is None else {"max_steps": max_steps}
        return evaluate_values(world, policy, pairs, goal_value=goal_value or "zero", **options)
    if not all(hasattr(world, name) for name in ("tasks", "reset", "step", "max_steps")):
        raise TypeError(f"world: expected a world with tasks, such as DirectedPoint(), got {type(world).__name__}")
    for name, value in (("pairs", pairs), ("goal_value", goal_value)):
        if value is not None:
            raise ValueError(f"{name}: expected None with {type(world).__name__}, got {type(value).__name__}")
    if not callable(policy):
        raise TypeError(f"policy: expected a function of observations and goals, got {type(policy).__name__}")
    names = tuple(task.name for task in world.tasks)
    chosen = _chosen_tasks(tasks, len(names))
    episodes = checks.positive_int("episodes", episodes)
    limit = world.max_steps if max_steps is None else checks.positive_int("max_steps", max_steps)
    if limit > world.max_steps:
        raise ValueError(f"max_steps: expected at most {world.max_steps}, the limit of the world, got {limit}")
    generator = np.random.default_rng(checks.seed("seed", seed))
    numbers = np.repeat(chosen, episodes)
    size = len(numbers) if world.most_instances is None else world.most_instances
    parts = [
        _play(world, policy, numbers[first : first + size], generator, limit, record)
        for first in range(0, len(numbers), size)
    ]
    shape = (len(chosen), episodes)
    reached, steps, goals = (
        np.concatenate(own) for own in zip(*((part.reached, part.steps, part.goals) for part in parts), strict=True)
    )
    optimal = [part.optimal for part in parts if part.optimal is not None]
    paths = [path for part in parts for path in part.paths]
    asked = sum(part.asked for part in parts)
    return Evaluation(
        tasks=tuple(names[task] for task in chosen),
        reached=reached.reshape(shape),
        steps=steps.reshape(shape),
        optimal=np.concatenate(optimal).reshape(shape) if optimal else None,
        seconds_per_action=sum(part.seconds for part in parts) / max(asked, 1),
        goals=goals.reshape(*shape, *goals.shape[1:]),
        paths=_padded(paths).reshape(*shape, -1, *paths[0].shape[1:]) if record else None,
    )


@dataclass(frozen=True)
class Played:
    """Episodes that were played at once."""

    reached: np.ndarray
    steps: np.ndarray
    goals: np.ndarray
    optimal: np.ndarray | None
    paths: list[np.ndarray]
    seconds: float
    """time of the policy"""
    asked: int
    """number of actions that the policy chose"""


def _play(
    world: TaskWorld,
    policy: PolicyFunction,
    numbers: np.ndarray,
    generator: np.random.Generator,
    limit: int,
    record: bool,
) -> Played:
    """Play one episode of each given task, all at once; those that have ended are no longer asked for actions."""
    seen, goals = world.reset(numbers, generator)
    optimal = world.optimal_costs()
    wanted = torch.from_numpy(np.ascontiguousarray(goals))
    active = np.arange(len(numbers))
    reached, steps = np.zeros(len(numbers), dtype=bool), np.full(len(numbers), limit)
    actions: np.ndarray | None = None
    seconds, asked = 0.0, 0
    kept = [seen]
    for step in range(1, limit + 1):
        started = time.perf_counter()
        answer = policy(torch.from_numpy(np.ascontiguousarray(seen[active])), wanted[active])
        chosen = _checked(answer, len(active), world)
        seconds, asked = seconds + time.perf_counter() - started, asked + len(active)
        if actions is None:
            actions = np.zeros((len(numbers), *chosen.shape[1:]), dtype=chosen.dtype)
        actions[active] = chosen
        seen, arrived = world.step(actions)
        if record:
            kept.append(seen)
        now = active[arrived[active]]
        reached[now], steps[now] = True, step
        active = active[~arrived[active]]
        if not len(active):
            break
        if getattr(world, "is_over", False):
            steps[active] = step
            break
    whole = np.stack(kept, axis=1) if record else seen[:, None]
    paths = [path[: taken + 1] for path, taken in zip(whole, steps, strict=True)] if record else []
    return Played(reached, steps, goals, optimal, paths, seconds, asked)


def _chosen_tasks(tasks: object, count: int) -> list[int]:
    if tasks is None:
        return list(range(count))
    if isinstance(tasks, (str, bytes)) or not isinstance(tasks, Iterable):
        raise TypeError(f"tasks: expected a sequence of numbers of tasks, got {tasks!r}")
    chosen = list(tasks)
    whole = (isinstance(task, Integral) and not isinstance(task, bool) for task in chosen)
    if not chosen or not all(whole) or not all(0 <= task < count for task in chosen):
        raise ValueError(f"tasks: expected numbers from 0 to {count - 1}, got {tasks!r}")
    return [int(task) for task in chosen]


def _checked(answer: object, count: int, world: TaskWorld) -> np.ndarray:
    if not isinstance(answer, Tensor) or answer.ndim not in (1, 2) or len(answer) != count:
        got = f"shape {tuple(answer.shape)}" if isinstance(answer, Tensor) else type(answer).__name__
        raise ValueError(f"policy: expected a tensor of {count} actions, (b, A) or (b,), got {got}")
    actions = answer.detach().cpu().numpy()
    if not np.isfinite(actions).all():
        raise ValueError(f"policy: expected finite actions, got {actions[~np.isfinite(actions)][0]}")
    shape, most = getattr(world, "action_shape", None), getattr(world, "num_actions", None)
    if shape is not None and len(shape) < 2 and actions.shape[1:] != shape:
        expected = "numbers of actions, shape (b,)" if shape == () else f"actions of shape (b, {shape[0]})"
        raise ValueError(f"policy: expected {expected}, got shape {actions.shape}")
    if most is not None and actions.ndim == 1:
        wrong = (actions < 0) | (actions >= most) | (actions != np.floor(actions))
        if wrong.any():
            raise ValueError(f"policy: expected numbers of actions from 0 to {most - 1}, got {actions[wrong][0]}")
    return actions


def _padded(paths: list[np.ndarray]) -> np.ndarray:
    """Make paths equally long by repeating their ends."""
    longest = max(map(len, paths))
    return np.stack([np.concatenate([path, path[-1:].repeat(longest - len(path), axis=0)]) for path in paths])
