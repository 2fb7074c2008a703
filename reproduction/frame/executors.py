"""Where cells run: on the cores of this machine through joblib, or on a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Executor(Protocol):
    """Calls a function for each of several tasks."""

    def run(self, function: Callable[[A], B], tasks: list[A]) -> Iterator[B | BaseException]:
        """Call `function` for each task; yields results in any order, and exceptions instead of missing ones."""
        ...


class Cores:
    """Processes on this machine.

    If a process is killed, the sweep ends; the next call resumes it.

    Args:
        jobs: number of processes, by default one per core; 1 runs in this process.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or os.cpu_count() or 1

    def run(self, function: Callable[[A], B], tasks: list[A]) -> Iterator[B | BaseException]:
        import joblib
        from joblib.externals.loky.process_executor import BrokenProcessPool

        # One thread per process: `function` sets it for torch, this for the other libraries.
        backend = {} if self.jobs == 1 else {"backend": "loky", "inner_max_num_threads": 1}
        with joblib.parallel_config(n_jobs=self.jobs, **backend):
            parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1)  # pyright: ignore[reportArgumentType]
            results: Any = parallel(joblib.delayed(function)(task) for task in tasks)
            try:
                yield from results
            except BrokenProcessPool as error:  # a process was killed, for example for using too much memory
                yield error


class DaskCluster:
    """The workers of a running cluster; they must be able to import the same version of this project.

    It does not use joblib's Dask backend, which never calls back after a task has killed several workers (joblib 1.6),
    so that the sweep would wait forever.  The tasks of a worker that dies are tried again on the others.

    Args:
        address: of the scheduler, such as `tcp://HOST:8786`.
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
            # pure=False: each task has a unique name, so that no result of an earlier sweep is returned.
            futures = client.map(function, tasks, pure=False)
            for future, result in as_completed(futures, with_results=True, raise_errors=False, loop=client.loop):
                yield result if future.status == "finished" else future.exception()
