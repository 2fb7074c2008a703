"""Linear layers with relu between them, without a copy of what relu makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric.kernels import products
from trimetric.kernels.rows import fused
from trimetric.kernels.rows.differences import add_differences, write_differences


@runtime_checkable
class PairedEncoder(Protocol):
    """An encoder that may have a faster way to the differences of points than the points."""

    def differences_of_rows(self, x: Tensor, start: Tensor, end: Tensor) -> Tensor | None:
        """Compute `self(x)[end] - self(x)[start]`, or None where there is no such way."""
        ...


def run_layers(layers: nn.Module, x: Float[Tensor, "n in"]) -> Float[Tensor, "n out"]:
    """Compute `layers(x)`, in one step of autograd where they are linear layers with biases and relu between them.

    Args:
        layers: any module; only a plain `nn.Sequential` is looked into.
        x: the input of the first.
    """
    parameters = _parameters(layers, x)
    if parameters is None:
        return layers(x)
    if not torch.is_grad_enabled():
        return products.times_transposed(_inputs(x, parameters)[-1], parameters[-2], parameters[-1])[: len(x)]
    return _Layers.apply(x, *parameters)  # type: ignore[return-value]


def layer_differences(
    layers: nn.Module, x: Float[Tensor, "n in"], start: Int[Tensor, " pairs"], end: Int[Tensor, " pairs"]
) -> Float[Tensor, "pairs out"] | None:
    """Compute `layers(x)[end] - layers(x)[start]`, with the last layer on differences: it is linear.

    That pays where there are at least as many rows as pairs.  The last bias has no effect, so its gradient is 0.

    Args:
        layers: any module; only a plain `nn.Sequential` is looked into.
        x: the input of the first.
        start: the row to subtract, for each pair.
        end: the row to subtract from.

    Returns:
        The differences; None if plain torch has to compute them, or if that does not pay.
    """
    parameters = _parameters(layers, x) if fused.applies(x) and len(x) >= len(start) else None
    return None if parameters is None else _LayerDifferences.apply(x, start, end, *parameters)  # type: ignore[return-value]


def _parameters(layers: nn.Module, x: Tensor) -> list[Tensor] | None:
    """The weights and biases of layers whose pass may be fused; None for others."""
    if torch.compiler.is_compiling() or x.ndim != 2 or not is_relu_network(layers):
        return None
    modules: Any = layers
    parameters = [own for layer in list(modules)[::2] for own in (layer.weight, layer.bias)]
    # With another number of features torch says what is wrong.
    return parameters if x.shape[1] == parameters[0].shape[1] and fused.allows(x, *parameters) else None


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
        inputs = _inputs(x, parameters)
        ctx.save_for_backward(x, *parameters, *inputs)
        return products.times_transposed(inputs[-1], parameters[-2], parameters[-1])[: len(x)]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, parameters, inputs = _parts(ctx.saved_tensors)
        if fused.needs_definition(grad):
            return fused.gradients_of_definition(_definition, (x, *parameters), grad)
        return _gradients(products.with_rows(grad, len(inputs[0])), len(x), inputs, parameters, ctx.needs_input_grad)


class _LayerDifferences(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, start: Tensor, end: Tensor, *parameters: Tensor) -> Tensor:  # type: ignore[override]
        start, end = start.contiguous(), end.contiguous()
        inputs = _inputs(x, parameters)
        last = inputs[-1].contiguous()
        difference = last.new_empty(len(start), last.shape[1])
        write_differences(last, start, end, difference)
        difference = products.padded(difference)
        ctx.save_for_backward(start, end, difference, x, *parameters, *inputs)
        return products.times_transposed(difference, parameters[-2])[: len(start)]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        start, end, difference, *saved = ctx.saved_tensors
        x, parameters, inputs = _parts(saved)
        if fused.needs_definition(grad):
            arguments = (x, start, end, *parameters)
            return fused.gradients_of_definition(_difference_definition, arguments, grad)
        needed = (ctx.needs_input_grad[0], *ctx.needs_input_grad[3:])
        grad = products.with_rows(grad, len(difference))
        on_weight = products.transposed_times(grad, difference) if needed[-2] else None
        on_bias = torch.zeros_like(parameters[-1]) if needed[-1] else None
        on_x, rest = None, ()
        if any(needed[:-2]):
            on_last = torch.zeros_like(inputs[-1], memory_format=torch.contiguous_format)
            add_differences(products.times(grad, parameters[-2])[: len(start)], start, end, on_last)
            if len(inputs) > 1:
                torch.ops.aten.threshold_backward.grad_input(on_last, inputs[-1], 0, grad_input=on_last)
                on_x, *rest = _gradients(on_last, len(x), inputs[:-1], parameters[:-2], needed)
            else:
                on_x = on_last[: len(x)]
        else:
            rest = [None] * (len(parameters) - 2)
        return on_x, None, None, *rest, on_weight, on_bias


def _difference_definition(x: Tensor, start: Tensor, end: Tensor, *parameters: Tensor) -> Tensor:
    points = _definition(x, *parameters)
    return points[end] - points[start]


def _inputs(x: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """What each layer reads, with unused rows behind it where products are faster with them."""
    inputs = [products.padded(x)]
    for weight, bias in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
        inputs.append(products.times_transposed(inputs[-1], weight, bias, relu=True))
    return inputs


def _parts(saved: Sequence[Tensor]) -> tuple[Tensor, Sequence[Tensor], Sequence[Tensor]]:
    """What was saved: x, the weight and bias of each layer, and what each layer reads."""
    layers = len(saved) // 3
    return saved[0], saved[1 : 1 + 2 * layers], saved[1 + 2 * layers :]


def _gradients(
    grad: Tensor, rows: int, inputs: Sequence[Tensor], parameters: Sequence[Tensor], needed: Sequence[bool]
) -> tuple[Tensor | None, ...]:
    """The gradients of the rows of x and of all parameters, from that of the value of the last layer."""
    found: list[Tensor | None] = [None] * (1 + len(parameters))
    for i in reversed(range(len(inputs))):
        if needed[1 + 2 * i]:
            found[1 + 2 * i] = products.transposed_times(grad, inputs[i])
        if needed[2 + 2 * i]:
            found[2 + 2 * i] = grad.sum(dim=0)
        if i:
            grad = products.times(grad, parameters[2 * i])
            torch.ops.aten.threshold_backward.grad_input(grad, inputs[i], 0, grad_input=grad)
        elif needed[0]:
            found[0] = products.times(grad, parameters[0])[:rows]
    return tuple(found)
