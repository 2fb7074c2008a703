"""Functions that `torch.compile` leaves alone: called as they are, inside of a compiled function too."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from trimetric.kernels.uncompiled import uncompiled


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # the compiler asks for it
def test_a_compiled_function_calls_it_as_it_is() -> None:
    compiling: list[bool] = []

    @uncompiled
    def double(x: Tensor, factor: int) -> Tensor:
        compiling.append(torch.compiler.is_compiling())
        return factor * x

    def outer(x: Tensor) -> Tensor:
        return double(x.sin(), 2).cos()

    compiled = torch.compile(outer, backend="eager", dynamic=True)
    for count in (3, 4, 5, 7):
        x = torch.randn(count, requires_grad=True)
        torch.testing.assert_close(compiled(x), (2 * x.sin()).cos())
        (gradient,) = torch.autograd.grad(compiled(x).sum(), x)
        torch.testing.assert_close(gradient, torch.autograd.grad((2 * x.sin()).cos().sum(), x)[0])
    assert compiling == [False] * 8, "the body runs every time, outside of the compiler"


def test_it_keeps_its_name() -> None:
    assert uncompiled(test_it_keeps_its_name).__name__ == "test_it_keeps_its_name"
