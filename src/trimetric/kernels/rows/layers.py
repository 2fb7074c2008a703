"""Linear layers with relu between them, without a copy of what relu makes."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric.kernels.rows import fused


def run_layers(layers: nn.Module, x: Float[Tensor, "n in"]) -> Float[Tensor, "n out"]:
    """Compute `layers(x)`, in one step of autograd where they are linear layers with biases and relu between them.

    Args:
        layers: any module; only a plain `nn.Sequential` is looked into.
        x: the input of the first.
    """
    if not torch.compiler.is_compiling() and x.ndim == 2 and is_relu_network(layers):
        modules: Any = layers
        parameters = [own for layer in list(modules)[::2] for own in (layer.weight, layer.bias)]
        # With another number of features torch says what is wrong.
        if x.shape[1] == parameters[0].shape[1] and fused.applies(x, *parameters):
            return _Layers.apply(x, *parameters)  # type: ignore[return-value]
    return layers(x)


def is_relu_network(module: nn.Module) -> bool:
    """Whether a module is a sequence of linear layers with biases and relu between them, and nobody watches them.

    Args:
        module: any module.
    """
    if type(module) is not nn.Sequential:
        return False
    modules = list(module)
    return (
        len(modules) % 2 == 1
        and all(type(layer) is nn.Linear and layer.bias is not None for layer in modules[::2])
        and all(type(layer) is nn.ReLU for layer in modules[1::2])
        and not fused.has_hooks(module, *modules)
    )


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
