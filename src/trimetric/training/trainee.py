"""What a training run trains: one model, or several of one architecture at once (in `stacked`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from trimetric.distances import Calibrated, ObjectDistance
from trimetric.kernels.rows.errors import sum_of_squares
from trimetric.training.compilation import compile_where_it_pays
from trimetric.training.config import TrainingConfig
from trimetric.training.losses import LOSSES, CustomLoss
from trimetric.training.pairs import PairData
from trimetric.training.processes import Processes


class Trainee(ABC):
    """One or several models, seen as one set of parameters and a loss for each member."""

    parameters: dict[str, Tensor]
    """what the optimizer changes"""
    buffers: dict[str, Tensor]

    def set_progress(self, progress: float) -> None:  # noqa: B027
        """Say which part of the run is done, for a custom loss."""

    @abstractmethod
    def losses(self, batches: Sequence[Tensor]) -> Tensor:
        """Compute the mean loss of each member on its batch; their sum has the gradients.

        Args:
            batches: row numbers of the data of each member.

        Returns:
            The losses; with several processes, the loss is the mean of what each of them returns.
        """

    def numbers(self) -> dict[str, list[float]]:
        """What else to record when validation is due: a number of each member, by name."""
        return {}

    @abstractmethod
    def of_member(self, value: Tensor, member: int) -> Tensor:
        """The part of a parameter that belongs to a member."""

    @abstractmethod
    def clip(self, max_norm: float) -> None:
        """Clip the gradient of each member on its own."""

    @abstractmethod
    def set_training(self, training: bool) -> None: ...

    @abstractmethod
    def load(self, values: dict[str, Tensor]) -> None:
        """Give the models these parameters."""

    @contextmanager
    def with_parameters(self, values: dict[str, Tensor]) -> Iterator[None]:
        """Replace the values of the parameters inside a `with` block."""
        own = {name: parameter.data for name, parameter in self.parameters.items()}
        for name, value in values.items():
            self.parameters[name].data = value
        try:
            yield
        finally:
            for name, value in own.items():
                self.parameters[name].data = value


class PairTrainee(Trainee):
    """A trainee whose loss is that of distances of pairs, so that it can be asked for those of other pairs."""

    @abstractmethod
    def errors(self, data: Sequence[PairData]) -> list[float]:
        """The mean squared error of each member on its pairs."""

    @abstractmethod
    def predictions(self, data: Sequence[PairData]) -> Tensor:
        """The distances (members, pairs) that each member gives its pairs."""

    @abstractmethod
    def set_targets(self, targets: Tensor) -> None:
        """New targets (members, pairs) for the training pairs."""


class SingleModel(PairTrainee):
    """One model, in one process or in several that share each batch."""

    def __init__(
        self,
        model: ObjectDistance,
        data: PairData,
        config: TrainingConfig,
        processes: Processes,
        loss: CustomLoss | None = None,
    ) -> None:
        self.model, self.data, self.processes = model, data, processes
        self.parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self.buffers = dict(model.named_buffers())
        self.objective: nn.Module = _Objective(model, data, config, loss)
        self._local_objective = self.objective
        if processes.size > 1:
            unused = self._has_unused_parameters()
            self.objective = DistributedDataParallel(self.objective, find_unused_parameters=unused)

    def _has_unused_parameters(self) -> bool:
        """Such as the weight of a pooling that is not used; looking for them in each step takes time."""
        self.model.eval()
        with torch.random.fork_rng(devices=[]):
            loss = self.objective(torch.arange(1), 1.0)
        found = torch.autograd.grad(loss, list(self.parameters.values()), allow_unused=True)
        return any(gradient is None for gradient in found)

    def set_progress(self, progress: float) -> None:
        self._local_objective.progress = progress  # type: ignore[assignment]

    def losses(self, batches: Sequence[Tensor]) -> Tensor:
        (batch,) = batches
        share = batch if self.processes.size == 1 else self.processes.share(batch)
        return self.objective(share, self.processes.size / len(batch))

    def errors(self, data: Sequence[PairData]) -> list[float]:
        (own,) = data
        rows = self.processes.share(torch.arange(len(own)))
        total = torch.zeros((), dtype=torch.float64)
        if len(rows):
            total += squared_errors(own.predict(self.model, rows), own.targets[rows])
        return [self.processes.sum(total).item() / len(own)]

    def predictions(self, data: Sequence[PairData]) -> Tensor:
        (own,) = data
        return own.predict(self.model, torch.arange(len(own))).unsqueeze(0)

    def set_targets(self, targets: Tensor) -> None:
        self._local_objective.targets = targets[0]

    def of_member(self, value: Tensor, member: int) -> Tensor:  # noqa: ARG002
        return value

    def clip(self, max_norm: float) -> None:
        nn.utils.clip_grad_norm_(self.parameters.values(), max_norm)

    def set_training(self, training: bool) -> None:
        if self.model.training != training:
            self.model.train(training)

    @torch.no_grad()
    def load(self, values: dict[str, Tensor]) -> None:
        for name, value in values.items():
            self.parameters[name].copy_(value)


class _Objective(nn.Module):
    """A factor times the summed loss of pairs, `(1,)`, as one call, for the processes to meet in its gradients."""

    def __init__(self, model: ObjectDistance, data: PairData, config: TrainingConfig, loss: CustomLoss | None) -> None:
        super().__init__()
        self.model, self.targets, self.weights = model, data.targets, data.weights
        self.config, self.custom_loss, self.progress = config, loss, 0.0
        self.precision = torch.bfloat16 if config.precision == "bfloat16" else None
        if config.compile:
            self.predict = data.predictor(*compile_where_it_pays(model, fused=self.precision is None))
        else:
            self.predict = data.predictor(model)

    def forward(self, batch: Tensor, factor: float) -> Tensor:
        targets = self.targets.index_select(0, batch)
        if self.precision is None:
            predicted = self.predict(batch)
        else:
            with torch.autocast(targets.device.type, dtype=self.precision):
                predicted = self.predict(batch)
        predicted = predicted.to(targets.dtype)
        if self.custom_loss is not None:
            losses = self.custom_loss.of(predicted, targets, self.progress)
        elif self.config.loss == "squared" and self.weights is None:
            return sum_of_squares(predicted, targets, factor)
        else:
            losses = LOSSES[self.config.loss](predicted, targets, self.config)
        total = losses.sum() if self.weights is None else (losses * self.weights[batch]).sum()
        return total.reshape(1) * factor


def squared_errors(predicted: Tensor, targets: Tensor) -> Tensor:
    return (predicted - targets).double().square().sum(dim=-1).cpu()


@torch.no_grad()
def calibrate(model: ObjectDistance, data: PairData, rows: Tensor) -> None:
    """Set the output scale of a model with a `Calibrated` head from some of its pairs.

    Args:
        model: the model; one without such a head, or with several, is left as it is.
        data: its pairs.
        rows: the row numbers of the pairs to use.
    """
    scaled = [module for module in model.modules() if isinstance(module, Calibrated)]
    if len(scaled) != 1:
        return
    finite = rows[torch.isfinite(data.targets[rows])]
    model.eval()
    scaled[0].calibrate(data.predict(model, finite), data.targets[finite])
