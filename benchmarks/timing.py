"""Times of several ways to do the same work, measured in turns in one run, so that noise hits all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import torch
from torch import Tensor


def best_seconds(
    ways: Mapping[str, Callable[[], object]], *, budget: float = 4.0, rounds: int = 25
) -> dict[str, float]:
    """The shortest time of each way, over at most `rounds` rounds or about `budget` seconds in all.

    In a round each way is called twice in a row, so that it is also measured in the state of caches and allocator
    that it leaves itself, and not only after another way has swept them.
    """
    best: dict[str, float] = {}
    start = time.perf_counter()
    for name, way in ways.items():
        best[name] = _seconds(way)
    for _ in range(rounds):
        if time.perf_counter() - start > budget:
            break
        for name, way in ways.items():
            best[name] = min(best[name], _seconds(way), _seconds(way))
    return best


def timed_pass(
    x: Tensor, y: Tensor, *, backward: bool
) -> Callable[[Callable[[Tensor, Tensor], Tensor]], Callable[[], object]]:
    """From a function of x and y to the work that is timed: its forward pass, or that and its gradients."""
    pull = torch.randn(len(x), len(y))

    def timed(call: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], object]:
        def forward() -> object:
            with torch.no_grad():
                return call(x, y)

        return (lambda: call(x, y).backward(pull)) if backward else forward

    return timed


def _seconds(way: Callable[[], object]) -> float:
    start = time.perf_counter()
    way()
    return time.perf_counter() - start
