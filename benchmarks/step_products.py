"""The matrix products of a training step alone: what remains of it if everything else takes no time.

They have the shapes of the step, and are timed one by one, each at its best and by the faster of torch's two
libraries.  The time of an earlier step over their sum is more than any step with the same products can gain.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import torch

from trimetric.kernels import products

Work = Callable[[], object]

FEATURES, WIDTH, OBJECTS = 16, 128, 2000
COLUMNS = 32 * 32
# What the projections of a Wide Norm read: x, or relu(x :: -x).
READ = {
    "WN 32x32 rectified": WIDTH,
    "WN 32x32 paper": 2 * WIDTH,
    "WN 32x32 symmetric": WIDTH,
    "WN 32x32, concave": WIDTH,
    "tolls, WN 32x32": WIDTH,
}
SPARE = 16  # columns behind those of the projections: without them the gradient of the weights takes a fifth longer


def product_seconds(head: str, batch: int, *, turns: int = 40) -> float | None:
    """Time the products of a step of an encoder 16-128-128-128 below a Wide Norm.

    The last layer of the encoder is applied to the differences of pairs, the others to the distinct objects.

    Args:
        head: a key of `READ`; others have no such row.
        batch: pairs per step.
        turns: of each product; the best counts.

    Returns:
        The sum of the shortest times, of the processor, on one thread.
    """
    if head not in READ:
        return None
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return sum(min(_shortest(way, turns) for way in ways) for ways in _products(batch, READ[head]))
    finally:
        torch.set_num_threads(threads)


def _products(batch: int, read: int) -> list[tuple[Work, Work]]:
    """The ways to compute each product: by MKL to memory that is there, and as the library does."""
    torch.manual_seed(0)
    rows = len(torch.randint(OBJECTS, (2 * batch,)).unique())
    return [
        *_layer(rows, FEATURES, WIDTH, on_input=False),
        *_layer(rows, WIDTH, WIDTH),
        *_layer(batch, WIDTH, WIDTH),
        *_layer(batch, read, COLUMNS),
    ]


def _layer(rows: int, inputs: int, outputs: int, *, on_input: bool = True) -> list[tuple[Work, Work]]:
    """The value of a linear layer and the gradients of its weights and, if asked for, of what it reads."""
    x, weight = torch.randn(rows, inputs), torch.randn(outputs, inputs)
    value = torch.randn(rows, outputs + (SPARE if outputs == COLUMNS else 0))[:, :outputs]
    wide, out = products.padded(x), products.padded(value.contiguous())
    found: list[tuple[Work, Work]] = [
        (partial(torch.mm, x, weight.mT, out=value), partial(products.times_transposed, wide, weight)),
        (
            partial(torch.mm, value.mT, x, out=torch.empty_like(weight)),
            partial(products.transposed_times, out, wide),
        ),
    ]
    if on_input:
        by_mkl = partial(torch.mm, value, weight, out=torch.empty_like(x))
        found.append((by_mkl, partial(products.times, out, weight)))
    return found


def _shortest(work: Work, turns: int) -> float:
    best = float("inf")
    for _ in range(turns):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best
