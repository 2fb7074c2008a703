"""Where cells are computed: the cores of this machine through joblib, or a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Executor(Protocol):
    """Computes `function` of each task."""

    def run(self, function: Callable[[A], B], tasks: list[A]) -> Iterator[B | BaseException]:
        """Yields each result once, in any order; an exception in the place of a result that could not be had."""
        ...


class Cores:
    """Processes of this machine, one for each core unless told otherwise; 1 computes in this process.

    Where a process is killed, the sweep ends there; the next call goes on.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or os.cpu_count() or 1

    def run(self, function: Callable[[A], B], tasks: list[A]) -> Iterator[B | BaseException]:
        import joblib
        from joblib.externals.loky.process_executor import BrokenProcessPool

        # One thread for each process: `function` tells torch, this tells the rest.
        backend = {} if self.jobs == 1 else {"backend": "loky", "inner_max_num_threads": 1}
        with joblib.parallel_config(n_jobs=self.jobs, **backend):
            parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1)  # pyright: ignore[reportArgumentType]
            results: Any = parallel(joblib.delayed(function)(task) for task in tasks)
            try:
                yield from results
            except BrokenProcessPool as error:  # a process was killed, for its memory say
                yield error


class DaskCluster:
    """The workers of a running cluster; they must be able to import this project, at the same version.

    Not through joblib's Dask backend: when a task has killed several workers it never calls back (joblib 1.6), and
    the sweep would wait for ever.  A worker that dies costs its tasks another try on the others.
    """

    def __init__(self, address: str) -> None:
        self.address = address

    def run(self, function: Callable[[A], B], tasks: list[A]) -> Iterator[B | BaseException]:
        from distributed import Client, as_completed

        try:
            client = Client(self.address, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ConnectionError(
                f"--dask: expected the address of a running Dask scheduler, got {self.address!r}: {error}"
            ) from error
        with client:
            # pure=False: a name of its own for each task, so that no result of an earlier sweep is handed out.
            futures = client.map(function, tasks, pure=False)
            for future, result in as_completed(futures, with_results=True, raise_errors=False, loop=client.loop):
                yield result if future.status == "finished" else future.exception()
