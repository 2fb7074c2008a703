"""What an action leads to, learned from a log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric._support import checks
from trimetric._support.described import Described
from trimetric._support.progress import Shown
from trimetric.distances import Siamese
from trimetric.models.encoders import MLP
from trimetric.rl.policies.policy import frozen, weights_digest
from trimetric.rl.trajectories.sampling import LogReader, LogSampler, log_identity
from trimetric.rl.trajectories.trajectories import Trajectories
from trimetric.training.arguments import check_settings, checkpoint_file
from trimetric.training.config import TrainingConfig
from trimetric.training.drawn_tasks import Columns, DrawnTask, train_task

Space = Literal["state", "latent"]
MEASURED = 8192


class Dynamics(Described):
    """The change that an action makes: of an observation ("state"), or of its point under an encoder ("latent").

    Args:
        features: of an observation, or of a point.
        actions: the size of an action, or the number of actions.
        discrete: whether actions are numbers.
        widths: hidden layers.
        space: "state" or "latent".

    Examples:
        >>> dynamics = Dynamics(features=3, actions=2)
        >>> dynamics(torch.zeros(5, 3), torch.zeros(5, 2)).shape
        torch.Size([5, 3])
    """

    scale: Tensor

    def __init__(
        self,
        *,
        features: int,
        actions: int,
        discrete: bool = False,
        widths: Sequence[int] = (128, 128),
        space: Space = "state",
    ) -> None:
        super().__init__()
        checks.one_of("space", space, ("state", "latent"))
        self.discrete, self.space, self.num_actions = checks.boolean("discrete", discrete), space, actions
        self.network = MLP(features + actions, features, widths=tuple(widths), activation="gelu", layer_norm=True)
        self.register_buffer("scale", torch.ones(features))

    def forward(self, here: Tensor, actions: Tensor) -> Tensor:
        """Predict what follows.

        Args:
            here: observations or points (..., features).
            actions: vectors (..., A), or numbers (...).

        Returns:
            The next observations or points.
        """
        done = F.one_hot(actions, self.num_actions).to(here.dtype) if self.discrete else actions
        return here + self.scale * self.network(torch.cat([here, done], dim=-1))


def learn_dynamics(
    trajectories: Trajectories,
    *,
    model: Siamese | None = None,
    steps: int = 2000,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    widths: Sequence[int] = (128, 128),
    seed: int = 0,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> Dynamics:
    r"""Learn what actions lead to, by the mean squared error of the change.

    The world should be deterministic; otherwise the mean of the next states is learned.

    Args:
        trajectories: a log with actions.
        model: a learned distance, to predict the points of its encoder ("latent"); None to predict observations, which
            must then be vectors.
        steps: the number of steps.
        batch_size: logged steps per step.
        learning_rate: of Adam.
        widths: hidden layers.
        seed: of the weights and the random draws.
        checkpoint: a file to keep the state of the run in.
        progress: "silent" prints nothing.

    Returns:
        The dynamics.

    Examples:
        >>> import numpy as np
        >>> log = Trajectories(
        ...     observations=np.arange(50.0)[:, None], ends=np.array([49]), actions=np.ones((50, 1), dtype=np.float32)
        ... )
        >>> dynamics = learn_dynamics(log, steps=100, batch_size=16, progress="silent")
        >>> dynamics(torch.tensor([[7.0]]), torch.tensor([[1.0]])).shape
        torch.Size([1, 1])
    """
    checks.instance("trajectories", trajectories, Trajectories)
    check_settings(None, progress)
    if trajectories.actions is None:
        raise ValueError("trajectories: expected a log with actions, got one without")
    if model is None and trajectories.observations.ndim != 2:
        shape = trajectories.observations.shape
        raise ValueError(f"trajectories: expected observations that are vectors, got shape {shape}; give a model")
    encoder = None if model is None else frozen(model.encoder)
    like = torch.zeros(()) if encoder is None else next(encoder.parameters())
    reader = LogReader(trajectories, like)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(checks.seed("seed", seed))
        first = reader.observations(torch.tensor([0]))
        dynamics = Dynamics(
            features=int((first if encoder is None else encoder(first)).shape[-1]),
            actions=int(trajectories.num_actions or trajectories.actions.shape[-1]),
            discrete=trajectories.actions.ndim == 1,
            widths=tuple(widths),
            space="state" if encoder is None else "latent",
        ).to(like.device)
    task = _DynamicsTask(dynamics, reader, encoder)
    task.measure(seed)
    config = TrainingConfig(batch_size=batch_size, learning_rate=learning_rate, seed=seed)
    train_task(task, steps=steps, config=config, file=checkpoint_file(checkpoint), progress=progress)
    return dynamics


class _DynamicsTask(DrawnTask):
    def __init__(self, dynamics: Dynamics, reader: LogReader, encoder: nn.Module | None) -> None:
        super().__init__()
        self.dynamics, self.reader = dynamics, reader
        self._fixed = (encoder,)

    def draw(self, shape: tuple[int, int], generator: torch.Generator) -> Columns:
        return {"here": LogSampler(self.reader.log, generator).steps(shape)}

    def loss(self, batch: Columns, progress: float) -> Tensor:  # noqa: ARG002
        here, following = self._ends(batch["here"])
        error = self.dynamics(here, self.reader.actions(batch["here"])) - following
        return (error / self.dynamics.scale).square().mean()

    @torch.no_grad()
    def _ends(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        (encoder,) = self._fixed
        both = self.reader.observations(torch.cat([rows, rows + 1]))
        both = both if encoder is None else encoder(both)
        return both[: len(rows)], both[len(rows) :]

    @torch.no_grad()
    def measure(self, seed: int) -> None:
        """Standardize what the network reads, and scale what it gives to the usual change."""
        rows = LogSampler(self.reader.log, torch.Generator().manual_seed(seed)).steps((MEASURED,))
        here, following = self._ends(rows)
        actions = self.reader.actions(rows)
        done = F.one_hot(actions, self.dynamics.num_actions).to(here.dtype) if self.dynamics.discrete else actions
        self.dynamics.network.standardize.measure(torch.cat([here, done], dim=-1))
        spread = (following - here).square().mean(dim=0).sqrt()
        self.dynamics.scale.copy_(torch.where(spread > 0, spread, 1.0))

    def fingerprint(self) -> str:
        (encoder,) = self._fixed
        known = f"dynamics {self.dynamics.space} {log_identity(self.reader.log)}"
        return known if encoder is None else f"{known} {weights_digest(encoder)}"
