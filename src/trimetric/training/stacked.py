"""Several models of one architecture that are trained at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state

from trimetric.distances.siamese import Siamese
from trimetric.training.config import TrainingConfig
from trimetric.training.pairs import PairData
from trimetric.training.trainee import EVALUATION_BATCH, PREDICTION_BATCH, Trainee, loss_of, squared_errors


class Stack(Trainee):
    """Several models of one architecture, each with pairs of its own, in one vectorised computation."""

    def __init__(self, models: Sequence[nn.Module], data: Sequence[PairData], config: TrainingConfig) -> None:
        self.models, self.data = models, _StackedPairs(data)
        self.loss = loss_of(config)
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
            total += squared_errors(*self._predict(stacked, chunk.expand(members, -1)))
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
