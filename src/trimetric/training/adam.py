"""Adam with as little work around its arithmetic as possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from trimetric.training.config import TrainingConfig


def make_adam(parameters: Iterable[Tensor], config: TrainingConfig) -> torch.optim.Adam:
    """Make the optimizer that the settings ask for.

    Args:
        parameters: what it changes.
        config: the settings.

    Returns:
        Adam, or AdamW where there is a weight decay.
    """
    adam = torch.optim.AdamW if config.weight_decay else torch.optim.Adam
    return adam(parameters, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True)


class AdamStep:
    """Steps of a fused Adam optimizer that has one group of parameters.

    `optimizer.step` collects its tensors anew in each step, which for small networks takes longer than the arithmetic.
    Here they are collected once.  The state stays where the optimizer keeps it.

    Args:
        optimizer: made by `make_adam`.
    """

    def __init__(self, optimizer: torch.optim.Adam) -> None:
        self.optimizer = optimizer
        self.parameters: list[Tensor] = optimizer.param_groups[0]["params"]
        name = "_fused_adamw_" if isinstance(optimizer, torch.optim.AdamW) else "_fused_adam_"
        self.kernel = getattr(torch, name)
        self._first: dict[str, Any] | None = None
        self._lists: list[list[Tensor]] = []

    def clear_gradients(self) -> None:
        """Forget the gradients of the step before."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def take(self) -> None:
        """Change the parameters by one step."""
        gradients = [parameter.grad for parameter in self.parameters]
        if any(gradient is None for gradient in gradients) or not self._collected():
            self.optimizer.step()
            return
        group, (averages, squares, steps) = self.optimizer.param_groups[0], self._lists
        torch._foreach_add_(steps, 1)  # pyright: ignore[reportPrivateImportUsage]
        self.kernel(
            self.parameters,
            gradients,  # type: ignore[arg-type]
            averages,
            squares,
            [],
            steps,
            amsgrad=False,
            lr=group["lr"],
            beta1=group["betas"][0],
            beta2=group["betas"][1],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=False,
            grad_scale=None,
            found_inf=None,
        )

    def _collected(self) -> bool:
        """Whether the state of all parameters, which are on one device and of one dtype, is in the lists."""
        state = self.optimizer.state
        first = state.get(self.parameters[0])
        if first is None or first is not self._first:  # a checkpoint brings a new state
            if any(not state.get(parameter) for parameter in self.parameters):
                return False
            if len({(parameter.device, parameter.dtype) for parameter in self.parameters}) > 1:
                return False
            self._lists = [
                [state[parameter][key] for parameter in self.parameters] for key in ("exp_avg", "exp_avg_sq", "step")
            ]
            self._first = first
        return True
