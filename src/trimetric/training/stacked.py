"""Several models of one architecture that are trained at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state

from trimetric.distances import ObjectDistance
from trimetric.distances.batching import PAIRS_AT_ONCE, in_chunks
from trimetric.training.config import TrainingConfig
from trimetric.training.losses import LOSSES
from trimetric.training.pairs import PairData
from trimetric.training.trainee import PairTrainee, squared_errors


class StackedModels(PairTrainee):
    """Several models of one architecture, each with its own pairs, in one vectorized computation."""

    def __init__(self, models: Sequence[ObjectDistance], data: Sequence[PairData], config: TrainingConfig) -> None:
        self.models, self.data = models, _StackedPairs(data)
        self.config = config
        # All members measure theirs together; a call costs more than that of one model, so there are fewer of them.
        self.pairs_at_once = max(1, 4 * PAIRS_AT_ONCE // len(models))
        for model in models:
            model.train()
        stacked, self.buffers = stack_module_state(list(models))  # type: ignore[arg-type]
        trained = {name for name, p in models[0].named_parameters() if p.requires_grad}
        self.parameters = {name: value for name, value in stacked.items() if name in trained}
        self.fixed = {name: value for name, value in stacked.items() if name not in trained} | self.buffers

    def losses(self, batches: Sequence[Tensor]) -> Tensor:
        predicted, targets = self._predict(self.data, torch.stack(list(batches)))
        return LOSSES[self.config.loss](predicted, targets, self.config).mean(dim=1)

    def errors(self, data: Sequence[PairData]) -> list[float]:
        return (squared_errors(*self._predict(_StackedPairs(data), self._all_rows(data))) / len(data[0])).tolist()

    def predictions(self, data: Sequence[PairData]) -> Tensor:
        return self._predict(_StackedPairs(data), self._all_rows(data))[0]

    def _all_rows(self, data: Sequence[PairData]) -> Tensor:
        return torch.arange(len(data[0])).expand(len(self.models), -1)

    def set_targets(self, targets: Tensor) -> None:
        self.data.targets = targets

    def _predict(self, data: _StackedPairs, batches: Tensor) -> tuple[Tensor, Tensor]:
        """Predictions and targets (members, batch)."""
        x, y, targets = data.rows(batches)
        objects, state = (
            data.objects,
            {f"model.{name}": value for name, value in (self.parameters | self.fixed).items()},
        )
        # The pairs of the members differ, and so do their objects: all of them are embedded, or each pair is measured.
        if objects is not None and len(objects) <= 2 * batches.shape[1] and self.models[0].factors_through_points:
            network = _ByNumber(self.models[0], self.pairs_at_once)
            call = _vmapped(lambda values, x, y: functional_call(network, values, (objects, x, y)), (0, 0, 0))
        else:
            network = _Paired(self.models[0], objects, self.pairs_at_once)
            call = _vmapped(lambda values, x, y: functional_call(network, values, (x, y)), (0, 0, 0))
        return call(state, x, y), targets

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
    """Embeds all objects once, then measures pairs of them by number."""

    def __init__(self, model: ObjectDistance, pairs_at_once: int) -> None:
        super().__init__()
        self.model, self.pairs_at_once = model, pairs_at_once

    def forward(self, objects: Tensor, x: Tensor, y: Tensor) -> Tensor:
        points, head = self.model.embed(objects), self.model.head
        return in_chunks(lambda x, y: head(points[x], points[y]), x, y, size=self.pairs_at_once)


class _Paired(nn.Module):
    """Measures pairs, given by number where there are objects."""

    def __init__(self, model: ObjectDistance, objects: Tensor | None, pairs_at_once: int) -> None:
        super().__init__()
        self.model, self.objects, self.pairs_at_once = model, objects, pairs_at_once

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return in_chunks(self._measure, x, y, size=self.pairs_at_once)

    def _measure(self, x: Tensor, y: Tensor) -> Tensor:
        return self.model(x, y) if self.objects is None else self.model(self.objects[x], self.objects[y])


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


def _vmapped(function: Callable[..., Tensor], in_dims: tuple[int | None, ...]) -> Callable[..., Tensor]:
    return torch.func.vmap(function, in_dims=in_dims, randomness="different")
