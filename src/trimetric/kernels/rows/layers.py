"""Linear layers with relu between them, without a copy of what relu makes."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric.kernels.rows import fused


def run_layers(layers: nn.Sequential, x: Float[Tensor, "n in"]) -> Float[Tensor, "n out"]:
    """Compute `layers(x)`, in one step of autograd where they are linear layers with biases and relu between them.

    Args:
        layers: any modules.
        x: the input of the first.
    """
    modules = list(layers)
    linear = modules[::2]
    if (
        x.ndim == 2
        and len(modules) % 2 == 1
        and all(type(module) is nn.Linear and module.bias is not None for module in linear)
        and all(type(module) is nn.ReLU for module in modules[1::2])
        and not fused.has_hooks(layers, *modules)
    ):
        parameters = [own for module in linear for own in (module.weight, module.bias)]
        if x.shape[1] == linear[0].in_features and fused.applies(x, *parameters):  # otherwise torch says what is wrong
            return _Layers.apply(x, *parameters)  # type: ignore[return-value]
    return layers(x)


def _definition(x: Tensor, *parameters: Tensor) -> Tensor:
    x = F.linear(x, parameters[0], parameters[1])
    for weight, bias in zip(parameters[2::2], parameters[3::2], strict=True):
        x = F.linear(x.relu(), weight, bias)
    return x


class _Layers(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, *parameters: Tensor) -> Tensor:  # type: ignore[override]
        weights, biases = parameters[::2], parameters[1::2]
        inputs = [x]
        out = torch.addmm(biases[0], x, weights[0].mT)
        for weight, bias in zip(weights[1:], biases[1:], strict=True):
            inputs.append(out.relu_())
            out = torch.addmm(bias, out, weight.mT)
        ctx.save_for_backward(*parameters, *inputs)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        saved = ctx.saved_tensors
        parameters, inputs = saved[: 2 * len(saved) // 3], saved[2 * len(saved) // 3 :]
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_definition, (inputs[0], *parameters), grad)
        found: list[Tensor | None] = [None] * (1 + len(parameters))
        for i in reversed(range(len(inputs))):
            if ctx.needs_input_grad[1 + 2 * i]:
                found[1 + 2 * i] = grad.mT @ inputs[i]
            if ctx.needs_input_grad[2 + 2 * i]:
                found[2 + 2 * i] = grad.sum(dim=0)
            if i:
                grad = grad @ parameters[2 * i]
                torch.ops.aten.threshold_backward.grad_input(grad, inputs[i], 0, grad_input=grad)
            elif ctx.needs_input_grad[0]:
                found[0] = grad @ parameters[0]
        return tuple(found)
