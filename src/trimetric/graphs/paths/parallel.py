"""Many calls at the same time: threads of this machine, or whatever joblib was told to use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from trimetric._support.optional import installed, optional

T = TypeVar("T")


def in_parallel(function: Callable[..., T], calls: Sequence[tuple[Any, ...]], *, jobs: int | None) -> Iterator[T]:
    """`function(*call)` for each call, in order.

    Threads by default, as compiled searches hold no lock; inside `joblib.parallel_config(backend="dask")` the calls go
    to the workers of the cluster, with "loky" to processes.

    Args:
        function: one that can be imported, where it is to run elsewhere.
        calls: its arguments.  Large arrays that are the same object in all calls travel once.
        jobs: how many at a time; by default what joblib was told, or one for each core.
    """
    if jobs is None and installed("joblib"):
        told = optional("joblib", needed_for="several jobs").effective_n_jobs(None)
        workers = None if told > 1 else os.cpu_count() or 1
    else:
        workers = jobs or 1
    if workers == 1 or (workers is not None and len(calls) == 1):
        for call in calls:
            yield function(*call)
        return
    joblib = optional("joblib", needed_for="several jobs")
    parallel = joblib.Parallel(n_jobs=workers, prefer="threads", return_as="generator")
    yield from parallel(joblib.delayed(function)(*call) for call in calls)
