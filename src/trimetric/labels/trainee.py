"""What the training loop trains when it learns from labels."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trimetric.distances import ObjectDistance
from trimetric.labels.data import LabelData, LabeledObjects
from trimetric.training.trainee import Trainee


class LabelTrainee(Trainee):
    """A model and, where the loss uses them, the proxies of the classes.

    Args:
        model: the network.
        data: what it learns from.
    """

    def __init__(self, model: ObjectDistance, data: LabelData) -> None:
        self.model, self.data = model, data
        self.parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self.buffers = dict(model.named_buffers())
        self.proxies: nn.Parameter | None = None
        if data.loss.uses_proxies and isinstance(data, LabeledObjects):
            self.proxies = data.start_of_proxies(model)
            self.parameters["(proxies)"] = self.proxies

    def losses(self, batches: Sequence[Tensor]) -> Tensor:
        (batch,) = batches
        return self.data.loss_of(self.model, batch, self.proxies).reshape(1)

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
