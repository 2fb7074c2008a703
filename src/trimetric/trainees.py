"""What a training run trains: one model, or several of one architecture at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state
from torch.nn.parallel import DistributedDataParallel

from trimetric.compiled import CompiledOrEager
from trimetric.distances import Calibrated
from trimetric.losses import Loss, OwnLoss, make_loss
from trimetric.pair_data import PairData
from trimetric.processes import Processes
from trimetric.siamese import Siamese
from trimetric.training_config import TrainingConfig

EVALUATION_BATCH = 4096
PREDICTION_BATCH = 1024  # small, so that what a head makes of it stays in cache


class Trainee(ABC):
    """One or several models, seen as one set of parameters and a loss for each member."""

    parameters: dict[str, Tensor]
    """what the optimiser moves"""
    buffers: dict[str, Tensor]

    def set_progress(self, progress: float) -> None:  # noqa: B027
        """How far the run is, for a loss of one's own."""

    @abstractmethod
    def losses(self, batches: Sequence[Tensor]) -> Tensor:
        """The mean loss of each member on its batch (row numbers of its pairs); their sum has the gradients.

        With several processes, the mean of what each of them returns.
        """

    @abstractmethod
    def errors(self, data: Sequence[PairData]) -> list[float]:
        """The mean squared error of each member on its pairs."""

    @abstractmethod
    def predictions(self, data: Sequence[PairData]) -> Tensor:
        """The distances (members, pairs) that each member gives its pairs."""

    @abstractmethod
    def set_targets(self, targets: Tensor) -> None:
        """New targets (members, pairs) for the training pairs."""

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
        """Give the models these parameters, for good."""

    @contextmanager
    def with_parameters(self, values: dict[str, Tensor]) -> Iterator[None]:
        """Other values for the parameters, for a while."""
        own = {name: parameter.data for name, parameter in self.parameters.items()}
        for name, value in values.items():
            self.parameters[name].data = value
        try:
            yield
        finally:
            for name, value in own.items():
                self.parameters[name].data = value


class Single(Trainee):
    """One model, in one process or in several that share each batch."""

    def __init__(
        self,
        model: nn.Module,
        data: PairData,
        config: TrainingConfig,
        processes: Processes,
        loss: OwnLoss | None = None,
    ) -> None:
        self.model, self.data, self.processes = model, data, processes
        self.parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self.buffers = dict(model.named_buffers())
        self.objective: nn.Module = _Objective(model, data, config, loss)
        self._own_objective = self.objective
        if processes.size > 1:
            unused = self._has_unused_parameters()
            self.objective = DistributedDataParallel(self.objective, find_unused_parameters=unused)

    def _has_unused_parameters(self) -> bool:
        """Such as the weight of a pooling that another replaces; looking for them in each step takes time."""
        self.model.eval()
        with torch.random.fork_rng(devices=[]):
            loss = self.objective(torch.arange(1))
        found = torch.autograd.grad(loss, list(self.parameters.values()), allow_unused=True)
        return any(gradient is None for gradient in found)

    def set_progress(self, progress: float) -> None:
        self._own_objective.progress = progress  # type: ignore[assignment]

    def losses(self, batches: Sequence[Tensor]) -> Tensor:
        (batch,) = batches
        return (self.objective(self.processes.share(batch)) * self.processes.size / len(batch)).reshape(1)

    def errors(self, data: Sequence[PairData]) -> list[float]:
        (own,) = data
        total = torch.zeros((), dtype=torch.float64)
        chunks = torch.arange(len(own)).split(EVALUATION_BATCH)
        for chunk in chunks[self.processes.rank :: self.processes.size]:
            total += _squared_errors(own.predict(self.model, chunk), own.targets[chunk])
        return [self.processes.sum(total).item() / len(own)]

    def predictions(self, data: Sequence[PairData]) -> Tensor:
        (own,) = data
        chunks = torch.arange(len(own)).split(EVALUATION_BATCH)
        return torch.cat([own.predict(self.model, chunk) for chunk in chunks]).unsqueeze(0)

    def set_targets(self, targets: Tensor) -> None:
        self._own_objective.targets = targets[0]

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
    """The summed loss of pairs, as one call, for the processes to meet in its gradients."""

    def __init__(self, model: nn.Module, data: PairData, config: TrainingConfig, loss: OwnLoss | None) -> None:
        super().__init__()
        self.model, self.targets = model, data.targets
        self.loss, self.own_loss, self.progress = _make_loss(config), loss, 0.0
        self.predict = data.predictor(model, CompiledOrEager if config.compile else None)
        self.precision = torch.bfloat16 if config.precision == "bfloat16" else None

    def forward(self, batch: Tensor) -> Tensor:
        targets = self.targets[batch]
        with torch.autocast(targets.device.type, dtype=self.precision, enabled=self.precision is not None):
            predicted = self.predict(batch)
        predicted = predicted.to(targets.dtype)
        if self.own_loss is not None:
            return self.own_loss.of(predicted, targets, self.progress).sum()
        return self.loss(predicted, targets).sum()


