"""When a pass in machine code may replace plain torch, and what it does where a derivative of its gradient is asked."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

# Sums may be reordered, so that they vectorize; NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract"}
FLOATS = (torch.float32, torch.float64)
PLAIN = (Tensor, nn.Parameter)


def available(like: Tensor) -> bool:
    """Whether there are loops in machine code for the device and dtype of a tensor.

    Args:
        like: the tensor.
    """
    return like.device.type == "cpu" and like.dtype in FLOATS and _has_numba()


def applies(*tensors: Tensor) -> bool:
    """Whether loops in machine code may compute a differentiable function of these tensors.

    They may where gradients are recorded and `allows` says so.

    Args:
        tensors: the arguments of the function.
    """
    if torch.compiler.is_compiling() or not torch.is_grad_enabled() or not _has_numba():
        return False
    return allows(*tensors)


def allows(*tensors: Tensor) -> bool:
    """Whether a function of these tensors may be computed otherwise than by operations that torch knows.

    It may for numbers of one dtype on a CPU, where only autograd looks on: compilers, exporters, `vmap`, forward-mode
    derivatives and autocast need operations that torch knows.

    Args:
        tensors: the arguments of the function.
    """
    if torch.compiler.is_compiling():
        return False
    dtype = tensors[0].dtype
    if dtype not in FLOATS:
        return False
    for tensor in tensors:  # a generator would take twice as long
        if type(tensor) not in PLAIN or tensor.dtype != dtype or not tensor.is_cpu:
            return False
    return not _watched()


def _watched() -> bool:
    return (
        torch._C._are_functorch_transforms_active()  # pyright: ignore[reportAttributeAccessIssue]
        or torch._C._len_torch_dispatch_stack() > 0  # pyright: ignore[reportAttributeAccessIssue]
        or forward_ad._current_level >= 0
        or torch.is_autocast_enabled("cpu")
        or torch.jit.is_tracing()  # pyright: ignore[reportPrivateImportUsage]
    )


@functools.cache
def _has_numba() -> bool:
    return find_spec("numba") is not None


def check_rows(count: int, start: Tensor, end: Tensor) -> None:
    """Refuse rows that a table does not have: loops in machine code would read and write beyond it.

    Args:
        count: the number of rows of the table.
        start: the row where each pair starts.
        end: the row where each pair ends.
    """
    if torch.compiler.is_compiling() or _watched():
        return  # then torch looks up the rows, and checks them itself
    for name, rows in (("start", start), ("end", end)):
        if type(rows) is Tensor and rows.numel():
            low, high = (int(bound) for bound in torch.aminmax(rows))
            if low < 0 or high >= count:
                wrong = low if low < 0 else high
                raise IndexError(f"{name}: expected rows of a table of {count}, 0 to {count - 1}, got {wrong}")


def has_hooks(*modules: nn.Module) -> bool:
    """Whether somebody asked to be called with what these modules compute, so that they may not be skipped."""
    return any(m._forward_hooks or m._forward_pre_hooks or m._backward_hooks or m._backward_pre_hooks for m in modules)


def needs_definition(grad: Tensor) -> bool:
    """Whether a backward pass has to be differentiable itself, or is computed for many gradients at once."""
    batched = torch._C._functorch.is_legacy_batchedtensor(grad)  # pyright: ignore[reportAttributeAccessIssue]
    return torch.is_grad_enabled() or type(grad) is not Tensor or batched or _watched()


def gradients_of_definition(
    definition: Callable[..., Tensor], arguments: Sequence[Any], grad: Tensor
) -> tuple[Tensor | None, ...]:
    """Compute the gradients of a function by autograd, so that they can be differentiated again.

    Args:
        definition: the function, in plain torch.
        arguments: tensors and other arguments.
        grad: the gradient of its value.

    Returns:
        The gradient of each argument; None for those that have none.
    """
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        # Views of their own: an argument may have been computed from another one.
        own = [a.view_as(a) if isinstance(a, Tensor) and a.requires_grad else a for a in arguments]
        places = [i for i, a in enumerate(own) if isinstance(a, Tensor) and a.requires_grad]
        value = definition(*own)
        found = torch.autograd.grad(value, [own[i] for i in places], grad, create_graph=again, allow_unused=True)
    gradients: list[Tensor | None] = [None] * len(own)
    for i, gradient in zip(places, found, strict=True):
        gradients[i] = gradient
    return tuple(gradients)


def _as_array(tensor: Tensor) -> Any:
    return tensor.detach().numpy() if tensor.requires_grad else tensor.numpy()


def machine_code(loop: Callable[..., None]) -> Callable[..., None]:
    """Turn a loop over arrays into a function of tensors that runs in machine code.

    It is translated on the first call, because that imports numba.

    Args:
        loop: a function of NumPy arrays and numbers, which writes to some of the arrays.

    Returns:
        The same for contiguous tensors on a CPU.
    """
    translated: list[Callable[..., None]] = []

    @functools.wraps(loop)
    def run(*arguments: Any) -> None:
        if not translated:
            from trimetric.kernels.machine_code import njit  # here, because it imports numba

            translated.append(njit(fastmath=REORDER)(loop))
        translated[0](*[_as_array(a) if isinstance(a, Tensor) else a for a in arguments])

    return run
