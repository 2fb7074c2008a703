"""Where numba is installed loops are compiled; where it is not, the package says so once and takes the slow way."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import torch

from trimetric._support.optional import missing

try:
    import numba
except ImportError:
    numba = None

F = TypeVar("F", bound=Callable[..., Any])

HAS_NUMBA = numba is not None
_warned = False


def compiled(function: F) -> F:
    """The function in machine code, free of the interpreter's lock; itself where numba is absent."""
    if numba is None:
        return function
    try:
        return numba.njit(nogil=True, cache=True)(function)  # type: ignore[return-value]
    except RuntimeError:  # no folder to keep the machine code in
        return numba.njit(nogil=True)(function)  # type: ignore[return-value]


def warn_once_without_numba() -> None:
    global _warned
    if not HAS_NUMBA and not _warned:
        _warned = True
        warnings.warn(
            missing("nearest_metric runs on NumPy, far slower: its fast path", "numba", "solvers"),
            RuntimeWarning,
            stacklevel=3,
        )


def threads() -> int:
    """As many as torch may use (`torch.set_num_threads`), and no more than NUMBA_NUM_THREADS."""
    limit = torch.get_num_threads()
    return limit if numba is None else min(limit, numba.config.NUMBA_NUM_THREADS)  # pyright: ignore


def over_rows(work: Callable[[int, int], object], n: int, *, at_least: int = 64) -> None:
    """`work(first, last)` on blocks of the rows 0..n, at the same time.

    Threads of Python's own suffice, as compiled loops hold no lock, and they can be used from any thread and after
    a fork.  There are several blocks a thread, because rows of a triangle are not equally long.
    """
    count = min(threads(), -(-n // at_least))
    if count <= 1:
        work(0, n)
        return
    size = -(-n // (4 * count))
    size += size % 2  # kernels take two rows at a time
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work, first, min(first + size, n)) for first in range(0, n, size)]:
            done.result()
