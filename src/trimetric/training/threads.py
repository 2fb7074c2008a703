"""How many threads a training step is worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from trimetric.training.run import TrainingRun

WORTH_SHARING = 1e9
"""operations of a step (some 10 ms of one core) from which threads are worth waiting for"""


@contextmanager
def step_threads(run: TrainingRun) -> Iterator[None]:
    """Take the steps of a run on one thread where they are small, on all threads of torch where they are large.

    The threads of torch wait for each other some dozens of times in a step, and while they wait, they keep their cores
    busy.  On a quiet machine that costs little, and a small step gains as little.  Beside other work, a thread that has
    lost its core holds up all others: small steps on two threads then take up to 25 times as long as on one.

    Args:
        run: what is trained.

    Examples:
        >>> import trimetric as tm
        >>> model = tm.Siamese(torch.nn.Linear(2, 8), tm.Euclidean(8))
        >>> threads = torch.get_num_threads()
        >>> pairs, targets = torch.tensor([[0, 1], [1, 2]]), torch.tensor([1.0, 2.0])
        >>> _ = tm.fit(model, pairs, targets, objects=torch.randn(3, 2), progress="silent")
        >>> torch.get_num_threads() == threads
        True
    """
    threads = torch.get_num_threads()
    if threads == 1 or _operations(run) >= WORTH_SHARING:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _operations(run: TrainingRun) -> float:
    """Roughly those of one step: each weight meets both objects of each pair, forward and twice backward."""
    weights = sum(weight.numel() for weight in run.trainee.parameters.values())
    return 6 * weights * 2 * run.config.batch_size
