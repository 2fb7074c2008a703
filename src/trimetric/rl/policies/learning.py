"""Train actors: by cloning, by a learned distance (AWR, DDPG+BC), and for near goals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import Siamese
from trimetric.rl.policies.actor import ActorPolicy, LocalPolicy, actor_for
from trimetric.rl.policies.actor_task import ActorTask, ActorTerms
from trimetric.rl.policies.dynamics import Dynamics
from trimetric.rl.trajectories.trajectories import Trajectories
from trimetric.training.config import TrainingConfig

ActorMethod = Literal["awr", "ddpg"]


def learn_actor(
    model: Siamese,
    trajectories: Trajectories,
    *,
    method: ActorMethod = "ddpg",
    dynamics: Dynamics | None = None,
    strength: float | None = None,
    random_goals: float = 0.5,
    reads: Literal["observations", "points"] = "observations",
    widths: Sequence[int] = (256, 256),
    waves: int = 0,
    steps: int = 5000,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    seed: int = 0,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> ActorPolicy:
    r"""Train an actor on a log to take actions that decrease a learned distance.

    "awr" clones logged actions, with more weight on those that came closer to the goal: $\exp(\beta A)$, at most 100,
    with $A = (d(s, g) - c - d(s', g)) / \bar c$ and $\beta$ = `strength`.

    "ddpg" trains the actor's own action to decrease the distance through learned dynamics $f$, while staying close to
    the logged action: it minimizes $d(f(s, \pi(s, g)), g) / |\bar d| + \alpha \|\pi(s, g) - a\|^2 / 2$ with
    $\alpha$ = `strength`; for continuous actions only.  It assumes that the dynamics are accurate for actions that were
    not logged.

    Args:
        model: a learned distance; it is not trained.
        trajectories: a log with actions.
        method: "awr" or "ddpg".
        dynamics: from `learn_dynamics`; only for "ddpg".
        strength: $\beta$ of "awr" (3 by default) or $\alpha$ of "ddpg" (0.003 by default).
        random_goals: the share of goals that are random states; the others were seen later in the episode.
        reads: what the actor reads: observations, which must be vectors, or the points of the model's encoder.
        widths: hidden layers.
        waves: frequencies per feature that the actor reads as well.
        steps: the number of steps.
        batch_size: logged steps per step.
        learning_rate: of Adam, decaying to 0 along a cosine.
        seed: of the weights and the random draws.
        checkpoint: a file to keep the state of the run in.
        progress: "silent" prints nothing.

    Returns:
        The actor.

    Examples:
        >>> import numpy as np
        >>> from trimetric.rl import goal_model
        >>> random = np.random.default_rng(0)
        >>> moves = random.choice([-1.0, 1.0], size=(100, 1))
        >>> seen = np.concatenate([np.zeros((1, 1)), moves.cumsum(axis=0)[:-1]])
        >>> log = Trajectories(observations=seen, ends=np.array([99]), actions=moves)
        >>> actor = learn_actor(goal_model(log), log, method="awr", steps=50, batch_size=16, progress="silent")
        >>> actor(torch.zeros(3, 1), torch.ones(3, 1)).shape
        torch.Size([3, 1])
    """
    checks.instance("model", model, Siamese)
    checks.one_of("method", method, ("awr", "ddpg"))
    if (method == "ddpg") != (dynamics is not None):
        raise ValueError("dynamics: expected those of learn_dynamics with method='ddpg', and None otherwise")
    strength = {"awr": 3.0, "ddpg": 0.003}[method] if strength is None else strength
    checks.finite_number("strength", strength, above=0)
    terms = ActorTerms(method, strength, checks.share("random_goals", random_goals))
    checks.one_of("reads", reads, ("observations", "points"))
    actor = actor_for(
        ActorPolicy,
        trajectories,
        encoder=model.encoder if reads == "points" else None,
        widths=widths,
        waves=waves,
        saturate=False,
        seed=seed,
    )
    if method == "ddpg" and actor.discrete:
        raise ValueError("method: expected 'awr' for actions that are numbers, got 'ddpg'")
    task = ActorTask(actor, trajectories, terms, model=model, dynamics=dynamics)
    config = TrainingConfig(batch_size=batch_size, learning_rate=learning_rate, seed=seed)
    return task.run(steps, config, checkpoint, progress)


def clone_behavior(
    trajectories: Trajectories,
    *,
    encoder: torch.nn.Module | None = None,
    random_goals: float = 0.0,
    widths: Sequence[int] = (256, 256),
    waves: int = 0,
    steps: int = 5000,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    seed: int = 0,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> ActorPolicy:
    """Clone the actions on the way to states seen later in the same episode (goal-conditioned behavior cloning).

    This baseline for actors uses no distances, and cannot join parts of different episodes.

    Args:
        trajectories: a log with actions.
        encoder: reads observations that are not vectors; it is not trained.
        random_goals: the share of goals that are random states, to which the action is unrelated.
        widths: hidden layers.
        waves: frequencies per feature that the actor reads as well.
        steps: the number of steps.
        batch_size: logged steps per step.
        learning_rate: of Adam, decaying to 0 along a cosine.
        seed: of the weights and the random draws.
        checkpoint: a file to keep the state of the run in.
        progress: "silent" prints nothing.

    Returns:
        The actor.

    Examples:
        >>> import numpy as np
        >>> log = Trajectories(observations=np.zeros((9, 2)), ends=np.array([8]), actions=np.ones((9, 1)))
        >>> actor = clone_behavior(log, steps=100, batch_size=8, progress="silent")
        >>> actor(torch.zeros(1, 2), torch.zeros(1, 2)).shape
        torch.Size([1, 1])
    """
    terms = ActorTerms("clone", random_goals=checks.share("random_goals", random_goals))
    checks.instance("trajectories", trajectories, Trajectories)
    actor = actor_for(ActorPolicy, trajectories, encoder=encoder, widths=widths, waves=waves, saturate=False, seed=seed)
    config = TrainingConfig(batch_size=batch_size, learning_rate=learning_rate, seed=seed)
    return ActorTask(actor, trajectories, terms).run(steps, config, checkpoint, progress)


def learn_local_policy(
    trajectories: Trajectories,
    *,
    horizon: int = 20,
    encoder: torch.nn.Module | None = None,
    saturate: bool = True,
    widths: Sequence[int] = (128, 128),
    steps: int = 3000,
    batch_size: int = 512,
    learning_rate: float = 2e-3,
    seed: int = 0,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> LocalPolicy:
    """Clone how to get to states seen at most `horizon` steps later: the part of a planner that chooses actions.

    Args:
        trajectories: a log with actions.
        horizon: the largest number of steps to a goal.
        encoder: reads observations that are not vectors; it is not trained.
        saturate: whether actions are scaled up to their limits, see `ActorPolicy`; has no effect if the log has
            no `action_range`.
        widths: hidden layers.
        steps: the number of steps.
        batch_size: logged steps per step.
        learning_rate: of Adam, decaying to 0 along a cosine.
        seed: of the weights and the random draws.
        checkpoint: a file to keep the state of the run in.
        progress: "silent" prints nothing.

    Returns:
        The policy.

    Examples:
        >>> import numpy as np
        >>> log = Trajectories(observations=np.zeros((9, 2)), ends=np.array([8]), actions=np.ones((9, 1)))
        >>> local = learn_local_policy(log, horizon=3, steps=100, batch_size=8, progress="silent")
        >>> local(torch.zeros(1, 2), torch.zeros(1, 2)).shape
        torch.Size([1, 1])
    """
    checks.instance("trajectories", trajectories, Trajectories)
    terms = ActorTerms("clone", horizon=checks.positive_int("horizon", horizon))
    actor = actor_for(LocalPolicy, trajectories, encoder=encoder, widths=widths, waves=0, saturate=saturate, seed=seed)
    config = TrainingConfig(batch_size=batch_size, learning_rate=learning_rate, seed=seed)
    found = ActorTask(actor, trajectories, terms).run(steps, config, checkpoint, progress)
    assert isinstance(found, LocalPolicy)
    return found
