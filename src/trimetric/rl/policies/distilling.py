"""Turn a planner into an actor: one network that has learned to imitate the planner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.rl.policies.actor import ActorPolicy, actor_for, measure_features
from trimetric.rl.policies.planner import Planner
from trimetric.rl.policies.policy import frozen, weights_digest
from trimetric.rl.trajectories.sampling import LogReader, LogSampler, log_identity
from trimetric.rl.trajectories.trajectories import Trajectories
from trimetric.training.arguments import check_settings, checkpoint_file
from trimetric.training.config import TrainingConfig
from trimetric.training.drawn_tasks import Columns, DrawnTask, train_task

PolicyFunction = Callable[[Tensor, Tensor], Tensor]
NEAR_STEPS = 20
PROBED = 64


def distil_policy(
    teacher: PolicyFunction,
    trajectories: Trajectories,
    *,
    encoder: nn.Module | None = None,
    states: int = 8192,
    goals: int = 1024,
    near: float = 0.2,
    widths: Sequence[int] = (256, 256),
    waves: int = 3,
    steps: int = 5000,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    seed: int = 0,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> ActorPolicy:
    """Train an actor to imitate a planner, from logged states to logged goals.

    The actor is as fast as a network, needs no log, and has no state.  It learns the teacher's actions on states
    of the log; in states far from these, it may be wrong.

    Args:
        teacher: a `WaypointPolicy`, a `GraphPolicy`, or any function from observations and goals to actions.
        trajectories: the log; its actions are used only for their format and range.
        encoder: reads observations that are not vectors; it is not trained.
        states: number of logged states on which the teacher is asked.
        goals: number of logged states that are goals.
        near: the share of examples whose goal was seen at most 20 steps later, so that the actor learns to arrive.
        widths: hidden layers.
        waves: frequencies per feature that the actor reads as well; without them it blurs the teacher's actions on
            both sides of a wall.
        steps: the number of steps.
        batch_size: examples per step.
        learning_rate: of Adam, decaying to 0 along a cosine.
        seed: of the weights and the random draws.
        checkpoint: a file to keep the state of the run in.
        progress: "silent" prints nothing.

    Returns:
        The actor.

    Examples:
        >>> import numpy as np
        >>> log = Trajectories(observations=np.zeros((9, 2)), ends=np.array([8]), actions=np.ones((9, 2)))
        >>> actor = distil_policy(lambda here, goal: goal - here, log, steps=50, batch_size=8, progress="silent")
        >>> actor(torch.zeros(1, 2), torch.zeros(1, 2)).shape
        torch.Size([1, 2])
    """
    if not callable(teacher):
        raise TypeError(f"teacher: expected a function of observations and goals, got {type(teacher).__name__}")
    checks.instance("trajectories", trajectories, Trajectories)
    check_settings(None, progress)
    if not 0 <= near < 1:
        raise ValueError(f"near: expected a share from 0 to below 1, got {near!r}")
    actor = actor_for(ActorPolicy, trajectories, encoder=encoder, widths=widths, waves=waves, saturate=False, seed=seed)
    task = _DistillingTask(teacher, actor, trajectories, near)
    task.prepare(checks.positive_int("states", states), checks.positive_int("goals", goals), checks.seed("seed", seed))
    config = TrainingConfig(batch_size=batch_size, learning_rate=learning_rate, seed=seed)
    steps = checks.positive_int("steps", steps)
    train_task(task, steps=steps, config=config, file=checkpoint_file(checkpoint), progress=progress)
    return actor


class _DistillingTask(DrawnTask):
    def __init__(self, teacher: PolicyFunction, actor: ActorPolicy, log: Trajectories, near: float) -> None:
        super().__init__()
        # In a tuple, since the teacher is no part of what is trained.
        self._teacher = (frozen(teacher) if isinstance(teacher, nn.Module) else teacher,)
        like = torch.zeros(())
        for module in (actor.encoder, teacher):
            if isinstance(module, nn.Module):
                like = next((p for p in (*module.parameters(), *module.buffers()) if p.is_floating_point()), like)
        self.actor, self.near = actor.to(like.device), near
        self.reader = LogReader(log, like)

    def prepare(self, states: int, goals: int, seed: int) -> None:
        """Draw the states and goals to ask for, and let a planner measure all ways from and to its waypoints."""
        sampler = LogSampler(self.reader.log, torch.Generator().manual_seed(seed))
        self._states, self._goals = sampler.steps((states,)), sampler.states((goals,))
        (teacher,) = self._teacher
        seen, wanted = (self.reader.observations(rows) for rows in (self._states, self._goals))
        self._ways = teacher.ways(seen, wanted) if isinstance(teacher, Planner) else None
        pairs = torch.randint(goals, (states,), generator=sampler.generator)
        measure_features(self.actor, self.reader, self._states, self._goals[pairs])

    def draw(self, shape: tuple[int, int], generator: torch.Generator) -> Columns:
        batches, size = shape
        close = int(self.near * size)
        sampler = LogSampler(self.reader.log, generator)
        here = torch.randint(len(self._states), (batches, size - close), generator=generator)
        there = torch.randint(len(self._goals), (batches, size - close), generator=generator)
        start = sampler.steps((batches, close))
        return {"state": here, "goal": there, "start": start, "end": sampler.later(start, limit=NEAR_STEPS)}

    def loss(self, batch: Columns, progress: float) -> Tensor:  # noqa: ARG002
        here = self.reader.observations(torch.cat([self._states[batch["state"]], batch["start"]]))
        goal = self.reader.observations(torch.cat([self._goals[batch["goal"]], batch["end"]]))
        done = self._asked(here, goal, batch)
        answer = self.actor.answer(self.actor.read(here), self.actor.read(goal))
        if self.actor.discrete:
            return F.cross_entropy(answer, done)
        return (answer - done).square().sum(dim=-1).mean() / 2

    @torch.no_grad()
    def _asked(self, here: Tensor, goal: Tensor, batch: Columns) -> Tensor:
        (teacher,) = self._teacher
        if self._ways is None or not isinstance(teacher, Planner):
            return self._checked(teacher(here, goal), len(here))
        count = len(batch["state"])
        towards = self._ways.next_states(batch["state"], batch["goal"], goal[:count])
        return self._checked(teacher.local(here, torch.cat([towards, goal[count:]])), len(here))

    def _checked(self, answer: object, count: int) -> Tensor:
        """Refuse answers that would be broadcast to actions of another size."""
        log = self.reader.log
        assert log.actions is not None
        shape = (count, *log.actions.shape[1:])
        if not isinstance(answer, Tensor) or answer.shape != shape:
            expected = f"actions of shape (b, {shape[1]})" if shape[1:] else "numbers of actions, shape (b,)"
            got = f"shape {tuple(answer.shape)}" if isinstance(answer, Tensor) else type(answer).__name__
            raise ValueError(f"teacher: expected {expected}, got {got}")
        return answer

    def fingerprint(self) -> str:
        asked = [self._states[:PROBED], self._goals[:PROBED]]
        count = min(len(own) for own in asked)
        (teacher,) = self._teacher
        answers = self._checked(teacher(*(self.reader.observations(rows[:count]) for rows in asked)), count)
        known = f"distil {self.near} {log_identity(self.reader.log)} {answers.tolist()}"
        encoder = "" if self.actor.encoder is None else weights_digest(self.actor.encoder)
        return f"{known} {len(self._states)} {len(self._goals)} {encoder}"