class Stack(Trainee):
    """Several models of one architecture, each with pairs of its own, in one vectorised computation."""

    def __init__(self, models: Sequence[nn.Module], data: Sequence[PairData], config: TrainingConfig) -> None:
        self.models, self.data = models, _StackedPairs(data)
        self.loss = _make_loss(config)
        for model in models:
            model.train()
        stacked, self.buffers = stack_module_state(list(models))  # type: ignore[arg-type]
        trained = {name for name, p in models[0].named_parameters() if p.requires_grad}
        self.parameters = {name: value for name, value in stacked.items() if name in trained}
        self.fixed = {name: value for name, value in stacked.items() if name not in trained} | self.buffers

    def losses(self, batches: Sequence[Tensor]) -> Tensor:
        predicted, targets = self._predict(self.data, torch.stack(list(batches)))
        return self.loss(predicted, targets).mean(dim=1)

    def errors(self, data: Sequence[PairData]) -> list[float]:
        stacked, members = _StackedPairs(data), len(self.models)
        total = torch.zeros(members, dtype=torch.float64)
        for chunk in torch.arange(len(data[0])).split(max(1, EVALUATION_BATCH // members)):
            total += _squared_errors(*self._predict(stacked, chunk.expand(members, -1)))
        return (total / len(data[0])).tolist()

    def predictions(self, data: Sequence[PairData]) -> Tensor:
        stacked, members, state = _StackedPairs(data), len(self.models), self.parameters | self.fixed
        model, objects = self.models[0], stacked.objects
        chunks = torch.arange(len(data[0])).split(max(1, PREDICTION_BATCH // members))
        if objects is None or not isinstance(model, Siamese):
            return torch.cat([self._predict(stacked, chunk.expand(members, -1))[0] for chunk in chunks], dim=1)
        encoder, distance = model.encoder, model.distance
        embed = _vmapped(lambda values, objects: functional_call(encoder, values, (objects,)), (0, None))
        points = embed(_below("encoder.", state), objects)

        def measured(values: dict[str, Tensor], points: Tensor, x: Tensor, y: Tensor) -> Tensor:
            return functional_call(distance, values, (points.index_select(0, x), points.index_select(0, y)))

        ends = [stacked.rows(chunk.expand(members, -1))[:2] for chunk in chunks]
        call, own = _vmapped(measured, (0, 0, 0, 0)), _below("distance.", state)
        return torch.cat([call(own, points, x, y) for x, y in ends], dim=1)

    def set_targets(self, targets: Tensor) -> None:
        self.data.targets = targets

    def _predict(self, data: _StackedPairs, batches: Tensor) -> tuple[Tensor, Tensor]:
        """Predictions and targets (members, batch)."""
        x, y, targets = data.rows(batches)
        state = self.parameters | self.fixed
        if data.objects is None or not data.encode_all(batches.shape[1]):
            x, y = (x, y) if data.objects is None else (data.objects[x], data.objects[y])
            call = _vmapped(lambda values, x, y: functional_call(self.models[0], values, (x, y)), (0, 0, 0))
            return call(state, x, y), targets

        def embedded(values: dict[str, Tensor], objects: Tensor, x: Tensor, y: Tensor) -> Tensor:
            return functional_call(_ByNumber(self.models[0]), _prefixed(values), (objects, x, y))

        return _vmapped(embedded, (0, None, 0, 0))(state, data.objects, x, y), targets

    def of_member(self, value: Tensor, member: int) -> Tensor:
        return value[member]

    @torch.no_grad()
    def clip(self, max_norm: float) -> None:
        gradients = [p.grad for p in self.parameters.values() if p.grad is not None]
        norms = torch.stack([g.reshape(len(g), -1).norm(dim=1) for g in gradients]).norm(dim=0)
        factors = (max_norm / (norms + 1e-6)).clamp(max=1)
        for gradient in gradients:
            gradient.mul_(factors.view(-1, *[1] * (gradient.ndim - 1)))

    def set_training(self, training: bool) -> None:
        if self.models[0].training != training:  # the one that is called, with the weights of all
            self.models[0].train(training)

    @torch.no_grad()
    def load(self, values: dict[str, Tensor]) -> None:
        for member, model in enumerate(self.models):
            model.eval()
            own = dict(model.named_parameters()) | dict(model.named_buffers())
            for name, value in (values | self.buffers).items():
                own[name].copy_(value[member])


class _ByNumber(nn.Module):
    """Encodes all objects once, then measures pairs of them by number."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, objects: Tensor, x: Tensor, y: Tensor) -> Tensor:
        head: Any = self.model
        if isinstance(self.model, Siamese):
            objects, head = self.model.encoder(objects), self.model.distance
        return head(objects[x], objects[y])


class _StackedPairs:
    """The pairs of several members, shared or their own, as one set of tensors."""

    def __init__(self, members: Sequence[PairData]) -> None:
        first = members[0]
        if any(len(data) != len(first) or data.objects is not first.objects for data in members):
            raise ValueError("pairs: expected as many for each model, of the same objects")
        self.shared = all(data is first for data in members)
        self.objects = first.objects
        ends = [(d.pairs[:, 0], d.pairs[:, 1]) if isinstance(d.pairs, Tensor) else d.pairs for d in members]
        columns = [*zip(*ends, strict=True), [d.targets for d in members]]
        *self.ends, self.targets = [column[0] if self.shared else torch.stack(list(column)) for column in columns]

    def rows(self, batches: Tensor) -> list[Tensor]:
        """Both ends and the targets of each member's batch."""
        members = torch.arange(len(batches)).unsqueeze(1)
        ends = [end[batches] if self.shared else end[members, batches] for end in self.ends]
        return [*ends, self.targets[batches] if self.targets.ndim == 1 else self.targets[members, batches]]

    def encode_all(self, batch: int) -> bool:
        """Whether all objects are fewer than the ends of a batch."""
        return self.objects is not None and len(self.objects) <= 2 * batch


def _vmapped(function: Callable[..., Tensor], in_dims: tuple[int | None, ...]) -> Callable[..., Tensor]:
    return torch.func.vmap(function, in_dims=in_dims, randomness="different")


def _below(prefix: str, values: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


def _prefixed(values: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"model.{name}": value for name, value in values.items()}


def _make_loss(config: TrainingConfig) -> Loss:
    return make_loss(config.loss, huber_delta=config.huber_delta, gamma=config.gamma)


def _squared_errors(predicted: Tensor, targets: Tensor) -> Tensor:
    return (predicted - targets).double().square().sum(dim=-1).cpu()


@torch.no_grad()
def calibrate(model: nn.Module, data: PairData, rows: Tensor) -> None:
    """Set the output scale of a model with a `Calibrated` head from some of its pairs."""
    scaled = [module for module in model.modules() if isinstance(module, Calibrated)]
    if len(scaled) != 1:
        return
    finite = rows[torch.isfinite(data.targets[rows])]
    model.eval()
    scaled[0].calibrate(data.predict(model, finite), data.targets[finite])
