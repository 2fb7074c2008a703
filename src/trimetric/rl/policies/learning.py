"""Train actors: by cloning, by a learned distance (AWR, DDPG+BC), and for near goals."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import Siamese
from trimetric.rl.policies.actor import ActorPolicy, LocalPolicy, actor_for, measure_features
from trimetric.rl.policies.dynamics import Dynamics
from trimetric.rl.policies.policy import frozen
from trimetric.rl.trajectories.sampling import LogReader, LogSampler, log_identity
from trimetric.rl.trajectories.trajectories import Trajectories
from trimetric.training.arguments import check_settings, checkpoint_file
from trimetric.training.config import TrainingConfig
from trimetric.training.drawn_tasks import Columns, DrawnTask, train_task

ActorMethod = Literal["awr", "ddpg"]
LARGEST_WEIGHT = 100.0
BEYOND_LIMITS = 0.01
MEASURED = 8192


@dataclass(frozen=True)
class ActorTerms:
    """What an actor learns by: how much each logged action counts, and how much a better one."""

    method: Literal["awr", "ddpg", "clone"]
    strength: float = 0.0
    random_goals: float = 0.0
    horizon: int | None = None


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
    r"""Train an actor on a log to go where a learned distance falls.

    "awr" clones logged actions, those that came closer to the goal with more weight: $\exp(\beta A)$, at most 100, with
    $A = (d(s, g) - c - d(s', g)) / \bar c$ and $\beta$ = `strength`.

    "ddpg" moves the actor's own action down the distance through learned dynamics $f$, held to the logged one:
    $d(f(s, \pi(s, g)), g) / |\bar d| + \alpha \|\pi(s, g) - a\|^2 / 2$ with $\alpha$ = `strength`; for continuous
    actions only.  It assumes that the dynamics hold for actions that were not logged.

    Args:
        model: a learned distance; it stays as it is.
        trajectories: a log with actions.
        method: "awr" or "ddpg".
        dynamics: from `learn_dynamics`, for "ddpg" and only there.
        strength: $\beta$ of "awr" (3 by default) or $\alpha$ of "ddpg" (0.003 by default).
        random_goals: the part of the goals that are random states; the others were seen later in the episode.
        reads: what the actor reads: observations, which must be vectors, or the points of the model's encoder.
        widths: hidden layers.
        waves: frequencies per feature that the actor reads as well.
        steps: the number of steps.
        batch_size: logged steps per step.
        learning_rate: of Adam, decaying to 0 along a cosine.
        seed: of weights and of what is drawn.
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
    terms = ActorTerms(method, strength, _share("random_goals", random_goals))
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
    """Clone what was done on the way to what was seen later in the same episode (goal-conditioned behavior cloning).

    It knows nothing of distances, and cannot join parts of different episodes: the baseline for actors.

    Args:
        trajectories: a log with actions.
        encoder: what reads observations that are no vectors; it stays as it is.
        random_goals: the part of the goals that are random states, for which the action says nothing.
        widths: hidden layers.
        waves: frequencies per feature that the actor reads as well.
        steps: the number of steps.
        batch_size: logged steps per step.
        learning_rate: of Adam, decaying to 0 along a cosine.
        seed: of weights and of what is drawn.
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
    terms = ActorTerms("clone", random_goals=_share("random_goals", random_goals))
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
    """Clone how to get to what was seen at most `horizon` steps later: the part of a planner that moves.

    Args:
        trajectories: a log with actions.
        horizon: the largest number of steps to a goal.
        encoder: what reads observations that are no vectors; it stays as it is.
        saturate: whether actions are scaled up to their limits, see `ActorPolicy`; without an effect where the log has
            no `action_range`.
        widths: hidden layers.
        steps: the number of steps.
        batch_size: logged steps per step.
        learning_rate: of Adam, decaying to 0 along a cosine.
        seed: of weights and of what is drawn.
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


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}: expected a share from 0 to 1, got {value!r}")
    return float(value)


class ActorTask(DrawnTask):
    """An actor, a log and what it learns by, as a task for the training loop."""

    def __init__(
        self,
        actor: ActorPolicy,
        log: Trajectories,
        terms: ActorTerms,
        *,
        model: Siamese | None = None,
        dynamics: Dynamics | None = None,
    ) -> None:
        super().__init__()
        like = torch.zeros(()) if model is None else next(model.parameters())
        if model is None and actor.encoder is not None:
            like = next(actor.encoder.parameters())
        self.actor = actor.to(like.device)
        self.terms, self.reader = terms, LogReader(log, like)
        # In a tuple, since they are no part of what is trained.
        self._fixed = (None if model is None else frozen(model), None if dynamics is None else frozen(dynamics))

    def run(self, steps: int, config: TrainingConfig, checkpoint: Path | str | None, progress: Shown) -> ActorPolicy:
        """Train to the end, and return the actor."""
        check_settings(None, progress)
        sampler = LogSampler(self.reader.log, torch.Generator().manual_seed(config.seed))
        here = sampler.steps((MEASURED,))
        measure_features(self.actor, self.reader, here, self._goals(sampler, here))
        steps = checks.positive_int("steps", steps)
        train_task(self, steps=steps, config=config, file=checkpoint_file(checkpoint), progress=progress)
        return self.actor

    def _goals(self, sampler: LogSampler, here: Tensor) -> Tensor:
        if self.terms.horizon is not None:
            return sampler.later(here, limit=self.terms.horizon)
        return sampler.mixed(here, self.terms.random_goals)

    def draw(self, shape: tuple[int, int], generator: torch.Generator) -> Columns:
        sampler = LogSampler(self.reader.log, generator)
        here = sampler.steps(shape)
        return {"here": here, "goal": self._goals(sampler, here)}

    def loss(self, batch: Columns, progress: float) -> Tensor:  # noqa: ARG002
        rows, count = batch["here"], len(batch["here"])
        columns = [rows, batch["goal"]] + ([rows + 1] if self.terms.method == "awr" else [])
        seen = self.reader.observations(torch.cat(columns))
        features = self.actor.read(seen[: 2 * count])
        answer = self.actor.answer(features[:count], features[count:])
        done = self.reader.actions(rows)
        if self.terms.method == "ddpg":
            return self._down_the_distance(answer, done, seen, count)
        error = self._error(answer, done)
        return error.mean() if self.terms.method == "clone" else (self._weights(seen, rows) * error).mean()

    def _error(self, answer: Tensor, done: Tensor) -> Tensor:
        if self.actor.discrete:
            return F.cross_entropy(answer, done, reduction="none")
        return (answer - done).square().sum(dim=-1) / 2

    @torch.no_grad()
    def _weights(self, seen: Tensor, rows: Tensor) -> Tensor:
        model, _ = self._fixed
        assert isinstance(model, Siamese)
        points, places = model.embed(seen), torch.arange(len(rows), device=seen.device)
        start = torch.cat([places, places + 2 * len(rows)])
        before, after = model.head.between_rows(points, start, (places + len(rows)).repeat(2)).chunk(2)
        costs = self.reader.costs(rows)
        gain = (before - costs - after) / self.reader.log.mean_cost
        return (self.terms.strength * gain).exp().clamp(max=LARGEST_WEIGHT)

    def _down_the_distance(self, answer: Tensor, done: Tensor, seen: Tensor, count: int) -> Tensor:
        model, dynamics = self._fixed
        assert isinstance(model, Siamese)
        assert isinstance(dynamics, Dynamics)
        chosen = self.actor.limited(answer)
        with torch.no_grad():
            goals = model.embed(seen[count : 2 * count])
        if dynamics.space == "state":
            following = model.embed(dynamics(seen[:count], chosen))
        else:
            with torch.no_grad():
                here = model.embed(seen[:count])
            following = dynamics(here, chosen)
        far = model.head(following, goals)
        beyond = (answer - chosen.detach()).square().sum(dim=-1).mean()  # else no gradient leads back into the limits
        held = self._error(answer, done).mean()
        return far.mean() / far.detach().abs().mean() + self.terms.strength * held + BEYOND_LIMITS * beyond

    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.terms!r} {log_identity(self.reader.log)}".encode())
        for module in self._fixed:
            for name, value in ({} if module is None else module.state_dict()).items():
                digest.update(f"{name} {tuple(value.shape)}".encode())
                digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()
