"""Time several ways to do the same work, in turns within one run, so that noise affects all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import torch
from torch import Tensor


def best_seconds(
    ways: Mapping[str, Callable[[], object]], *, budget: float = 4.0, rounds: int = 25, processor: bool = False
) -> dict[str, float]:
    """Measure the shortest time of each way.

    In a round each way is called twice in a row, so that it is also measured with the caches and the allocator as it
    leaves them itself, and not only after another way has used them.

    Args:
        ways: functions to call, by name.
        budget: seconds for all rounds together; the first call of each way is always made.
        rounds: the most rounds.
        processor: whether to read the processor's clock, which stands still while other programs run.

    Returns:
        Seconds by name.
    """
    best: dict[str, float] = {}
    clock = time.process_time if processor else time.perf_counter
    start = time.perf_counter()
    for name, way in ways.items():
        best[name] = _seconds(way, clock)
    for _ in range(rounds):
        if time.perf_counter() - start > budget:
            break
        for name, way in ways.items():
            best[name] = min(best[name], _seconds(way, clock), _seconds(way, clock))
    return best


def timed_pass(
    x: Tensor, y: Tensor, *, backward: bool
) -> Callable[[Callable[[Tensor, Tensor], Tensor]], Callable[[], object]]:
    """Prepare passes over the same x and y for timing.

    Args:
        x: one argument of each function, (n, dim).
        y: the other, (m, dim).
        backward: whether a pass computes the gradients as well.

    Returns:
        A function that turns `call(x, y)`, which returns an (n, m) tensor, into the work to be timed.
    """
    pull = torch.randn(len(x), len(y))

    def timed(call: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], object]:
        def forward() -> object:
            with torch.no_grad():
                return call(x, y)

        return (lambda: call(x, y).backward(pull)) if backward else forward

    return timed


def _seconds(way: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    way()
    return clock() - start
