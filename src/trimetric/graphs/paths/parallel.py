"""Running calls in parallel: with threads of this machine, or with the joblib backend that the caller chose."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from trimetric._support import checks
from trimetric._support.optional import installed, optional

T = TypeVar("T")


def check_jobs(jobs: int | None) -> None:
    """Check a number of jobs: positive, or None for the default.

    Args:
        jobs: how many calls at a time.
    """
    if jobs is not None:
        checks.positive_int("jobs", jobs)


def in_parallel(
    function: Callable[..., T], calls: Sequence[tuple[Any, ...]], *, jobs: int | None, processes: bool = False
) -> Iterator[T]:
    """Compute `function(*call)` for each call, and yield the results in order.

    Calls run in threads by default, as compiled searches hold no lock.  Inside `joblib.parallel_config(backend="dask")`
    they go to the workers of the cluster, with "loky" to processes.

    Args:
        function: an importable function, if it is to run in other processes.
        calls: the arguments of each call.  Large arrays that are the same object in all calls are sent once.
        jobs: how many calls at a time; by default what joblib is configured for, or one per core.
        processes: whether the function holds the interpreter's lock, so that processes are the default.
    """
    check_jobs(jobs)
    if jobs is None and installed("joblib"):
        told = optional("joblib", needed_for="several jobs").effective_n_jobs(None)
        workers = None if told > 1 else os.cpu_count() or 1
    else:
        workers = jobs
    if workers == 1 or (workers is not None and len(calls) == 1):
        for call in calls:
            yield function(*call)
        return
    joblib = optional("joblib", needed_for="several jobs")
    parallel = joblib.Parallel(n_jobs=workers, prefer="processes" if processes else "threads", return_as="generator")
    yield from parallel(joblib.delayed(function)(*call) for call in calls)
