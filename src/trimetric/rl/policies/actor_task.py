"""An actor that learns from a log, as a task for the training loop."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import Siamese
from trimetric.rl.policies.actor import ActorPolicy, measure_features
from trimetric.rl.policies.dynamics import Dynamics
from trimetric.rl.policies.policy import frozen, weights_digest
from trimetric.rl.trajectories.sampling import LogReader, LogSampler, log_identity
from trimetric.rl.trajectories.trajectories import Trajectories
from trimetric.training.arguments import check_settings, checkpoint_file
from trimetric.training.config import TrainingConfig
from trimetric.training.drawn_tasks import Columns, DrawnTask, train_task

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
        if self.terms.method == "clone" and self.actor.encoder is not None:  # otherwise it belongs to the model
            digest.update(weights_digest(self.actor.encoder).encode())
        return digest.hexdigest()
