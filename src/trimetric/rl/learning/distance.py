"""Learn from logged episodes how far goals are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import Calibrated, Siamese
from trimetric.rl.objectives.constrained import Constrained
from trimetric.rl.objectives.objective import Batch, Extras, Objective
from trimetric.rl.trajectories.sampling import LogReader, LogSampler, log_identity
from trimetric.rl.trajectories.trajectories import Trajectories
from trimetric.training.arguments import check_model, check_settings, checkpoint_file
from trimetric.training.config import Epoch, History, TrainingConfig
from trimetric.training.drawn_tasks import Columns, DrawnTask, checked_settings, settings_text, train_task

MEASURED = 2048
"""steps and pairs by which a model is calibrated and measured"""


@dataclass(frozen=True, eq=False)
class LearnedDistance:
    """What `learn_distance` returns.

    Attributes:
        model: the trained model.
        objective: the objective by which it was trained.
        extras: everything else that the objective trained, such as an encoder of actions.
        history: the record of each epoch.

    Examples:
        >>> import numpy as np
        >>> from trimetric.rl import goal_model
        >>> log = Trajectories(observations=np.arange(5.0)[:, None], ends=np.array([4]))
        >>> learned = learn_distance(goal_model(log, dim=8), log, steps=50, batch_size=16, progress="silent")
        >>> sorted(learned.history.epochs[-1].watched)
        ['far', 'multiplier', 'one_step']
    """

    model: Siamese
    objective: Objective
    extras: Extras
    history: History


def learn_distance(
    model: Siamese,
    trajectories: Trajectories,
    *,
    objective: Objective | None = None,
    steps: int = 10_000,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    seed: int = 0,
    held_out: Trajectories | None = None,
    config: TrainingConfig | None = None,
    callbacks: Iterable[Callable[[Epoch], object]] = (),
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> LearnedDistance:
    """Train a model on logged episodes, so that d(s, g) is the cost of getting from s to g.

    Every step draws new rows of the log.  An interrupted run resumes from its checkpoint when called again with the
    same arguments, and ends with the same weights, bit for bit, as an uninterrupted one.

    Args:
        model: a `Siamese` whose encoder reads observations, such as a `goal_model`; trained in place.
        trajectories: the log.
        objective: how to learn; `Constrained()` by default.
        steps: the number of steps, rounded up to a multiple of 50.
        batch_size: logged steps per step.
        learning_rate: of Adam, decaying to 0 along a cosine.
        seed: of the random draws.
        held_out: a log that is not trained on; the mean distance of its steps is recorded.
        config: more settings of the training loop, such as `average`, `clip_norm` and `checkpoint_seconds`; the
            arguments above take precedence.
        callbacks: functions that are called with each finished `Epoch`.
        checkpoint: a file to keep the state of the run in.
        progress: "silent" prints nothing.

    Returns:
        The model, everything else that the objective trained, and the record of each epoch.  `Epoch.watched` has the
        mean distance of a logged step in units of its cost ("one_step"; "one_step_held_out"), the mean distance of
        random pairs ("far"), and the numbers that the objective records, such as "multiplier".

    Raises:
        RuntimeError: if the training diverges.

    Examples:
        >>> import numpy as np
        >>> from trimetric.rl import goal_model
        >>> log = Trajectories(observations=np.arange(5.0)[:, None], ends=np.array([4]))
        >>> model = goal_model(log, dim=8)
        >>> learned = learn_distance(model, log, steps=100, batch_size=16, progress="silent")
        >>> len(learned.history.epochs), learned.model is model
        (2, True)
    """
    check_model("model", model)
    checks.instance("model", model, Siamese, hint="goal_model(trajectories) builds one")
    checks.instance("trajectories", trajectories, Trajectories, hint="Trajectories.from_transitions(log) makes one")
    check_settings(config, progress)
    objective = Constrained() if objective is None else objective
    checks.instance("objective", objective, Objective, hint="such as Constrained()")
    if held_out is not None:
        checks.instance("held_out", held_out, Trajectories, hint="trajectories.split(fraction, seed) makes one")
    if objective.needs_actions and trajectories.actions is None:
        raise ValueError(f"trajectories: expected actions, which {type(objective).__name__} reads, got none")
    if checks.positive_int("batch_size", batch_size) < objective.least_batch:
        raise ValueError(
            f"batch_size: expected at least {objective.least_batch} with {type(objective).__name__}, which compares "
            f"the rows of a batch, got {batch_size}"
        )
    checks.positive_int("steps", steps)
    calls, file = checks.functions("callbacks", callbacks), checkpoint_file(checkpoint)
    checked_settings("objective", objective, file)
    settings = settings_of(config, batch_size=batch_size, learning_rate=learning_rate, seed=seed)
    task = DistanceTask(model, trajectories, objective, held_out, seed=seed)
    task.check_readable()
    if settings.calibrate and not (file is not None and file.exists()):
        task.calibrate()
    task.add_extras()
    history = train_task(
        task,
        steps=steps,
        config=settings,
        file=file,
        progress=progress,
        after_epoch=lambda epoch: [call(epoch) for call in calls],
    )
    return LearnedDistance(model, objective, task.extras, history)


def settings_of(config: TrainingConfig | None, *, batch_size: int, learning_rate: float, seed: int) -> TrainingConfig:
    """Make the settings of the loop; those that a task does not use are refused."""
    config = config or TrainingConfig()
    plain = TrainingConfig()
    for name in ("loss", "compile", "precision", "patience", "huber_delta", "gamma", "epochs"):
        if getattr(config, name) != getattr(plain, name):
            raise ValueError(f"config: expected {name}={getattr(plain, name)!r}, as it has no effect here")
    return replace(config, batch_size=batch_size, learning_rate=learning_rate, seed=seed)


class DistanceTask(DrawnTask):
    """A model, a log and an objective, as a task for the training loop."""

    def __init__(
        self,
        model: Siamese,
        log: Trajectories,
        objective: Objective,
        held_out: Trajectories | None,
        *,
        seed: int,
    ) -> None:
        super().__init__()
        self.model, self.trajectories, self.objective, self.seed = model, log, objective, seed
        like = next(p for p in model.parameters() if p.is_floating_point())
        self.log, self.unit = LogReader(log, like), log.mean_cost
        self.held_out = None if held_out is None else LogReader(held_out, like)
        self.extras = Extras()

    def add_extras(self) -> None:
        """Make what is trained beside the model, which is calibrated by now."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            extras = self.objective.extras(self.model, self.trajectories)
            self.extras = extras.to(self.log.device, self.log.dtype)

    def draw(self, shape: tuple[int, int], generator: torch.Generator) -> Columns:
        return self.objective.draw(LogSampler(self.trajectories, generator), shape)

    def loss(self, batch: Columns, progress: float) -> Tensor:  # noqa: ARG002
        return self.objective.loss(Batch(self.model, self.log, batch, self.unit), self.extras)

    def fingerprint(self) -> str:
        known = f"{settings_text(self.objective) or repr(self.objective)} {log_identity(self.trajectories)}"
        return known if self.held_out is None else f"{known} {log_identity(self.held_out.log)}"

    @torch.no_grad()
    def check_readable(self) -> None:
        """Refuse a model that cannot read the observations, before anything is trained."""
        self.model.eval()
        found = self.model(self.log.observations(torch.tensor([0])), self.log.observations(torch.tensor([1])))
        if not bool(torch.isfinite(found).all()):
            raise ValueError("model: expected distances, got NaN or infinity for the first step of the log")

    @torch.no_grad()
    def calibrate(self) -> None:
        """Set the output scale so that the mean distance of a step is its mean cost."""
        scaled = [module for module in self.model.modules() if isinstance(module, Calibrated)]
        if len(scaled) != 1:
            return
        self.model.eval()
        found, costs = self._steps(self.log)
        scaled[0].calibrate(found, costs)

    @torch.no_grad()
    def numbers(self) -> dict[str, float]:
        step, costs = self._steps(self.log)
        sampler = self._sampler(self.trajectories)
        one, other = (self.log.observations(sampler.states((MEASURED,))) for _ in range(2))
        found = {"one_step": float((step / costs).mean()), "far": float(self.model(one, other).mean())}
        if self.held_out is not None:
            step, costs = self._steps(self.held_out)
            found["one_step_held_out"] = float((step / costs).mean())
        return found | self.extras.numbers()

    def _steps(self, log: LogReader) -> tuple[Tensor, Tensor]:
        rows = self._sampler(log.log).steps((MEASURED,))
        return self.model(log.observations(rows), log.observations(rows + 1)), log.costs(rows)

    def _sampler(self, log: Trajectories) -> LogSampler:
        return LogSampler(log, torch.Generator().manual_seed(self.seed))
