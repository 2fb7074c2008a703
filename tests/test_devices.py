"""That distances follow the device of their inputs, as far as a machine with one device can tell."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import zoo
from torch.overrides import TorchFunctionMode

import trimetric as tm

MAKERS = {
    *(torch.arange, torch.empty, torch.eye, torch.full, torch.linspace, torch.ones),
    *(torch.rand, torch.randn, torch.randperm, torch.tensor, torch.zeros),
}


class EveryNewTensorNamesItsDevice(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        assert func not in MAKERS or "device" in kwargs, f"torch.{func.__name__} without a device"
        return func(*args, **kwargs)


@pytest.mark.parametrize("name", zoo.DISTANCES)
def test_definitions_follow_the_device(name: str) -> None:
    """On "meta", whose tensors have no numbers."""
    module = zoo.DISTANCES[name](zoo.DIM).to("meta")
    x, y = (torch.randn(5, zoo.DIM, device="meta", requires_grad=True) for _ in range(2))
    module(x, y).sum().backward()
    assert x.grad is not None
    assert x.grad.is_meta


@pytest.mark.parametrize("name", zoo.OBJECTS)
@pytest.mark.parametrize("max_memory", ["1 GiB", "1 MiB"])
def test_fast_paths_make_nothing_on_another_device(name: str, max_memory: str) -> None:
    """They ask for numbers, so "meta" will not do."""
    module = zoo.OBJECTS[name](zoo.DIM)
    x, y = torch.randn(150, zoo.DIM, requires_grad=True), torch.randn(140, zoo.DIM)
    with EveryNewTensorNamesItsDevice():
        tm.all_pairs(module, x, y, max_memory=max_memory).sum().backward()


def test_both_notice_another_device() -> None:
    with pytest.raises(RuntimeError, match="device"):
        torch.randn(5, device="meta") + torch.randn(5)
    with pytest.raises(AssertionError, match=r"torch.arange without a device"), EveryNewTensorNamesItsDevice():
        torch.arange(5)
